// Pages of 2.0 of any description and any bytes: reading rows gives values or an error, never a
// crash; an array that comes out is valid, and a part of it is what the whole has there.
#include "page_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return pennon::fuzz::ReadPage({data, size}, pennon::fuzz::PageKind::kV20);
}
