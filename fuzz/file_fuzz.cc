// A data file of any bytes: opening it and reading every column gives arrays or errors, never a
// crash.
#include <cstdint>
#include <string>

#include <arrow/memory_pool.h>

#include "pennon/file/self_schema.h"
#include "pennon/file/test_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto* const pool = arrow::default_memory_pool();
  const auto file = std::make_shared<pennon::testing::BytesFile>(bytes);
  const auto schema = pennon::file::ReadSelfSchema(file, pool);
  if (!schema.ok()) return 0;
  constexpr uint64_t kMostRows = 1 << 16;
  (void)pennon::testing::ReadAll(bytes, *schema, kMostRows, pool);
  return 0;
}
