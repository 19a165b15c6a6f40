#include "pennon/encoding/full_zip/fixed_value.h"

#include "pennon/encoding/kernels/block_values.h"
#include "pennon/error.h"

namespace pennon::encoding {

using wire::CompressionKind;

arrow::Result<FixedValue> FixedValue::Make(const wire::CompressiveEncoding& encoding,
                                           const LeafType& type, std::string_view place) {
  FixedValue out;
  const wire::CompressiveEncoding* inner = &encoding;
  uint64_t run = 1;
  for (size_t layer = 0; layer < type.dimensions.size(); ++layer) {
    if (inner->kind != CompressionKind::kFixedSizeList) {
      return Unsupported("", "encoding of fixed-size lists in ", place, ": ",
                         wire::CompressionName(inner->kind));
    }
    if (inner->items_per_value != type.dimensions[layer]) {
      return Corrupt("", "fixed-size lists have another size than their type: expected ",
                     type.dimensions[layer], ", found ", inner->items_per_value);
    }
    run *= type.dimensions[layer];
    if (inner->has_validity) {
      out.validity.push_back({layer, run, out.item_offset});
      out.item_offset += (run + 7) / 8;
    }
    inner = &inner->children[0];
    // All children of this layer are null, lists or items; what is below them is not stored.
    if (inner->kind == CompressionKind::kConstant) break;
  }
  if (inner->kind == CompressionKind::kConstant) {
    if (inner->value || out.validity.empty())
      return Unsupported("", "lists of one constant item in ", place);
    return out;
  }
  ARROW_RETURN_NOT_OK(ExpectFlat(*inner, type.bits_per_item));
  if (type.bits_per_slot() % 8 != 0) return Unsupported("", "values of part of a byte in ", place);
  out.item_bytes = type.bits_per_slot() / 8;
  return out;
}

}  // namespace pennon::encoding
