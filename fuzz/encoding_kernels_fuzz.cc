// The encoding kernels on any bytes: each gives values or an error, never a crash; what an encoder
// wrote from the bytes comes back.
//
// Input: [kernel][bits: 8 << (b % 4)][width][u16 values] then the kernel's bytes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <arrow/buffer.h>

#include "pennon/encoding/kernels/bitpacking.h"
#include "pennon/encoding/kernels/byte_stream_split.h"
#include "pennon/encoding/kernels/fsst.h"
#include "pennon/encoding/kernels/general.h"
#include "pennon/encoding/kernels/rle.h"
#include "pennon/encoding/kernels/variable.h"

namespace {

using namespace pennon::encoding;
using Bytes = std::vector<uint8_t>;

constexpr size_t kHeader = 5;
constexpr int64_t kMostBytes = 1 << 20;

struct Input {
  int bits;
  int width;
  int64_t count;
  std::span<const uint8_t> body;
};

void FuzzGeneral(GeneralScheme scheme, const Input& in) {
  Bytes out(static_cast<size_t>(in.count));
  (void)DecompressInto(scheme, in.body, out);
  const auto whole = Decompress(scheme, in.body, kMostBytes);
  if (whole.ok() && (*whole)->size() > kMostBytes) std::abort();
  Bytes packed;
  if (!Compress(scheme, in.body, in.width % 10, &packed).ok()) std::abort();
  Bytes back;
  if (!DecompressTo(scheme, packed, static_cast<int64_t>(in.body.size()), &back).ok()) std::abort();
  if (!std::equal(back.begin(), back.end(), in.body.begin(), in.body.end())) std::abort();
}

void FuzzFsst(const Input& in) {
  if (in.body.size() < FsstTable::kBytes) return;
  const auto table = FsstTable::Parse(in.body.first(FsstTable::kBytes));
  if (!table.ok()) return;
  // An exact copy, so that a sanitizer sees reads beyond it.
  const Bytes coded(in.body.begin() + FsstTable::kBytes, in.body.end());
  const uint32_t middle = static_cast<uint32_t>(coded.size() / 2);
  const uint32_t offsets[] = {0, middle, static_cast<uint32_t>(coded.size())};
  for (const size_t capacity :
       {static_cast<size_t>(in.count), table->MaxDecodedBytes(coded.size()) + 8}) {
    int32_t ends[3];
    Bytes out(capacity);
    const auto used = table->DecodeValues<uint32_t, int32_t>(
        offsets, coded.data(), 2, 0, ends, out.data(), static_cast<int64_t>(capacity));
    if (used.ok() && ends[2] != *used) std::abort();
  }
}

void FuzzVariable(const Input& in) {
  for (const int bits : {32, 64}) {
    for (const auto& view : {ViewVariableMiniBlock(in.body, bits, in.count),
                             ViewVariableBlock(in.body, bits, in.count)}) {
      if (!view.ok()) continue;
      std::vector<int64_t> offsets(static_cast<size_t>(in.count) + 1);
      if (!view->CopyOffsets<int64_t>(0, in.count, 0, offsets.data()).ok()) std::abort();
      if (static_cast<uint64_t>(offsets.back()) != view->bytes.size()) std::abort();
      Bytes again;
      if (!EncodeVariableBlock(offsets.data(), view->bytes.data(), in.count, bits, &again).ok())
        std::abort();
    }
  }
}

// Encodes the body as values and expects them back.
void FuzzRoundTrip(const Input& in) {
  const size_t word = static_cast<size_t>(in.bits) / 8;
  const auto values = in.body.first(in.body.size() / word * word);
  const auto count = static_cast<int64_t>(values.size() / word);
  Bytes packed;
  Bytes out(values.size());
  const auto expect = [&](const arrow::Status& status) {
    if (!status.ok() || !std::equal(out.begin(), out.end(), values.begin())) std::abort();
    packed.clear();
    std::fill(out.begin(), out.end(), 0xA5);
  };
  if (!EncodeOutOfLineBitpacking(values, in.bits, in.bits, &packed).ok()) std::abort();
  expect(DecodeOutOfLineBitpacking(packed, in.bits, in.bits, count, out));
  if (!EncodeRleBlock(values, in.bits, &packed).ok()) std::abort();
  expect(DecodeRleBlock(packed, in.bits, count, out));
  if (count <= kUnitValues) {
    if (!EncodeInlineBitpacking(values, in.bits, &packed).ok()) std::abort();
    expect(DecodeInlineBitpacking(packed, in.bits, count, out));
  }
  if (in.bits >= 32) {
    if (!EncodeByteStreamSplit(values, in.bits, &packed).ok()) std::abort();
    expect(DecodeByteStreamSplit(packed, in.bits, count, out));
  }
}

void FuzzKernel(uint8_t kernel, const Input& in) {
  Bytes out(static_cast<size_t>(in.count) * static_cast<size_t>(in.bits) / 8);
  const size_t half = in.body.size() / 2;
  switch (kernel % 10) {
    case 0:
      (void)DecodeInlineBitpacking(in.body, in.bits, in.count, out);
      break;
    case 1:
      (void)DecodeOutOfLineBitpacking(in.body, in.bits, in.width, in.count, out);
      break;
    case 2:
      (void)DecodeBitpackedUnits(in.body, in.bits, in.width, in.count % 1024, in.count, out);
      break;
    case 3:
      (void)DecodeBitStream(in.body, static_cast<uint64_t>(in.width) % 8, in.bits, in.width,
                            in.width % 2 == 0, in.count, out);
      break;
    case 4:
      (void)DecodeRleMiniBlock(in.body.first(half), in.body.subspan(half), in.bits, in.count, out);
      (void)DecodeRleBlock(in.body, in.bits, in.count, out);
      break;
    case 5:
      (void)DecodeByteStreamSplit(in.body, in.bits, in.count, out);
      break;
    case 6:
      FuzzGeneral(in.bits == 8 ? GeneralScheme::kLz4 : GeneralScheme::kZstd, in);
      break;
    case 7:
      FuzzFsst(in);
      break;
    case 8:
      FuzzVariable(in);
      break;
    default:
      FuzzRoundTrip(in);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeader) return 0;
  uint16_t count;
  std::memcpy(&count, data + 3, 2);
  FuzzKernel(data[0], {.bits = 8 << (data[1] % 4),
                       .width = data[2],
                       .count = count,
                       .body = std::span(data + kHeader, size - kHeader)});
  return 0;
}
