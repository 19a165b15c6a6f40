// Types by their SQL names, and the type that two operands meet in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace pennon::expr {

/// Returns the Arrow type of the SQL type `name` (lower case, as PostgreSQL's parser spells it)
/// with its modifiers, as in decimal(8, 2) or timestamp(3). Errors: the name or a modifier is
/// unknown.
arrow::Result<std::shared_ptr<arrow::DataType>> SqlType(const std::string& name,
                                                        const std::vector<int>& modifiers);

/// Returns the type that holds every value of both for comparing, or null if they cannot be
/// compared. int64 with uint64 meet in decimal128(20, 0); integers with floats meet in the float
/// type.
std::shared_ptr<arrow::DataType> CommonType(const std::shared_ptr<arrow::DataType>& left,
                                            const std::shared_ptr<arrow::DataType>& right);

/// Whether texts of the type are UTF-8 (string, large_string, string_view).
bool IsText(const arrow::DataType& type);
/// Whether the type is a variable- or fixed-size byte string.
bool IsBytes(const arrow::DataType& type);
/// Whether the type is list, large_list or fixed_size_list.
bool IsList(const arrow::DataType& type);
/// Decimal digits that hold every value of an integer type.
int IntegerDigits(const arrow::DataType& type);

}  // namespace pennon::expr
