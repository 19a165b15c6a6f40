#include "pennon/file/container_writer.h"

#include <algorithm>
#include <utility>

#include <arrow/buffer.h>

#include "pennon/schema/field_tree.h"

namespace pennon::file {
namespace {

constexpr size_t kAlignment = 64;
constexpr char kPadding = 'H';
// An output gets pieces of about this size, or of a buffer.
constexpr size_t kPieceBytes = 1 << 20;
// Kept free behind the pages, so that the metadata of a small file does not move them.
constexpr size_t kTailRoom = 4096;

template <typename Number>
void Append(Number value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));  // little-endian hosts only
}

struct Extent {
  uint64_t position;
  uint64_t size;
};

// Appends `part` to `out`, which begins at `before` of the file.
Extent AppendPart(const std::string& part, uint64_t before, std::string* out) {
  const Extent extent{before + out->size(), part.size()};
  out->append(part);
  return extent;
}

void AppendTable(const std::vector<Extent>& extents, std::string* out) {
  for (const Extent& extent : extents) {
    Append<uint64_t>(extent.position, out);
    Append<uint64_t>(extent.size, out);
  }
}

}  // namespace

void ContainerWriter::Reserve(size_t bytes) {
  const size_t needed = bytes_.size() + bytes + kTailRoom;
  if (needed > bytes_.capacity()) bytes_.reserve(std::max(needed, 2 * bytes_.capacity()));
}

// Appends `size` bytes and the padding behind them.
uint64_t ContainerWriter::Place(const uint8_t* data, size_t size) {
  const uint64_t at = this->size();
  if (size > 0) bytes_.append(reinterpret_cast<const char*>(data), size);
  bytes_.append((kAlignment - this->size() % kAlignment) % kAlignment, kPadding);
  if (bytes_.size() >= kPieceBytes) GiveOn();
  return at;
}

// Hands the collected bytes to the output, if there is one.
void ContainerWriter::GiveOn() {
  if (out_ == nullptr || bytes_.empty()) return;
  if (status_.ok()) status_ = out_->Append(bytes_);
  given_ += bytes_.size();
  bytes_.clear();
}

uint64_t ContainerWriter::AddBytes(std::span<const uint8_t> bytes) {
  Reserve(bytes.size() + kAlignment);
  return Place(bytes.data(), bytes.size());
}

void ContainerWriter::AddPage(size_t column, const encoding::EncodedPage& page,
                              uint64_t first_row) {
  wire::PageEntry entry;
  entry.length = page.length;
  entry.encoding = page.encoding;
  entry.priority = version_.minor == 0 ? 0 : first_row;
  size_t needed = 0;
  for (const auto& buffer : page.buffers)
    needed += static_cast<size_t>(buffer->size()) + kAlignment;
  Reserve(needed);
  for (const auto& buffer : page.buffers) {
    const size_t size = static_cast<size_t>(buffer->size());
    entry.buffer_offsets.push_back(Place(size > 0 ? buffer->data() : nullptr, size));
    entry.buffer_sizes.push_back(size);
  }
  columns_[column].push_back(std::move(entry));
}

arrow::Status ContainerWriter::Finish(std::span<const Field> fields, uint64_t length) {
  const std::string message =
      version_.minor == 0 ? "lance.encodings.ArrayEncoding" : "lance.encodings21.PageLayout";
  const Extent descriptor =
      AppendPart(wire::WriteFileDescriptor(schema::FlattenFields(fields), length), given_, &bytes_);
  const uint64_t metadata_start = size();
  std::vector<Extent> column_extents;
  for (size_t i = 0; i < columns_.size(); ++i) {
    column_extents.push_back(
        AppendPart(wire::WriteColumnMetadata(columns_[i], message, kinds_[i]), given_, &bytes_));
  }
  const uint64_t column_table = size();
  AppendTable(column_extents, &bytes_);
  const uint64_t global_table = size();
  AppendTable({descriptor}, &bytes_);
  Append<uint64_t>(metadata_start, &bytes_);
  Append<uint64_t>(column_table, &bytes_);
  Append<uint64_t>(global_table, &bytes_);
  Append<uint32_t>(1, &bytes_);
  Append<uint32_t>(static_cast<uint32_t>(columns_.size()), &bytes_);
  // A file of 2.0 says 0.3.
  Append<uint16_t>(version_.minor == 0 ? 0 : version_.major, &bytes_);
  Append<uint16_t>(version_.minor == 0 ? 3 : version_.minor, &bytes_);
  bytes_.append("LANC");
  GiveOn();
  return status_;
}

}  // namespace pennon::file
