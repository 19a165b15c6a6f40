#include "pennon/write/lossless_cast.h"

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/compare.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "pennon/error.h"

namespace pennon::write {
namespace {

// Types between which a cast keeps the meaning; whether it keeps the values is checked on the
// values.
enum class Family {
  kNumber,
  kDecimal,
  kText,
  kBinary,
  kDate,
  kTime,
  kTimestamp,
  kZonedTimestamp,
  kDuration,
  kList,
  kAlone
};

Family FamilyOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return Family::kText;
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return Family::kBinary;
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
      return Family::kDate;
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return Family::kTime;
    case arrow::Type::TIMESTAMP:
      return static_cast<const arrow::TimestampType&>(type).timezone().empty()
                 ? Family::kTimestamp
                 : Family::kZonedTimestamp;
    case arrow::Type::DURATION:
      return Family::kDuration;
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return Family::kDecimal;
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return Family::kList;
    default:
      return arrow::is_integer(type.id()) || arrow::is_floating(type.id()) ? Family::kNumber
                                                                           : Family::kAlone;
  }
}

const arrow::DataType& ItemOf(const arrow::DataType& list) { return *list.field(0)->type(); }

bool MayCast(const arrow::DataType& from, const arrow::DataType& to) {
  const Family family = FamilyOf(from);
  if (arrow::is_integer(from.id()) && FamilyOf(to) == Family::kDecimal) return true;
  if (family == Family::kAlone || family != FamilyOf(to)) return false;
  return family != Family::kList || ItemOf(from).Equals(ItemOf(to)) ||
         MayCast(ItemOf(from), ItemOf(to));
}

// Whether Arrow's safe cast may still round: it checks integers and times, not floats.
bool MayRound(const arrow::DataType& from, const arrow::DataType& to) {
  if (FamilyOf(from) == Family::kList) return MayRound(ItemOf(from), ItemOf(to));
  return FamilyOf(from) == Family::kNumber && arrow::is_floating(to.id()) && !from.Equals(to);
}

arrow::Result<std::shared_ptr<arrow::Array>> Cast(const std::shared_ptr<arrow::Array>& values,
                                                  const std::shared_ptr<arrow::DataType>& type) {
  return arrow::compute::Cast(*values, type, arrow::compute::CastOptions::Safe());
}

arrow::Result<std::shared_ptr<arrow::Array>> CastValues(const Field& field,
                                                        std::shared_ptr<arrow::Array> values) {
  if (values->type_id() == arrow::Type::EXTENSION && field.type->id() != arrow::Type::EXTENSION) {
    values = static_cast<const arrow::ExtensionArray&>(*values).storage();
  }
  if (values->type()->Equals(*field.type)) return values;
  if (values->type_id() == arrow::Type::NA)
    return arrow::MakeArrayOfNull(field.type, values->length());
  const std::shared_ptr<arrow::DataType> given = values->type();
  if (values->type_id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryType&>(*values->type());
    ARROW_ASSIGN_OR_RAISE(values, Cast(values, dictionary.value_type()));
    if (values->type()->Equals(*field.type)) return values;
  }
  if (!MayCast(*values->type(), *field.type)) {
    return InvalidInput("Values have the wrong type: column ", field.name, " is ",
                        field.type->ToString(), ", given ", given->ToString());
  }
  auto cast = Cast(values, field.type);
  if (!cast.ok()) {
    return InvalidInput("Values do not fit the column's type: column ", field.name, " is ",
                        field.type->ToString(), ", given ", given->ToString(), ": ",
                        cast.status().message());
  }
  if (MayRound(*values->type(), *field.type)) {
    ARROW_ASSIGN_OR_RAISE(auto back, Cast(*cast, values->type()));
    if (!back->Equals(*values, arrow::EqualOptions::Defaults().nans_equal(true))) {
      return InvalidInput("Values would be rounded, cast them first if that is meant: column ",
                          field.name, " is ", field.type->ToString(), ", given ",
                          given->ToString());
    }
  }
  return *cast;
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> CastLossless(
    const Field& field, const std::shared_ptr<arrow::Array>& values) {
  ARROW_ASSIGN_OR_RAISE(auto result, CastValues(field, values));
  if (!field.nullable && result->null_count() > 0) {
    return InvalidInput("Column is not nullable, but a value is NULL: column ", field.name, ", ",
                        result->null_count(), " NULLs");
  }
  return result;
}

}  // namespace pennon::write
