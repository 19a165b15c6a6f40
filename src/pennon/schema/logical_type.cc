#include "pennon/schema/logical_type.h"

#include <array>
#include <charconv>
#include <utility>

#include <arrow/extension_type.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>

namespace pennon::schema {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;

constexpr int kMaxListNesting = 16;  // fixed_size_list inside fixed_size_list
constexpr std::string_view kFixedSizeList = "fixed_size_list:";

/// Logical types without parameters.
TypePtr SimpleType(std::string_view name) {
  static const std::array<std::pair<std::string_view, TypePtr>, 26> kTypes = {{
      {"null", arrow::null()},
      {"bool", arrow::boolean()},
      {"int8", arrow::int8()},
      {"int16", arrow::int16()},
      {"int32", arrow::int32()},
      {"int64", arrow::int64()},
      {"uint8", arrow::uint8()},
      {"uint16", arrow::uint16()},
      {"uint32", arrow::uint32()},
      {"uint64", arrow::uint64()},
      {"halffloat", arrow::float16()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"string", arrow::utf8()},
      {"large_string", arrow::large_utf8()},
      {"binary", arrow::binary()},
      {"large_binary", arrow::large_binary()},
      {"blob", arrow::large_binary()},
      {"json", arrow::large_binary()},
      {"lance.bfloat16", arrow::fixed_size_binary(2)},
      {"date32:day", arrow::date32()},
      {"date64:ms", arrow::date64()},
      {"time32:s", arrow::time32(arrow::TimeUnit::SECOND)},
      {"time32:ms", arrow::time32(arrow::TimeUnit::MILLI)},
      {"time64:us", arrow::time64(arrow::TimeUnit::MICRO)},
      {"time64:ns", arrow::time64(arrow::TimeUnit::NANO)},
  }};
  for (const auto& [spelling, type] : kTypes) {
    if (spelling == name) return type;
  }
  return nullptr;
}

/// Takes `prefix` off the front of `text`, if it is there.
bool Consume(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::optional<int32_t> ToInt32(std::string_view text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<arrow::TimeUnit::type> UnitOf(std::string_view text) {
  if (text == "s") return arrow::TimeUnit::SECOND;
  if (text == "ms") return arrow::TimeUnit::MILLI;
  if (text == "us") return arrow::TimeUnit::MICRO;
  if (text == "ns") return arrow::TimeUnit::NANO;
  return std::nullopt;
}

const char* UnitText(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return "s";
    case arrow::TimeUnit::MILLI:
      return "ms";
    case arrow::TimeUnit::MICRO:
      return "us";
    case arrow::TimeUnit::NANO:
      return "ns";
  }
  return "";
}

TypePtr ValueOr(arrow::Result<TypePtr> type) { return type.ok() ? *std::move(type) : nullptr; }

/// `U:ZONE`.
TypePtr TimestampType(std::string_view rest) {
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return nullptr;
  const auto unit = UnitOf(rest.substr(0, colon));
  const std::string_view zone = rest.substr(colon + 1);
  if (!unit || zone.empty()) return nullptr;
  return zone == "-" ? arrow::timestamp(*unit) : arrow::timestamp(*unit, std::string(zone));
}

/// `BITS:P:S`.
TypePtr DecimalType(std::string_view rest) {
  const bool wide = rest.starts_with("256:");
  if (!wide && !rest.starts_with("128:")) return nullptr;
  rest.remove_prefix(4);
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return nullptr;
  const auto precision = ToInt32(rest.substr(0, colon));
  const auto scale = ToInt32(rest.substr(colon + 1));
  if (!precision || !scale || *scale > *precision || *scale < -*precision) return nullptr;
  return wide ? ValueOr(arrow::Decimal256Type::Make(*precision, *scale))
              : ValueOr(arrow::Decimal128Type::Make(*precision, *scale));
}

/// `VALUE:INDEX:ORDERED`.
TypePtr DictionaryType(std::string_view rest) {
  const size_t first = rest.find(':');
  const size_t second = first == std::string_view::npos ? first : rest.find(':', first + 1);
  if (second == std::string_view::npos) return nullptr;
  const TypePtr value = SimpleType(rest.substr(0, first));
  const TypePtr index = SimpleType(rest.substr(first + 1, second - first - 1));
  if (value == nullptr || index == nullptr || !arrow::is_integer(index->id())) return nullptr;
  return ValueOr(arrow::DictionaryType::Make(index, value, rest.substr(second + 1) == "true"));
}

TypePtr LeafTypeAt(std::string_view logical_type, int depth);

/// `ITEM:N`: the size is the last part, the item type all before it.
TypePtr FixedSizeListType(std::string_view rest, int depth) {
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || depth >= kMaxListNesting) return nullptr;
  const auto size = ToInt32(rest.substr(colon + 1));
  if (!size || *size <= 0) return nullptr;
  const std::string_view item_type = rest.substr(0, colon);
  const TypePtr item = LeafTypeAt(item_type, depth + 1);
  if (item == nullptr) return nullptr;
  // The items of one value must be countable in 32 bits, also through nested lists.
  int64_t items = *size;
  for (const arrow::DataType* at = item.get(); at->id() == arrow::Type::FIXED_SIZE_LIST;) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*at);
    items *= list.list_size();
    if (items > INT32_MAX) return nullptr;
    at = list.value_type().get();
  }
  std::shared_ptr<const arrow::KeyValueMetadata> metadata;
  if (item_type == "lance.bfloat16") {
    metadata = arrow::key_value_metadata({"ARROW:extension:name"}, {"lance.bfloat16"});
  }
  return arrow::fixed_size_list(arrow::field("item", item, /*nullable=*/true, metadata), *size);
}

TypePtr LeafTypeAt(std::string_view logical_type, int depth) {
  if (TypePtr simple = SimpleType(logical_type)) return simple;
  std::string_view rest = logical_type;
  if (Consume("fixed_size_binary:", &rest)) {
    const auto width = ToInt32(rest);
    return width && *width >= 0 ? arrow::fixed_size_binary(*width) : nullptr;
  }
  if (Consume("timestamp:", &rest)) return TimestampType(rest);
  if (Consume("duration:", &rest)) {
    const auto unit = UnitOf(rest);
    return unit ? arrow::duration(*unit) : nullptr;
  }
  if (Consume("decimal:", &rest)) return DecimalType(rest);
  if (Consume("dict:", &rest)) return DictionaryType(rest);
  if (Consume(kFixedSizeList, &rest)) return FixedSizeListType(rest, depth);
  return nullptr;
}

std::string ListTypeOf(const char* name, const arrow::DataType& item) {
  return std::string(name) + (item.id() == arrow::Type::STRUCT ? ".struct" : "");
}

std::string DecimalTypeOf(const char* bits, const arrow::DecimalType& type) {
  return std::string("decimal:") + bits + ":" + std::to_string(type.precision()) + ":" +
         std::to_string(type.scale());
}

std::string FixedSizeListTypeOf(const arrow::FixedSizeListType& type) {
  const auto& item = *type.value_field();
  std::string name =
      item.type()->id() == arrow::Type::STRUCT ? "struct" : LogicalTypeOf(*item.type());
  if (item.metadata() != nullptr && item.metadata()->Contains("ARROW:extension:name") &&
      *item.metadata()->Get("ARROW:extension:name") == "lance.bfloat16") {
    name = "lance.bfloat16";
  }
  // Lists and maps have no spelling inside a fixed_size_list.
  if (name.empty() || type.list_size() <= 0 || name == "map" || name.starts_with("list") ||
      name.starts_with("large_list")) {
    return "";
  }
  return std::string(kFixedSizeList) + name + ":" + std::to_string(type.list_size());
}

std::string DictionaryTypeOf(const arrow::DictionaryType& type) {
  const std::string value = LogicalTypeOf(*type.value_type());
  const std::string index = LogicalTypeOf(*type.index_type());
  if (SimpleType(value) == nullptr || value.find(':') != std::string::npos) return "";
  return "dict:" + value + ":" + index + ":false";
}

}  // namespace

std::optional<Nesting> NestingOf(std::string_view logical_type) {
  if (logical_type == "struct") return Nesting::kStruct;
  if (logical_type == "list" || logical_type == "list.struct") return Nesting::kList;
  if (logical_type == "large_list" || logical_type == "large_list.struct")
    return Nesting::kLargeList;
  if (logical_type == "map") return Nesting::kMap;
  if (logical_type.starts_with("fixed_size_list:struct:")) return Nesting::kFixedSizeList;
  return std::nullopt;
}

std::optional<int32_t> StructListSize(std::string_view logical_type) {
  if (!Consume("fixed_size_list:struct:", &logical_type)) return std::nullopt;
  const auto size = ToInt32(logical_type);
  return size && *size > 0 ? size : std::nullopt;
}

std::shared_ptr<arrow::DataType> LeafType(std::string_view logical_type) {
  return LeafTypeAt(logical_type, 0);
}

std::string LogicalTypeOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::STRUCT:
      return "struct";
    case arrow::Type::LIST:
      return ListTypeOf("list", *static_cast<const arrow::ListType&>(type).value_type());
    case arrow::Type::LARGE_LIST:
      return ListTypeOf("large_list", *static_cast<const arrow::LargeListType&>(type).value_type());
    case arrow::Type::MAP:
      return static_cast<const arrow::MapType&>(type).keys_sorted() ? "" : "map";
    case arrow::Type::FIXED_SIZE_LIST:
      return FixedSizeListTypeOf(static_cast<const arrow::FixedSizeListType&>(type));
    case arrow::Type::DICTIONARY:
      return DictionaryTypeOf(static_cast<const arrow::DictionaryType&>(type));
    case arrow::Type::FIXED_SIZE_BINARY:
      return "fixed_size_binary:" +
             std::to_string(static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
    case arrow::Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
      return std::string("timestamp:") + UnitText(timestamp.unit()) + ":" +
             (timestamp.timezone().empty() ? "-" : timestamp.timezone());
    }
    case arrow::Type::TIME32:
      return std::string("time32:") + UnitText(static_cast<const arrow::Time32Type&>(type).unit());
    case arrow::Type::TIME64:
      return std::string("time64:") + UnitText(static_cast<const arrow::Time64Type&>(type).unit());
    case arrow::Type::DURATION:
      return std::string("duration:") +
             UnitText(static_cast<const arrow::DurationType&>(type).unit());
    case arrow::Type::DATE32:
      return "date32:day";
    case arrow::Type::DATE64:
      return "date64:ms";
    case arrow::Type::DECIMAL128:
      return DecimalTypeOf("128", static_cast<const arrow::DecimalType&>(type));
    case arrow::Type::DECIMAL256:
      return DecimalTypeOf("256", static_cast<const arrow::DecimalType&>(type));
    case arrow::Type::STRING_VIEW:
      return "string";
    case arrow::Type::BINARY_VIEW:
      return "binary";
    case arrow::Type::EXTENSION:
      return LogicalTypeOf(*static_cast<const arrow::ExtensionType&>(type).storage_type());
    case arrow::Type::STRING:
      return "string";
    case arrow::Type::LARGE_STRING:
      return "large_string";
    default:
      // The rest are the ones whose spelling is Arrow's own name.
      return SimpleType(type.name()) != nullptr ? type.name() : "";
  }
}

}  // namespace pennon::schema
