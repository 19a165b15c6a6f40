// DescribeDataFile of include/pennon/data_file.h.
#include "pennon/data_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "pennon/encoding/encoding_text.h"
#include "pennon/error.h"
#include "pennon/file/column_owners.h"
#include "pennon/file/container.h"
#include "pennon/io/table_uri.h"
#include "pennon/schema/field_tree.h"
#include "pennon/wire/column_metadata.h"
#include "pennon/wire/file_descriptor.h"

namespace pennon {
namespace {

struct FieldName {
  std::string path;
  std::string type;
};

void CollectNames(const Field& field, const std::string& above,
                  std::map<int32_t, FieldName>* names) {
  const std::string path = above.empty() ? field.name : above + "." + field.name;
  (*names)[field.id] = {path, field.logical_type};
  for (const Field& child : field.children) CollectNames(child, path, names);
}

// The fields of the columns, in column order; empty if the descriptor makes no schema (the parts of
// a 2.2 blob have no ids there).
std::vector<FieldName> ColumnNames(const wire::FileDescriptor& descriptor,
                                   const file::Container& container) {
  auto built = schema::BuildSchema(descriptor.fields, {}, container.path());
  if (!built.ok()) return {};
  std::vector<FieldName> columns;
  for (const Field& field : built->fields) {
    std::map<int32_t, FieldName> names;
    CollectNames(field, "", &names);
    for (int32_t id : file::ColumnOwners(field, {2, container.footer().minor}))
      columns.push_back(names[id]);
  }
  return columns;
}

arrow::Result<ColumnInfo> DescribeColumn(const file::Container& container, uint32_t number) {
  const uint16_t minor = container.footer().minor;
  ColumnInfo out;
  out.number = static_cast<int>(number);
  ARROW_ASSIGN_OR_RAISE(const std::string bytes, container.ReadColumnMetadata(number));
  ARROW_ASSIGN_OR_RAISE(
      const wire::ColumnMetadata metadata,
      wire::ParseColumnMetadata(
          bytes, minor == 0 ? "lance.encodings.ArrayEncoding" : "lance.encodings21.PageLayout",
          container.file_size(), /*aligned=*/minor != 0, container.path()));
  for (const wire::PageMetadata& page : metadata.pages) {
    PageInfo info;
    info.values = page.length;
    for (const wire::BufferLocation& buffer : page.buffers) {
      info.buffers.push_back(buffer.size);
      info.bytes += buffer.size;
    }
    // A page without values may have an empty description.
    if (page.length > 0 || !page.encoding.empty()) {
      ARROW_ASSIGN_OR_RAISE(
          encoding::PageText text,
          encoding::DescribePage(page.encoding, page.buffers.size(), minor, container.path()));
      info.layout = std::move(text.layout);
      info.encoding = std::move(text.encoding);
      info.levels = std::move(text.levels);
      info.dictionary = std::move(text.dictionary);
    }
    out.values += info.values;
    out.bytes += info.bytes;
    if (info.values > 0) {
      const double each = static_cast<double>(info.bytes) / static_cast<double>(info.values);
      const bool first = out.values == info.values;
      out.min_bytes_per_value = first ? each : std::min(out.min_bytes_per_value, each);
    }
    out.pages.push_back(std::move(info));
  }
  if (out.values > 0)
    out.bytes_per_value = static_cast<double>(out.bytes) / static_cast<double>(out.values);
  return out;
}

}  // namespace

arrow::Result<DataFileInfo> DescribeDataFile(const std::string& path, const Context& context) {
  std::string place = path;
  std::shared_ptr<ObjectStore> store = context.store;
  if (store == nullptr) {
    store = MakeLocalStore();
    ARROW_ASSIGN_OR_RAISE(place, io::ResolveTableUri(path));
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<ReadableFile> opened, store->Open(place));
  ARROW_ASSIGN_OR_RAISE(const file::Container container,
                        file::Container::Open(std::move(opened), context.pool));
  ARROW_ASSIGN_OR_RAISE(const std::string bytes, container.ReadGlobalBuffer(0));
  ARROW_ASSIGN_OR_RAISE(const wire::FileDescriptor descriptor,
                        wire::ParseFileDescriptor(bytes, container.path()));
  DataFileInfo out;
  out.path = container.path();
  out.version = "2." + std::to_string(container.footer().minor);
  out.size_bytes = container.file_size();
  out.rows = descriptor.length;
  out.global_buffers = container.footer().num_global_buffers;
  const std::vector<FieldName> names = ColumnNames(descriptor, container);
  for (uint32_t i = 0; i < container.footer().num_columns; ++i) {
    ARROW_ASSIGN_OR_RAISE(ColumnInfo column, DescribeColumn(container, i));
    if (i < names.size()) {
      column.name = names[i].path;
      column.type = names[i].type;
    }
    out.page_bytes += column.bytes;
    out.columns.push_back(std::move(column));
  }
  return out;
}

}  // namespace pennon
