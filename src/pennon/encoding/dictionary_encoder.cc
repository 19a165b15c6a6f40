#include "pennon/encoding/dictionary_encoder.h"

#include <utility>

namespace pennon::encoding {

arrow::Result<std::optional<DictionaryValues>> TryDictionary(const LeafValues&, const PageOptions&,
                                                             arrow::MemoryPool*) {
  return std::nullopt;
}

}  // namespace pennon::encoding
