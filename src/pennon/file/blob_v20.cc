#include "pennon/file/blob_v20.h"

#include <cstring>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "pennon/error.h"

namespace pennon::file {
namespace {

/// Values of this many bytes are read to their place; smaller ones are read together, then copied.
constexpr uint64_t kOwnRequest = 64 << 10;
/// Bytes of small values that are fetched before they are copied.
constexpr uint64_t kBlobBatchBytes = 16 << 20;

struct Descriptor {
  uint64_t position;
  uint64_t size;
  bool is_null() const { return position == 1 && size == 0; }
};

Descriptor DescriptorAt(const uint8_t* rows, uint64_t i) {
  Descriptor out;
  std::memcpy(&out.position, rows + i * 16, 8);
  std::memcpy(&out.size, rows + i * 16 + 8, 8);
  return out;
}

// The array but for its bytes: offsets, validity, and how many bytes that makes.
struct Shape {
  std::shared_ptr<arrow::Buffer> offsets;
  std::shared_ptr<arrow::Buffer> validity;
  int64_t nulls = 0;
};

arrow::Result<Shape> MakeShape(const Container& container, const uint8_t* rows, uint64_t count) {
  Shape out;
  ARROW_ASSIGN_OR_RAISE(
      out.offsets, arrow::AllocateBuffer(static_cast<int64_t>((count + 1) * 8), container.pool()));
  auto* const offsets = reinterpret_cast<int64_t*>(out.offsets->mutable_data());
  offsets[0] = 0;
  uint64_t total = 0;
  const uint64_t file_size = container.file_size();
  for (uint64_t i = 0; i < count; ++i) {
    const Descriptor blob = DescriptorAt(rows, i);
    if (blob.size > 0 && (blob.position > file_size || blob.size > file_size - blob.position)) {
      return Corrupt(container.path(), "a blob lies outside of its file: bytes ", blob.position,
                     " and ", blob.size, " more, file size ", file_size);
    }
    // Blobs do not overlap, so what is more than the file is no file's.
    total += blob.size;
    if (total > file_size) {
      return Corrupt(container.path(), "blobs claim more bytes than their file has: file size ",
                     file_size);
    }
    out.nulls += blob.is_null() ? 1 : 0;
    offsets[i + 1] = static_cast<int64_t>(total);
  }
  if (out.nulls == 0) return out;
  ARROW_ASSIGN_OR_RAISE(out.validity,
                        arrow::AllocateBitmap(static_cast<int64_t>(count), container.pool()));
  std::memset(out.validity->mutable_data(), 0xFF, static_cast<size_t>(out.validity->size()));
  for (uint64_t i = 0; i < count; ++i) {
    if (DescriptorAt(rows, i).is_null()) {
      arrow::bit_util::ClearBit(out.validity->mutable_data(), static_cast<int64_t>(i));
    }
  }
  return out;
}

// Fetches the values of rows [first, end) of the descriptors to their places in `bytes`.
arrow::Status FetchValues(const Container& container, const uint8_t* rows, const int64_t* offsets,
                          uint64_t first, uint64_t end, uint8_t* bytes) {
  std::vector<io::RangeRead> reads;
  std::vector<uint8_t*> places;
  for (uint64_t i = first; i < end; ++i) {
    const Descriptor blob = DescriptorAt(rows, i);
    if (blob.size == 0) continue;
    uint8_t* const place = bytes + offsets[i];
    reads.push_back({.offset = blob.position,
                     .size = blob.size,
                     .into = blob.size >= kOwnRequest ? place : nullptr});
    places.push_back(place);
  }
  std::vector<io::RangeRead*> wanted;
  for (io::RangeRead& read : reads) wanted.push_back(&read);
  ARROW_ASSIGN_OR_RAISE(const auto kept, container.Read(wanted));
  for (size_t i = 0; i < reads.size(); ++i) {
    if (reads[i].into == nullptr) std::memcpy(places[i], reads[i].data, reads[i].size);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadBlobs(const Container& container,
                                                           const Column& column, const Field& field,
                                                           std::span<const RowRange> ranges,
                                                           uint64_t out_length) {
  if (field.type->id() != arrow::Type::LARGE_BINARY) {
    return Unsupported(container.path(), "blobs of 2.0 are of type large_binary, found ",
                       field.logical_type);
  }
  const ValueForm form{.leaf = encoding::LeafType::PackedRows(16),
                       .type = arrow::fixed_size_binary(16),
                       .encoding = wire::ColumnEncodingKind::kBlob};
  ARROW_ASSIGN_OR_RAISE(const auto descriptors,
                        column.ReadAs(container, field, form, ranges, out_length));
  const uint8_t* const rows = descriptors->buffers[1]->data();
  ARROW_ASSIGN_OR_RAISE(Shape shape, MakeShape(container, rows, out_length));
  const auto* const offsets = reinterpret_cast<const int64_t*>(shape.offsets->data());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes,
                        arrow::AllocateBuffer(offsets[out_length], container.pool()));
  for (uint64_t first = 0; first < out_length;) {
    uint64_t end = first + 1;
    while (end < out_length &&
           static_cast<uint64_t>(offsets[end + 1] - offsets[first]) <= kBlobBatchBytes) {
      ++end;
    }
    ARROW_RETURN_NOT_OK(FetchValues(container, rows, offsets, first, end, bytes->mutable_data()));
    first = end;
  }
  return arrow::ArrayData::Make(
      field.type, static_cast<int64_t>(out_length),
      {std::move(shape.validity), std::move(shape.offsets), std::move(bytes)}, shape.nulls);
}

}  // namespace pennon::file
