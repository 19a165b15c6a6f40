#include "pennon/file/blob_v2_writer.h"

#include <memory>
#include <string_view>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/type.h>

#include "pennon/encoding/leaf_values.h"
#include "pennon/encoding/packed_struct/packed_struct_writer.h"
#include "pennon/error.h"
#include "pennon/schema/logical_type.h"

namespace pennon::file {
namespace {

using encoding::LeafType;
using encoding::LeafValues;

arrow::FieldVector PlaceFields() {
  return {
      arrow::field("kind", arrow::uint8(), false), arrow::field("position", arrow::uint64(), false),
      arrow::field("size", arrow::uint64(), false), arrow::field("blob_id", arrow::uint32(), false),
      arrow::field("blob_uri", arrow::utf8(), false)};
}

// The child called `name` of the structs in `rows`, or null if they have none.
std::shared_ptr<arrow::ArrayData> ChildOf(const encoding::ShreddedRows& rows, const char* name) {
  const auto& type = static_cast<const arrow::StructType&>(*rows.values->type);
  const int index = type.GetFieldIndex(name);
  if (index < 0) return nullptr;
  return rows.values->child_data[static_cast<size_t>(index)]->Slice(rows.values->offset,
                                                                    rows.values->length);
}

template <typename T>
std::shared_ptr<arrow::ArrayData> Column(const std::shared_ptr<arrow::DataType>& type,
                                         std::vector<T> values) {
  const auto length = static_cast<int64_t>(values.size());
  return arrow::ArrayData::Make(type, length,
                                {nullptr, arrow::Buffer::FromVector(std::move(values))}, 0);
}

}  // namespace

bool IsBlobV2(const Field& field) {
  const auto extension = field.metadata.find("ARROW:extension:name");
  return extension != field.metadata.end() && extension->second == "lance.blob.v2";
}

arrow::Result<std::optional<encoding::EncodedPage>> EncodeBlobV2Page(
    const encoding::ShreddedRows& rows, const PlaceBytes& place,
    const encoding::PageOptions& options, arrow::MemoryPool* pool) {
  const auto data = ChildOf(rows, "data");
  const auto uri = ChildOf(rows, "uri");
  ARROW_ASSIGN_OR_RAISE(const LeafType type, LeafType::Make(*arrow::large_binary()));
  ARROW_ASSIGN_OR_RAISE(const LeafValues values,
                        LeafValues::Make(type, *data, rows.validity, rows.null_count, pool));
  const auto length = static_cast<size_t>(data->length);
  std::vector<uint64_t> positions(length), sizes(length);
  for (size_t i = 0; i < length && !values.all_null(); ++i) {
    if (!values.is_valid(i)) continue;
    const auto slot = static_cast<int64_t>(i);
    if (data->IsNull(slot) || (uri != nullptr && uri->IsValid(slot))) {
      return Unsupported("", "pennon writes blobs that are given by their data, not by a uri, row ",
                         i);
    }
    const std::string_view value = values.value(i);
    sizes[i] = value.size();
    if (!value.empty())
      positions[i] = place({reinterpret_cast<const uint8_t*>(value.data()), value.size()});
  }
  auto uris =
      arrow::ArrayData::Make(arrow::utf8(), data->length,
                             {nullptr, arrow::Buffer::FromVector(std::vector<int32_t>(length + 1)),
                              std::make_shared<arrow::Buffer>("")},
                             0);
  encoding::ShreddedRows places = rows;
  places.values = arrow::ArrayData::Make(
      arrow::struct_(PlaceFields()), data->length, {nullptr},
      {Column(arrow::uint8(), std::vector<uint8_t>(length)),
       Column(arrow::uint64(), std::move(positions)), Column(arrow::uint64(), std::move(sizes)),
       Column(arrow::uint32(), std::vector<uint32_t>(length)), std::move(uris)},
      0);
  std::vector<LeafType> children;
  for (const auto& field : PlaceFields()) {
    ARROW_ASSIGN_OR_RAISE(children.emplace_back(), LeafType::Make(*field->type()));
  }
  return encoding::EncodePackedStructPage(places, children, options, pool);
}

std::vector<Field> DescribeBlobs(const std::vector<Field>& fields) {
  std::vector<Field> out;
  for (const Field& field : fields) {
    if (!IsBlobV2(field)) {
      out.push_back(field);
      continue;
    }
    Field& blob = out.emplace_back(field);
    blob.children.clear();
    blob.metadata = {{"lance-encoding:blob", "true"}, {"lance-encoding:packed", "true"}};
    for (const auto& place : PlaceFields()) {
      Field child;
      child.name = place->name();
      child.logical_type = schema::LogicalTypeOf(*place->type());
      child.nullable = false;
      child.type = place->type();
      out.push_back(std::move(child));  // ids of -1
    }
  }
  return out;
}

}  // namespace pennon::file
