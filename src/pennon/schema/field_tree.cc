#include "pennon/schema/field_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <set>
#include <unordered_map>

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "pennon/error.h"
#include "pennon/schema/field_marks.h"
#include "pennon/schema/logical_type.h"

namespace pennon::schema {
namespace {

constexpr int kMaxDepth = 64;
constexpr char kExtensionName[] = "ARROW:extension:name";
constexpr char kExtensionMetadata[] = "ARROW:extension:metadata";
constexpr char kPrimaryKey[] = "lance-schema:unenforced-primary-key";
constexpr char kPrimaryKeyPosition[] = "lance-schema:unenforced-primary-key:position";
constexpr char kClusteringKeyPosition[] = "lance-schema:unenforced-clustering-key:position";
constexpr std::array<std::string_view, 5> kReservedNames = {
    "_rowid", "_rowaddr", "_rowoffset", "_row_created_at_version", "_row_last_updated_at_version"};

/// Whether `node` is a blob column whose values the format describes by a struct.
bool IsDescribedBlob(const wire::FieldMessage& node) {
  return node.logical_type == "struct" &&
         (node.extension_name == "lance.blob.v2" || node.metadata.contains("lance-encoding:blob"));
}

/// Builds the tree from `nodes`, whose children are listed in `children_of` by position.
class TreeBuilder {
 public:
  TreeBuilder(std::vector<wire::FieldMessage> nodes, std::string_view path)
      : nodes_(std::move(nodes)), path_(path), children_of_(nodes_.size()) {}

  arrow::Result<std::vector<Field>> Build() {
    ARROW_RETURN_NOT_OK(LinkParents());
    std::vector<Field> fields;
    std::set<std::string> names;
    for (const size_t node : roots_) {
      if (!names.insert(nodes_[node].name).second) {
        return Corrupt(path_, "Two columns have the same name: ", nodes_[node].name, ": ", path_);
      }
      ARROW_ASSIGN_OR_RAISE(Field field, BuildField(node, 0));
      fields.push_back(std::move(field));
    }
    return fields;
  }

 private:
  arrow::Status LinkParents() {
    std::unordered_map<int32_t, size_t> position_of;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const wire::FieldMessage& node = nodes_[i];
      // In a data file the parts of a blob column's descriptor follow it without ids.
      if (node.id < 0 && node.parent_id < 0 && !roots_.empty() &&
          IsDescribedBlob(nodes_[roots_.back()]))
        continue;
      if (node.id < 0) {
        return Corrupt(path_, "A schema field has a negative id: ", node.name, ", id ", node.id,
                       ": ", path_);
      }
      if (node.parent_id < 0) {
        roots_.push_back(i);
      } else {
        const auto parent = position_of.find(node.parent_id);
        if (parent == position_of.end()) {
          return Corrupt(path_,
                         "The parent of a schema field does not stand before it: ", node.name,
                         ", id ", node.id, ", parent ", node.parent_id, ": ", path_);
        }
        children_of_[parent->second].push_back(i);
      }
      if (!position_of.emplace(node.id, i).second) {
        return Corrupt(path_, "Two schema fields have the same id: ", node.id, ", the second is ",
                       node.name, ": ", path_);
      }
    }
    return arrow::Status::OK();
  }

  arrow::Result<Field> BuildField(size_t node, int depth) {
    wire::FieldMessage& message = nodes_[node];
    if (depth >= kMaxDepth) {
      return Corrupt(path_, "The schema is nested too deeply: more than ", kMaxDepth,
                     " levels: ", path_);
    }
    Field field;
    field.name = std::move(message.name);
    field.id = message.id;
    field.parent_id = message.parent_id < 0 ? -1 : message.parent_id;
    field.logical_type = std::move(message.logical_type);
    field.nullable = message.nullable;
    field.metadata = std::move(message.metadata);
    if (!message.extension_name.empty()) field.metadata[kExtensionName] = message.extension_name;
    for (const size_t child : children_of_[node]) {
      ARROW_ASSIGN_OR_RAISE(Field built, BuildField(child, depth + 1));
      field.children.push_back(std::move(built));
    }
    // What stands below a blob column is how values are given and described, not what they are.
    if (IsBlob(field) && field.logical_type == "struct") {
      field.type = arrow::large_binary();
      return field;
    }
    ARROW_ASSIGN_OR_RAISE(field.type, TypeOf(field));
    return field;
  }

  arrow::Result<std::shared_ptr<arrow::DataType>> TypeOf(const Field& field) {
    const auto nesting = NestingOf(field.logical_type);
    if (!nesting) {
      auto type = LeafType(field.logical_type);
      if (type == nullptr) {
        return Unsupported(path_, "Column ", field.name,
                           " has a logical type that is not known: ", field.logical_type, ": ",
                           path_);
      }
      if (!field.children.empty()) return WrongChildren(field, "none");
      return type;
    }
    arrow::FieldVector children;
    for (const Field& child : field.children) children.push_back(ToArrowField(child));
    if (*nesting == Nesting::kStruct) return arrow::struct_(std::move(children));
    if (children.size() != 1) return WrongChildren(field, "one");
    switch (*nesting) {
      case Nesting::kList:
        return arrow::list(children[0]);
      case Nesting::kLargeList:
        return arrow::large_list(children[0]);
      case Nesting::kMap: {
        auto type = arrow::MapType::Make(children[0]);
        if (!type.ok() || children[0]->type()->num_fields() != 2)
          return WrongChildren(field, "entries {key, value}");
        return type;
      }
      default: {
        const auto size = StructListSize(field.logical_type);
        if (!size) {
          return Unsupported(path_, "Column ", field.name,
                             " has a logical type that is not known: ", field.logical_type, ": ",
                             path_);
        }
        return arrow::fixed_size_list(children[0], *size);
      }
    }
  }

  arrow::Status WrongChildren(const Field& field, const char* expected) {
    return Corrupt(path_, "The children of a schema field do not fit its type: field ", field.name,
                   ", type ", field.logical_type, ", expected ", expected, ", found ",
                   field.children.size(), ": ", path_);
  }

  std::vector<wire::FieldMessage> nodes_;
  std::string_view path_;
  std::vector<std::vector<size_t>> children_of_;
  std::vector<size_t> roots_;
};

std::string MetadataValue(const Field& field, const char* key) {
  const auto found = field.metadata.find(key);
  return found == field.metadata.end() ? "" : found->second;
}

bool IsTrue(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text == "1" || text == "true" || text == "on" || text == "yes" || text == "y";
}

uint32_t PositionOf(const std::string& text) {
  uint32_t position = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
  return error == std::errc() && end == text.data() + text.size() ? position : 0;
}

wire::FieldEncoding EncodingOf(std::string_view logical_type) {
  if (logical_type == "null" || logical_type == "struct") return wire::FieldEncoding::kNone;
  if (logical_type.starts_with("dict:")) return wire::FieldEncoding::kDictionary;
  for (const char* name : {"string", "large_string", "binary", "large_binary", "json"}) {
    if (logical_type == name) return wire::FieldEncoding::kVarBinary;
  }
  return wire::FieldEncoding::kPlain;
}

void Flatten(const Field& field, int32_t parent_id, std::vector<wire::FieldMessage>* out) {
  wire::FieldMessage message;
  message.name = field.name;
  message.id = field.id;
  message.parent_id = parent_id;
  message.logical_type = field.logical_type;
  message.nullable = field.nullable;
  message.encoding = EncodingOf(field.logical_type);
  message.extension_name = MetadataValue(field, kExtensionName);
  message.metadata = field.metadata;
  message.primary_key_position = PositionOf(MetadataValue(field, kPrimaryKeyPosition));
  message.primary_key =
      IsTrue(MetadataValue(field, kPrimaryKey)) || message.primary_key_position != 0;
  message.clustering_key_position = PositionOf(MetadataValue(field, kClusteringKeyPosition));
  out->push_back(std::move(message));
  for (const Field& child : field.children) Flatten(child, field.id, out);
}

/// Numbers Arrow fields in pre-order.
class ArrowNumbering {
 public:
  explicit ArrowNumbering(int32_t first_id) : next_id_(first_id) {}

  arrow::Result<Field> Convert(const arrow::Field& from, int32_t parent_id, int depth) {
    Field field;
    field.name = from.name();
    field.id = next_id_++;
    field.parent_id = parent_id;
    field.nullable = from.nullable();
    if (from.metadata() != nullptr) {
      for (int64_t i = 0; i < from.metadata()->size(); ++i) {
        field.metadata[from.metadata()->key(i)] = from.metadata()->value(i);
      }
    }
    field.metadata.erase("lance:field_id");
    std::shared_ptr<arrow::DataType> type = from.type();
    if (type->id() == arrow::Type::EXTENSION) {
      const auto& extension = static_cast<const arrow::ExtensionType&>(*type);
      field.metadata[kExtensionName] = extension.extension_name();
      if (std::string text = extension.Serialize(); !text.empty())
        field.metadata[kExtensionMetadata] = text;
      type = extension.storage_type();
    }
    ARROW_RETURN_NOT_OK(SetType(type, depth, &field));
    return field;
  }

 private:
  arrow::Status SetType(const std::shared_ptr<arrow::DataType>& type, int depth, Field* field) {
    const std::string extension = MetadataValue(*field, kExtensionName);
    field->logical_type = LogicalTypeOf(*type);
    if (extension == "lance.json" && type->id() == arrow::Type::LARGE_BINARY)
      field->logical_type = "json";
    if (field->logical_type.empty() || depth >= kMaxDepth || extension == "arrow.json") {
      return Unsupported("", "Column ", field->name, " has a type that a table cannot hold: ",
                         extension.empty() ? type->ToString() : extension);
    }
    const auto nesting = NestingOf(field->logical_type);
    if (!nesting) {
      field->type = LeafType(field->logical_type);
      return arrow::Status::OK();
    }
    for (const auto& child : type->fields()) {
      ARROW_ASSIGN_OR_RAISE(Field converted, Convert(*child, field->id, depth + 1));
      field->children.push_back(std::move(converted));
    }
    arrow::FieldVector children;
    for (const Field& child : field->children) children.push_back(ToArrowField(child));
    switch (*nesting) {
      case Nesting::kStruct:
        field->type = arrow::struct_(std::move(children));
        break;
      case Nesting::kList:
        field->type = arrow::list(children[0]);
        break;
      case Nesting::kLargeList:
        field->type = arrow::large_list(children[0]);
        break;
      case Nesting::kMap: {
        ARROW_ASSIGN_OR_RAISE(field->type, arrow::MapType::Make(children[0]));
        break;
      }
      case Nesting::kFixedSizeList:
        field->type = arrow::fixed_size_list(
            children[0], static_cast<const arrow::FixedSizeListType&>(*type).list_size());
        break;
    }
    return arrow::Status::OK();
  }

  int32_t next_id_;
};

}  // namespace

arrow::Result<Schema> BuildSchema(std::vector<wire::FieldMessage> nodes,
                                  std::map<std::string, std::string> metadata,
                                  std::string_view path) {
  Schema schema;
  ARROW_ASSIGN_OR_RAISE(schema.fields, TreeBuilder(std::move(nodes), path).Build());
  schema.metadata = std::move(metadata);
  return schema;
}

std::vector<wire::FieldMessage> FlattenFields(std::span<const Field> fields) {
  std::vector<wire::FieldMessage> nodes;
  for (const Field& field : fields) Flatten(field, -1, &nodes);
  return nodes;
}

arrow::Result<Schema> FromArrow(const arrow::Schema& schema, int32_t first_id) {
  Schema out;
  ArrowNumbering numbering(first_id);
  std::set<std::string> names;
  for (const auto& field : schema.fields()) {
    if (!names.insert(field->name()).second) {
      return InvalidInput("Two columns have the same name: ", field->name());
    }
    if (field->name().empty() || field->name().find('.') != std::string::npos ||
        std::find(kReservedNames.begin(), kReservedNames.end(), field->name()) !=
            kReservedNames.end()) {
      return InvalidInput("A column cannot have this name (empty, with a dot, or reserved): ",
                          field->name());
    }
    ARROW_ASSIGN_OR_RAISE(Field converted, numbering.Convert(*field, -1, 0));
    out.fields.push_back(std::move(converted));
  }
  if (schema.metadata() != nullptr) {
    for (int64_t i = 0; i < schema.metadata()->size(); ++i) {
      out.metadata[schema.metadata()->key(i)] = schema.metadata()->value(i);
    }
  }
  return out;
}

}  // namespace pennon::schema
