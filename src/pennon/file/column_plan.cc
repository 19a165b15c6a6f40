#include "pennon/file/column_plan.h"

#include <utility>

#include <arrow/extension_type.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/file/blob_v2_writer.h"
#include "pennon/schema/field_marks.h"

namespace pennon::file {
namespace {

using encoding::LeafType;
using encoding::NestingKind;
using encoding::NestingLayer;

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  return type.id() == arrow::Type::EXTENSION
             ? *static_cast<const arrow::ExtensionType&>(type).storage_type()
             : type;
}

arrow::Status Refuse(const NestingLayer& layer, const arrow::DataType& type, std::string_view why) {
  return Unsupported("", why, ", column: ", layer.column, ", type: ", type.ToString());
}

// Walks the fields in the order of the columns.
class Planner {
 public:
  Planner(const std::vector<Field>& fields, FileVersion version)
      : fields_(fields), version_(version) {}

  arrow::Result<std::vector<ColumnPlan>> Plan() {
    for (top_ = 0; top_ < fields_.size(); ++top_) {
      ARROW_RETURN_NOT_OK(Visit(fields_[top_], "", {}));
    }
    return std::move(plans_);
  }

 private:
  bool is_v20() const { return version_.minor == 0; }

  // `above` are the layers of the fields around `field`.
  arrow::Status Visit(const Field& field, const std::string& prefix, encoding::Nesting above) {
    if (field.type == nullptr) {
      return InvalidInput("A field to write has no Arrow type, field: ", prefix, field.name);
    }
    const arrow::DataType& type = StorageOf(*field.type);
    NestingLayer layer{.nullable = field.nullable, .column = prefix + field.name};
    above.push_back(layer);
    if (schema::IsBlob(field)) return PlanBlob(field, type, std::move(above));
    if (schema::IsPackedStruct(field)) return PlanPacked(field, type, std::move(above));
    switch (type.id()) {
      case arrow::Type::STRUCT:
        return VisitStruct(field, type, std::move(above));
      case arrow::Type::MAP:
        if (version_.minor < 2) {
          return Refuse(layer, type, "Maps need storage version 2.2");
        }
        return VisitList(field, type, std::move(above));
      case arrow::Type::LIST:
      case arrow::Type::LARGE_LIST:
        return VisitList(field, type, std::move(above));
      case arrow::Type::FIXED_SIZE_LIST:
        if (StorageOf(*type.field(0)->type()).id() == arrow::Type::STRUCT)
          return VisitStructList(field, type, std::move(above));
        return PlanLeaf(field, type, std::move(above));
      case arrow::Type::DICTIONARY:
        return PlanDictionary(field, type, std::move(above));
      default:
        return PlanLeaf(field, type, std::move(above));
    }
  }

  arrow::Status VisitChildren(const Field& field, const arrow::DataType& type,
                              encoding::Nesting layers) {
    if (static_cast<int>(field.children.size()) != type.num_fields()) {
      return InvalidInput(
          "A field to write has not the children of its type, column: ", layers.back().column,
          ", type: ", type.ToString(), ", children: ", field.children.size());
    }
    for (size_t i = 0; i < field.children.size(); ++i) {
      layers.back().child = static_cast<int>(i);
      ARROW_RETURN_NOT_OK(Visit(field.children[i], layers.back().column + ".", layers));
    }
    return arrow::Status::OK();
  }

  arrow::Status VisitStruct(const Field& field, const arrow::DataType& type,
                            encoding::Nesting layers) {
    if (type.num_fields() == 0) return PlanEmptyStruct(field, type, std::move(layers));
    if (is_v20()) AddPlan(ColumnForm::kStructHeader, field, layers);
    return VisitChildren(field, type, std::move(layers));
  }

  arrow::Status VisitList(const Field& field, const arrow::DataType& type,
                          encoding::Nesting layers) {
    layers.back().kind = NestingKind::kList;
    for (const NestingLayer& layer : layers) {
      if (layer.kind == NestingKind::kFixedSizeList)
        return Refuse(layers.back(), type, "Lists inside a fixed_size_list cannot be read back");
    }
    if (is_v20()) AddPlan(ColumnForm::kListOffsets, field, layers);
    return VisitChildren(field, type, std::move(layers));
  }

  arrow::Status VisitStructList(const Field& field, const arrow::DataType& type,
                                encoding::Nesting layers) {
    if (version_.minor < 2) {
      return Refuse(layers.back(), type, "A fixed_size_list of structs needs storage version 2.2");
    }
    for (const NestingLayer& layer : layers) {
      if (layer.kind == NestingKind::kList) {
        return Refuse(layers.back(), type,
                      "A fixed_size_list of structs inside a list cannot be read back");
      }
    }
    layers.back().kind = NestingKind::kFixedSizeList;
    return VisitChildren(field, type, std::move(layers));
  }

  ColumnPlan& AddPlan(ColumnForm form, const Field& field, encoding::Nesting layers) {
    ColumnPlan& plan = plans_.emplace_back();
    plan.form = form;
    plan.field_id = field.id;
    plan.top = top_;
    plan.name = layers.back().column;
    plan.nesting = std::move(layers);
    plan.declare_all = HasItemAboveList(plan.nesting);
    plan.options.minor = version_.minor;
    plan.options.hints =
        encoding::EncodingHints::FromMetadata(field.metadata, fields_[top_].metadata);
    plan.type = field.type;
    return plan;
  }

  arrow::Result<LeafType> LeafTypeOf(const arrow::DataType& type, const encoding::Nesting& layers) {
    arrow::Result<LeafType> made = LeafType::Make(type);
    if (made.ok() && (made->kind == encoding::LeafKind::kDictionary ||
                      made->kind == encoding::LeafKind::kStruct)) {
      return Refuse(layers.back(), type, "pennon does not write values of this type here");
    }
    if (made.ok()) return made;
    return Refuse(layers.back(), type,
                  "pennon cannot write this column: " + made.status().message());
  }

  arrow::Status PlanLeaf(const Field& field, const arrow::DataType& type,
                         encoding::Nesting layers) {
    ARROW_ASSIGN_OR_RAISE(LeafType leaf, LeafTypeOf(type, layers));
    AddPlan(ColumnForm::kPlain, field, std::move(layers)).leaf = std::move(leaf);
    return arrow::Status::OK();
  }

  arrow::Status PlanDictionary(const Field& field, const arrow::DataType& type,
                               encoding::Nesting layers) {
    const auto& dictionary = static_cast<const arrow::DictionaryType&>(type);
    ARROW_ASSIGN_OR_RAISE(LeafType indexes, LeafTypeOf(*dictionary.index_type(), layers));
    ARROW_ASSIGN_OR_RAISE(LeafType items, LeafTypeOf(*dictionary.value_type(), layers));
    if (items.kind == encoding::LeafKind::kNull || items.is_list()) {
      return Refuse(layers.back(), type, "pennon does not write dictionaries of these values");
    }
    ColumnPlan& plan = AddPlan(ColumnForm::kDictionary, field, std::move(layers));
    plan.leaf = std::move(indexes);
    plan.items = std::move(items);
    return arrow::Status::OK();
  }

  arrow::Status PlanEmptyStruct(const Field& field, const arrow::DataType& type,
                                encoding::Nesting layers) {
    if (is_v20()) {
      AddPlan(ColumnForm::kStructHeader, field, std::move(layers));
      return arrow::Status::OK();
    }
    for (NestingLayer& layer : layers) {
      if (layer.kind != NestingKind::kItem) {
        return Refuse(layers.back(), type,
                      "Storage versions 2.1 and 2.2 hold structs without fields at top level and "
                      "in structs only");
      }
      layer.nullable = false;  // their pages have no place for nulls, not even those above
    }
    AddPlan(ColumnForm::kEmptyStruct, field, std::move(layers));
    return arrow::Status::OK();
  }

  arrow::Status PlanPacked(const Field& field, const arrow::DataType& type,
                           encoding::Nesting layers) {
    if (is_v20() && !PacksInV20(field)) {
      return Refuse(layers.back(), type,
                    "The metadata packed and lance-encoding:packed contradict each other, which "
                    "2.0 cannot hold");
    }
    std::vector<LeafType> children;
    arrow::Status refusal;
    for (const auto& child : type.fields()) {
      ARROW_ASSIGN_OR_RAISE(LeafType leaf, LeafTypeOf(StorageOf(*child->type()), layers));
      const bool plain = leaf.kind == encoding::LeafKind::kFixed && !leaf.is_list();
      const bool fits =
          is_v20() ? leaf.kind == encoding::LeafKind::kFixed : version_.minor >= 2 || plain;
      if (!fits || leaf.kind == encoding::LeafKind::kNull || leaf.bits_per_item == 1) {
        // As long as all rows are null, or there is none, nothing need be packed.
        refusal =
            Refuse(layers.back(), type,
                   "The storage version cannot pack a struct with this child: " + child->name());
      }
      children.push_back(std::move(leaf));
    }
    if (children.empty()) return Refuse(layers.back(), type, "A packed struct has no fields");
    ColumnPlan& plan = AddPlan(ColumnForm::kPackedStruct, field, std::move(layers));
    plan.children = std::move(children);
    plan.refusal = std::move(refusal);
    return arrow::Status::OK();
  }

  // The reference writer of 2.0 looks at one key only, its reader at both.
  static bool PacksInV20(const Field& field) {
    Field one = field;
    if (!field.metadata.contains("packed")) return true;
    one.metadata.erase("lance-encoding:packed");
    return schema::IsPackedStruct(one);
  }

  arrow::Status PlanBlob(const Field& field, const arrow::DataType& type,
                         encoding::Nesting layers) {
    if (IsBlobV2(field)) return PlanBlobV2(field, type, std::move(layers));
    if (type.id() != arrow::Type::LARGE_BINARY) {
      return Refuse(layers.back(), type, "pennon writes blobs of type large_binary only");
    }
    for (const NestingLayer& layer : layers) {
      if (layer.kind == NestingKind::kItem || is_v20()) continue;
      return Refuse(layers.back(), type,
                    "Storage versions 2.1 and 2.2 cannot hold blobs inside lists");
    }
    ARROW_ASSIGN_OR_RAISE(LeafType leaf, LeafTypeOf(type, layers));
    AddPlan(ColumnForm::kBlob, field, std::move(layers)).leaf = std::move(leaf);
    return arrow::Status::OK();
  }

  arrow::Status PlanBlobV2(const Field& field, const arrow::DataType& type,
                           encoding::Nesting layers) {
    const auto data = type.id() == arrow::Type::STRUCT
                          ? static_cast<const arrow::StructType&>(type).GetFieldByName("data")
                          : nullptr;
    if (version_.minor < 2 || layers.size() > 1 || data == nullptr ||
        data->type()->id() != arrow::Type::LARGE_BINARY) {
      return Refuse(layers.back(), type,
                    "Blobs of the extension lance.blob.v2 are structs with large_binary data, and "
                    "written at top level in storage version 2.2");
    }
    AddPlan(ColumnForm::kBlobV2, field, std::move(layers));
    return arrow::Status::OK();
  }

  const std::vector<Field>& fields_;
  const FileVersion version_;
  size_t top_ = 0;
  std::vector<ColumnPlan> plans_;
};

}  // namespace

arrow::Result<std::vector<ColumnPlan>> PlanColumns(const std::vector<Field>& fields,
                                                   FileVersion version) {
  return Planner(fields, version).Plan();
}

}  // namespace pennon::file
