// The spelling of types in stored schemas and the Arrow types they stand for.
//
//   null bool int8..uint64 halffloat float double string large_string binary large_binary json
//   fixed_size_binary:N  date32:day date64:ms  time32:U time64:U  timestamp:U:ZONE (ZONE "-" =
//   none)  duration:U decimal:128:P:S decimal:256:P:S  dict:VALUE:INDEX:ORDERED
//   fixed_size_list:ITEM:N with children: struct  list list.struct large_list large_list.struct map
//   fixed_size_list:struct:N
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/type_fwd.h>

namespace pennon::schema {

/// The shape of a type that has child fields.
enum class Nesting { kStruct, kList, kLargeList, kMap, kFixedSizeList };

/// What `logical_type` says of its children; nullopt for a type that has none.
std::optional<Nesting> NestingOf(std::string_view logical_type);

/// The number of items of a `fixed_size_list:struct:N`; nullopt for anything else.
std::optional<int32_t> StructListSize(std::string_view logical_type);

/// The Arrow type of a logical type without children; null if it is unknown or its parameters make
/// no sense. Extension types give their storage: `json` is large_binary, `lance.bfloat16`
/// fixed_size_binary(2).
std::shared_ptr<arrow::DataType> LeafType(std::string_view logical_type);

/// The spelling of `type`; empty for a type the format cannot hold. View types lose their view.
std::string LogicalTypeOf(const arrow::DataType& type);

}  // namespace pennon::schema
