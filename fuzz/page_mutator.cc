// How libFuzzer changes the inputs of page targets: one piece at a time, so that the sizes of all
// pieces stay right.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "taker.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

constexpr size_t kHead = 5;

using Bytes = std::vector<uint8_t>;

void Mutate(Bytes* bytes, size_t max_size) {
  const size_t size = bytes->size();
  bytes->resize(std::max<size_t>({size, max_size, 1}));
  bytes->resize(LLVMFuzzerMutate(bytes->data(), size, bytes->size()));
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  if (size < kHead || random() % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  pennon::fuzz::Taker in(std::span<const uint8_t>(data, size));
  const auto head_bytes = in.Bytes(kHead);
  Bytes head(head_bytes.begin(), head_bytes.end());
  std::vector<Bytes> pieces;
  size_t total = kHead;
  while (!in.empty() || pieces.empty()) {
    const auto piece = in.Piece();
    pieces.emplace_back(piece.begin(), piece.end());
    total += 2 + piece.size();
  }
  const size_t room = max_size > total ? max_size - total : 0;
  const size_t choice = random() % (pieces.size() + 2);
  if (choice == pieces.size()) {
    Mutate(&head, kHead);
    head.resize(kHead);
  } else if (choice > pieces.size() && random() % 2 == 0) {
    pieces.emplace_back(8);  // another buffer
  } else if (choice > pieces.size()) {
    if (pieces.size() > 1) pieces.pop_back();
  } else {
    Mutate(&pieces[choice], std::min<size_t>(pieces[choice].size() + room, 0xFFFF));
  }
  Bytes out = std::move(head);
  for (const Bytes& piece : pieces) {
    out.push_back(static_cast<uint8_t>(piece.size()));
    out.push_back(static_cast<uint8_t>(piece.size() >> 8));
    out.insert(out.end(), piece.begin(), piece.end());
  }
  out.resize(std::min(out.size(), max_size));
  std::copy(out.begin(), out.end(), data);
  return out.size();
}
