#include "pennon/encoding/v20/page.h"

#include "pennon/encoding/v20/source.h"
#include "pennon/error.h"

namespace pennon::encoding {

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20Decoder(const PageDescription& page,
                                                           const LeafType& type) {
  ARROW_ASSIGN_OR_RAISE(const wire::ArrayEncoding root,
                        wire::ParseArrayEncoding(page.encoding, page.path));
  return MakeV20DecoderOf(page, root, type);
}

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20DecoderOf(const PageDescription& page,
                                                             const wire::ArrayEncoding& root,
                                                             const LeafType& type) {
  if (type.kind == LeafKind::kStruct || type.is_blob) {
    return Unsupported(
        page.path,
        "structs and blobs of 2.0 are read as packed rows, see LeafRole; column: ", page.column);
  }
  const wire::ArrayEncoding& values = WithoutNoNulls(root);
  if (type.role == LeafRole::kItemRanges) return MakeV20ListDecoder(page, values);
  if (type.role == LeafRole::kPackedRows) {
    if (values.kind != wire::ArrayEncodingKind::kPackedStruct) {
      return Corrupt(page.path, "page of a packed struct has another encoding: ",
                     wire::ArrayEncodingName(values.kind), ", column: ", page.column);
    }
    wire::ArrayEncoding rows = wire::MakeFlat(type.bits_per_item, 0);
    rows.buffer = values.buffer;
    return MakeV20FixedDecoder(page, rows, type);
  }
  const bool is_declared = type.kind == LeafKind::kDictionary;
  if (values.kind == wire::ArrayEncodingKind::kDictionary) {
    if (is_declared || type.is_dictionary_string) {
      return MakeV20DictionaryDecoder(page, values, type);
    }
    return Unsupported(
        page.path,
        "Dictionary pages are supported for columns of type string only, column: ", page.column);
  }
  const bool all_null = values.kind == wire::ArrayEncodingKind::kNullable &&
                        values.nulls == wire::NullableKind::kAllNulls;
  if (is_declared && !all_null) {
    return Unsupported(page.path, "Page encoding is not supported for dictionary columns: ",
                       wire::ArrayEncodingName(values.kind), ", column: ", page.column);
  }
  if (type.kind != LeafKind::kVariable) return MakeV20FixedDecoder(page, root, type);
  return MakeV20BinaryDecoder(page, values);
}

arrow::Status CheckV20StructHeader(std::string_view encoding, std::string_view path) {
  ARROW_ASSIGN_OR_RAISE(const wire::ArrayEncoding root, wire::ParseArrayEncoding(encoding, path));
  if (root.kind == wire::ArrayEncodingKind::kSimpleStruct) return arrow::Status::OK();
  return Corrupt(path, "header page of a struct must be a SimpleStruct, found ",
                 wire::ArrayEncodingName(root.kind));
}

}  // namespace pennon::encoding
