// A page of any description and any bytes, of every version: making its decoder and reading rows
// gives values or an error, never a crash; an array that comes out is valid.
//
// Input: [minor: b % 3][type: b % 8][u16 length - 1][runs][u16 size of the encoding][encoding],
// then buffers, each [u16 size][bytes].
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/type.h>

#include "pennon/encoding/catalog.h"
#include "pennon/encoding/leaf_type.h"
#include "pennon/encoding/output.h"
#include "pennon/encoding/page.h"

namespace {

using namespace pennon::encoding;

std::shared_ptr<arrow::DataType> TypeOf(uint8_t choice) {
  switch (choice % 8) {
    case 0:
      return arrow::int32();
    case 1:
      return arrow::boolean();
    case 2:
      return arrow::binary();
    case 3:
      return arrow::utf8();
    case 4:
      return arrow::large_binary();
    case 5:
      return arrow::fixed_size_list(arrow::int16(), 3);
    case 6:
      return arrow::fixed_size_list(arrow::fixed_size_list(arrow::boolean(), 2), 2);
    default:
      return arrow::uint64();
  }
}

// Takes bytes off the front.
class Taker {
 public:
  explicit Taker(std::span<const uint8_t> bytes) : rest_(bytes) {}
  uint8_t Byte() { return static_cast<uint8_t>(Number(1)); }
  uint16_t Short() { return static_cast<uint16_t>(Number(2)); }
  std::span<const uint8_t> Bytes(size_t n) {
    const auto taken = rest_.first(std::min(n, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  bool empty() const { return rest_.empty(); }
  const uint8_t* at() const { return rest_.data(); }

 private:
  uint64_t Number(size_t n) {
    uint64_t value = 0;
    const auto taken = Bytes(n);
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  std::span<const uint8_t> rest_;
};

// Feeds the reads from `file`, each as a copy of its own, so that a sanitizer sees reads beyond it.
arrow::Status Drive(PageRead* read, std::span<const uint8_t> file) {
  std::vector<std::unique_ptr<std::vector<uint8_t>>> held;
  for (int step = 0;; ++step) {
    if (step > 8) std::abort();  // Next must come to an end
    ARROW_ASSIGN_OR_RAISE(const auto reads, read->Next());
    if (reads.empty()) return read->Decode();
    for (auto& r : reads) {
      if (r.offset > file.size() || r.size > file.size() - r.offset)
        std::abort();  // only buffers may be read
      const auto bytes = file.subspan(r.offset, r.size);
      held.push_back(std::make_unique<std::vector<uint8_t>>(bytes.begin(), bytes.end()));
      if (r.into != nullptr && r.size != 0) std::memcpy(r.into, bytes.data(), r.size);
      r.data = r.into != nullptr ? r.into : held.back()->data();
    }
  }
}

void ReadPage(const PageDescription& page, const std::shared_ptr<arrow::DataType>& type,
              uint8_t runs, std::span<const uint8_t> file) {
  const LeafType leaf = LeafType::Make(*type).ValueOrDie();
  const auto decoder = MakePageDecoder(page, leaf);
  if (!decoder.ok()) return;
  std::vector<PageRows> rows = {{.first = 0, .count = page.length, .out = 1}};
  if (runs % 2 != 0 && page.length > 2) {
    const uint64_t gap = 1 + runs % (page.length - 2);
    rows = {{.first = 0, .count = gap, .out = 0},
            {.first = gap + 1, .count = page.length - gap - 1, .out = gap + 3}};
  }
  const uint64_t slots = rows.back().out + rows.back().count;
  for (int round = 0; round < 2; ++round) {
    auto out = ColumnOutput::Make(leaf, slots, arrow::default_memory_pool()).ValueOrDie();
    out->ZeroSlots(0, slots);
    const auto read = (*decoder)->Start(rows, out.get());
    if (!read.ok() || !Drive(read->get(), file).ok()) return;
    const auto data = out->Finish(type);
    if (!data.ok()) return;
    const auto array = arrow::MakeArray(*data);
    if (!array->ValidateFull().ok()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Taker in(std::span(data, size));
  PageDescription page{
      .path = "fuzz", .column = "c", .minor = static_cast<uint16_t>(in.Byte() % 3)};
  const auto type = TypeOf(in.Byte());
  page.length = uint64_t{1} + in.Short();
  const uint8_t runs = in.Byte();
  const auto encoding = in.Bytes(in.Short());
  page.encoding = {reinterpret_cast<const char*>(encoding.data()), encoding.size()};
  while (!in.empty()) {
    const uint16_t bytes = in.Short();
    const auto offset = static_cast<uint64_t>(in.at() - data);
    page.buffers.push_back({.offset = offset, .size = in.Bytes(bytes).size()});
  }
  ReadPage(page, type, runs, std::span(data, size));
  return 0;
}
