#include "pennon/file/container.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "pennon/error.h"

namespace pennon::file {

namespace {

/// Bytes read at first.
constexpr uint64_t kTailBytes = 4096;
/// Column metadata before the tail is read along with the tables if it is no more than this.
constexpr uint64_t kMetadataBytes = 16 << 10;

}  // namespace

arrow::Status Container::ReadTail(uint64_t start) {
  const uint64_t end = tail_ ? tail_start_ : file_->size();
  const uint64_t kept = tail_ ? static_cast<uint64_t>(tail_->size()) : 0;
  ARROW_ASSIGN_OR_RAISE(auto buffer,
                        arrow::AllocateBuffer(static_cast<int64_t>(end - start + kept), pool_));
  ARROW_RETURN_NOT_OK(
      file_->ReadAt(start, {buffer->mutable_data(), static_cast<size_t>(end - start)}));
  if (kept > 0) std::memcpy(buffer->mutable_data() + (end - start), tail_->data(), kept);
  tail_ = std::move(buffer);
  tail_start_ = start;
  return arrow::Status::OK();
}

std::span<const uint8_t> Container::Tail(uint64_t position, uint64_t size) const {
  return {tail_->data() + (position - tail_start_), static_cast<size_t>(size)};
}

arrow::Result<Container> Container::Open(std::shared_ptr<ReadableFile> file,
                                         arrow::MemoryPool* pool) {
  Container out(std::move(file), pool);
  const uint64_t size = out.file_size();
  if (size < wire::kFooterBytes) {
    return Corrupt(out.path(), "the file is too short for a footer: expected at least ",
                   wire::kFooterBytes, " bytes, found ", size);
  }
  ARROW_RETURN_NOT_OK(out.ReadTail(size - std::min(size, kTailBytes)));
  ARROW_ASSIGN_OR_RAISE(
      out.footer_, wire::ParseFileFooter(out.Tail(size - wire::kFooterBytes, wire::kFooterBytes),
                                         size, out.path()));
  const wire::FileFooter& footer = out.footer_;
  if (footer.column_meta_start < out.tail_start_ &&
      out.tail_start_ - footer.column_meta_start <= kMetadataBytes) {
    ARROW_RETURN_NOT_OK(out.ReadTail(footer.column_meta_start));
  } else if (footer.cmo_start < out.tail_start_) {
    ARROW_RETURN_NOT_OK(out.ReadTail(footer.cmo_start));
  }
  ARROW_RETURN_NOT_OK(wire::CheckGlobalBuffers(
      footer, out.Tail(footer.gbo_start, footer.num_global_buffers * wire::kTableEntryBytes), size,
      out.path()));
  return out;
}

arrow::Result<std::string> Container::ReadBytes(const wire::BufferLocation& at) const {
  std::string bytes(at.size, '\0');
  if (at.size == 0) return bytes;
  io::RangeRead read{
      .offset = at.position, .size = at.size, .into = reinterpret_cast<uint8_t*>(bytes.data())};
  io::RangeRead* const reads[] = {&read};
  ARROW_RETURN_NOT_OK(Read(reads).status());
  return bytes;
}

arrow::Result<std::string> Container::ReadColumnMetadata(uint32_t column) const {
  const auto table = Tail(footer_.cmo_start, footer_.num_columns * wire::kTableEntryBytes);
  const wire::BufferLocation at = wire::TableEntry(table, column);
  ARROW_RETURN_NOT_OK(wire::CheckColumnLocation(footer_, at, path()));
  return ReadBytes(at);
}

arrow::Result<std::string> Container::ReadGlobalBuffer(uint32_t index) const {
  const auto table = Tail(footer_.gbo_start, footer_.num_global_buffers * wire::kTableEntryBytes);
  return ReadBytes(wire::TableEntry(table, index));
}

arrow::Result<io::RangeBuffers> Container::Read(std::span<io::RangeRead* const> reads) const {
  std::vector<io::RangeRead*> outside;
  outside.reserve(reads.size());
  const auto kept = static_cast<uint64_t>(tail_->size());
  for (io::RangeRead* read : reads) {
    const uint64_t from = read->offset - tail_start_;
    if (read->offset < tail_start_ || from > kept || read->size > kept - from) {
      outside.push_back(read);
      continue;
    }
    read->data = tail_->data() + from;
    if (read->into != nullptr && read->size > 0) {
      std::memcpy(read->into, read->data, read->size);
      read->data = read->into;
    }
  }
  return io::ReadRanges(*file_, outside, pool_);
}

}  // namespace pennon::file
