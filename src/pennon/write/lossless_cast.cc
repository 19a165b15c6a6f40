#include "pennon/write/lossless_cast.h"

#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/array_dict.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/compare.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/datum.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_ops.h>

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

// A column, or a field inside one, that values are for.
struct Target {
  std::string name;
  std::shared_ptr<arrow::DataType> type;
};

arrow::Status WrongType(const Target& target, const arrow::DataType& given) {
  return InvalidInput("Values have the wrong type: column ", target.name, " is ",
                      target.type->ToString(), ", given ", given.ToString());
}

arrow::Result<std::shared_ptr<arrow::Array>> CastValues(const Target& target,
                                                        std::shared_ptr<arrow::Array> values);

// Field by field, whatever their order.
arrow::Result<std::shared_ptr<arrow::Array>> CastStruct(const Target& target,
                                                        const arrow::Array& values) {
  const auto& given = static_cast<const arrow::StructArray&>(values);
  const auto& given_type = static_cast<const arrow::StructType&>(*values.type());
  if (given_type.num_fields() != target.type->num_fields()) {
    return WrongType(target, *values.type());
  }
  arrow::ArrayVector children;
  for (const auto& field : target.type->fields()) {
    const int index = given_type.GetFieldIndex(field->name());
    if (index < 0) return WrongType(target, *values.type());
    ARROW_ASSIGN_OR_RAISE(auto child, CastValues({target.name + "." + field->name(), field->type()},
                                                 given.field(index)));
    children.push_back(std::move(child));
  }
  std::shared_ptr<arrow::Buffer> validity;
  if (values.null_count() != 0) {
    ARROW_ASSIGN_OR_RAISE(validity, arrow::internal::CopyBitmap(arrow::default_memory_pool(),
                                                                values.null_bitmap_data(),
                                                                values.offset(), values.length()));
  }
  arrow::ArrayDataVector data;
  for (const auto& child : children) data.push_back(child->data());
  return arrow::MakeArray(
      arrow::ArrayData::Make(target.type, values.length(), {std::move(validity)}, std::move(data)));
}

// Values of a dictionary column, numbered anew; a value more than the indices can name is an error.
arrow::Result<std::shared_ptr<arrow::Array>> Encode(const Target& target,
                                                    const std::shared_ptr<arrow::Array>& values) {
  const auto& type = static_cast<const arrow::DictionaryType&>(*target.type);
  ARROW_ASSIGN_OR_RAISE(auto plain, CastValues({target.name, type.value_type()}, values));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum encoded, arrow::compute::DictionaryEncode(plain));
  const std::shared_ptr<arrow::Array> held = encoded.make_array();
  const auto& array = static_cast<const arrow::DictionaryArray&>(*held);
  auto indices = Cast(array.indices(), type.index_type());
  if (!indices.ok()) {
    return InvalidInput("Values are more than the column's dictionary can number: column ",
                        target.name, " is ", target.type->ToString(), ", given ",
                        array.dictionary()->length(), " different values");
  }
  return arrow::DictionaryArray::FromArrays(target.type, *indices, array.dictionary());
}

arrow::Result<std::shared_ptr<arrow::Array>> CastValues(const Target& target,
                                                        std::shared_ptr<arrow::Array> values) {
  const std::shared_ptr<arrow::DataType>& type = target.type;
  if (values->type_id() == arrow::Type::EXTENSION && type->id() != arrow::Type::EXTENSION) {
    values = static_cast<const arrow::ExtensionArray&>(*values).storage();
  }
  if (values->type()->Equals(*type)) return values;
  if (values->type_id() == arrow::Type::NA) return arrow::MakeArrayOfNull(type, values->length());
  const std::shared_ptr<arrow::DataType> given = values->type();
  if (values->type_id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryType&>(*values->type());
    ARROW_ASSIGN_OR_RAISE(values, Cast(values, dictionary.value_type()));
    if (values->type()->Equals(*type)) return values;
  }
  if (type->id() == arrow::Type::DICTIONARY) return Encode(target, values);
  if (type->id() == arrow::Type::STRUCT && values->type_id() == arrow::Type::STRUCT) {
    return CastStruct(target, *values);
  }
  if (!MayCast(*values->type(), *type)) return WrongType(target, *given);
  auto cast = Cast(values, type);
  if (!cast.ok()) {
    return InvalidInput("Values do not fit the column's type: column ", target.name, " is ",
                        type->ToString(), ", given ", given->ToString(), ": ",
                        cast.status().message());
  }
  if (MayRound(*values->type(), *type)) {
    ARROW_ASSIGN_OR_RAISE(auto back, Cast(*cast, values->type()));
    if (!back->Equals(*values, arrow::EqualOptions::Defaults().nans_equal(true))) {
      return InvalidInput("Values would be rounded, cast them first if that is meant: column ",
                          target.name, " is ", type->ToString(), ", given ", given->ToString());
    }
  }
  return *cast;
}

// A NULL in a field that is not nullable, in a struct that is not NULL itself.
arrow::Status CheckNulls(const std::string& name, const arrow::Field& field,
                         const arrow::Array& values) {
  if (!field.nullable() && values.null_count() > 0) {
    return InvalidInput("Column is not nullable, but a value is NULL: column ", name, ", ",
                        values.null_count(), " NULLs");
  }
  if (field.type()->id() != arrow::Type::STRUCT) return arrow::Status::OK();
  const auto& parent = static_cast<const arrow::StructArray&>(values);
  for (int i = 0; i < parent.num_fields(); ++i) {
    const arrow::Field& child = *field.type()->field(i);
    std::shared_ptr<arrow::Array> below = parent.field(i);
    if (values.null_count() > 0) {
      // Only where the struct is there.
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum valid, arrow::compute::IsValid(values));
      ARROW_ASSIGN_OR_RAISE(const arrow::Datum kept, arrow::compute::Filter(below, valid));
      below = kept.make_array();
    }
    ARROW_RETURN_NOT_OK(CheckNulls(name + "." + child.name(), child, *below));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Array>> CastLossless(
    const Field& field, const std::shared_ptr<arrow::Array>& values) {
  ARROW_ASSIGN_OR_RAISE(auto result, CastValues({field.name, field.type}, values));
  ARROW_RETURN_NOT_OK(
      CheckNulls(field.name, arrow::Field(field.name, field.type, field.nullable), *result));
  return result;
}

}  // namespace pennon::write
