#include "pennon/encoding/v20/page.h"

#include "pennon/encoding/v20/source.h"
#include "pennon/error.h"

namespace pennon::encoding {

arrow::Result<std::unique_ptr<PageDecoder>> MakeV20Decoder(const PageDescription& page,
                                                           const LeafType& type) {
  if (type.kind == LeafKind::kDictionary || type.kind == LeafKind::kStruct || type.is_blob) {
    return Unsupported(page.path,
                       "dictionary, packed and blob columns of 2.0 files are not supported yet, "
                       "column: ",
                       page.column);
  }
  ARROW_ASSIGN_OR_RAISE(const wire::ArrayEncoding root,
                        wire::ParseArrayEncoding(page.encoding, page.path));
  if (type.kind != LeafKind::kVariable) return MakeV20FixedDecoder(page, root, type);
  const wire::ArrayEncoding& values = WithoutNoNulls(root);
  if (values.kind != wire::ArrayEncodingKind::kDictionary)
    return MakeV20BinaryDecoder(page, values);
  if (!type.is_dictionary_string) {
    return Unsupported(
        page.path,
        "Dictionary pages are supported for columns of type string only, column: ", page.column);
  }
  return MakeV20DictionaryDecoder(page, values);
}

}  // namespace pennon::encoding
