// Mini-block pages (2.1, 2.2), flat and nested, with any encodings: as page_v20_fuzz.
#include "page_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return pennon::fuzz::ReadPage({data, size}, pennon::fuzz::PageKind::kMiniBlock);
}
