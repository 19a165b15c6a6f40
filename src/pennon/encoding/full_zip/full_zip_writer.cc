#include "pennon/encoding/full_zip/full_zip_writer.h"

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "pennon/error.h"
#include "pennon/wire/page_layout_writer.h"

namespace pennon::encoding {
namespace {

using BufferPtr = std::shared_ptr<arrow::Buffer>;

// How levels are written before each value.
struct ControlWord {
  uint32_t bits_rep = 0;
  uint32_t bits_def = 0;
  size_t bytes = 0;
};

// The definition bits are those of the layers, so that all pages of a column have them alike.
ControlWord ControlWordOf(const PageNesting& nesting) {
  ControlWord word;
  if (!nesting.repetition.empty()) word.bits_rep = std::bit_width(nesting.max_repetition);
  if (!nesting.definition.empty()) word.bits_def = std::bit_width(nesting.max_definition);
  const uint32_t total = word.bits_rep + word.bits_def;
  word.bytes = total == 0 ? 0 : total <= 8 ? 1 : total <= 16 ? 2 : 4;
  return word;
}

template <typename Word>
std::vector<uint8_t> NarrowIndex(const std::vector<uint64_t>& starts) {
  std::vector<uint8_t> out(starts.size() * sizeof(Word));
  for (size_t i = 0; i < starts.size(); ++i) {
    const Word word = static_cast<Word>(starts[i]);
    std::memcpy(out.data() + i * sizeof(Word), &word, sizeof(Word));
  }
  return out;
}

std::vector<uint8_t> IndexBytes(const std::vector<uint64_t>& starts) {
  const uint64_t end = starts.back();
  if (end <= UINT8_MAX) return NarrowIndex<uint8_t>(starts);
  if (end <= UINT16_MAX) return NarrowIndex<uint16_t>(starts);
  return end <= UINT32_MAX ? NarrowIndex<uint32_t>(starts) : NarrowIndex<uint64_t>(starts);
}

// Writes the records of one page.
class RecordWriter {
 public:
  RecordWriter(const PageNesting& nesting, const EncodedRecords& records, ControlWord word,
               uint64_t num_values)
      : nesting_(nesting), records_(records), word_(word), num_values_(num_values) {}

  bool is_variable() const { return records_.bits_per_offset != 0; }
  bool has_index() const { return is_variable() || word_.bits_rep > 0; }

  arrow::Result<std::vector<BufferPtr>> Write(arrow::MemoryPool* pool) {
    if (word_.bytes == 0 && !is_variable()) return std::vector<BufferPtr>{records_.data};
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> out,
                          arrow::AllocateBuffer(static_cast<int64_t>(TotalBytes()), pool));
    begin_ = at_ = out->mutable_data();
    if (has_index()) starts_.reserve(nesting_.rows + 1);
    uint64_t value = 0;
    for (uint64_t entry = 0; entry < nesting_.entries; ++entry) {
      if (has_index() && nesting_.starts_row(entry)) starts_.push_back(Position());
      WriteLevels(entry);
      if (!nesting_.is_visible(entry)) continue;
      if (is_variable()) {
        WriteVariable(value++, !nesting_.definition.empty() && nesting_.definition[entry] != 0);
      } else {
        WriteFixed(value++);
      }
    }
    const uint64_t end = Position();
    std::vector<BufferPtr> buffers = {
        arrow::SliceBuffer(BufferPtr(std::move(out)), 0, static_cast<int64_t>(end))};
    if (has_index()) {
      starts_.push_back(end);
      buffers.push_back(arrow::Buffer::FromVector(IndexBytes(starts_)));
    }
    return buffers;
  }

 private:
  uint64_t Position() const { return static_cast<uint64_t>(at_ - begin_); }

  // Room for all records; null ones are counted with their lengths, which they have not.
  uint64_t TotalBytes() const {
    const uint64_t levels = nesting_.entries * word_.bytes;
    if (!is_variable()) return levels + num_values_ * (records_.bits_per_value / 8);
    return levels + num_values_ * (records_.bits_per_offset / 8) +
           records_.value_start(num_values_) - records_.value_start(0);
  }

  void WriteLevels(uint64_t entry) {
    if (word_.bytes == 0) return;
    uint32_t word = word_.bits_rep == 0 ? 0U : nesting_.repetition[entry];
    word = word << word_.bits_def | (word_.bits_def == 0 ? 0U : nesting_.definition[entry]);
    std::memcpy(at_, &word, word_.bytes);  // little-endian: the low bytes come first
    at_ += word_.bytes;
  }

  void WriteFixed(uint64_t value) {
    const uint64_t bytes = records_.bits_per_value / 8;
    std::memcpy(at_, records_.data->data() + value * bytes, bytes);
    at_ += bytes;
  }

  void WriteVariable(uint64_t value, bool null) {
    if (null) return;
    const uint64_t width = records_.bits_per_offset / 8;
    const uint64_t start = records_.value_start(value);
    const uint64_t size = records_.value_start(value + 1) - start;
    std::memcpy(at_, &size, width);
    at_ += width;
    if (size != 0) std::memcpy(at_, records_.data->data() + start, size);
    at_ += size;
  }

  const PageNesting& nesting_;
  const EncodedRecords& records_;
  const ControlWord word_;
  const uint64_t num_values_;
  std::vector<uint64_t> starts_;
  uint8_t* begin_ = nullptr;
  uint8_t* at_ = nullptr;
};

uint64_t CountVisible(const PageNesting& nesting) {
  if (nesting.max_visible == nesting.max_definition) return nesting.entries;
  uint64_t visible = 0;
  for (uint16_t level : nesting.definition) visible += level <= nesting.max_visible ? 1 : 0;
  return visible;
}

}  // namespace

arrow::Result<EncodedPage> EncodeFullZip(const PageNesting& nesting, const EncodedRecords& records,
                                         arrow::MemoryPool* pool) {
  if (nesting.entries > UINT32_MAX) {
    return Unsupported("", "A page of one row holds at most 2^32 - 1 items, found ",
                       nesting.entries);
  }
  const ControlWord word = ControlWordOf(nesting);
  const uint64_t visible = CountVisible(nesting);
  wire::FullZipMessage message;
  message.bits_rep = word.bits_rep;
  message.bits_def = word.bits_def;
  message.bits_per_value = records.bits_per_value;
  message.bits_per_offset = records.bits_per_offset;
  message.num_items = static_cast<uint32_t>(nesting.entries);
  message.num_visible_items = static_cast<uint32_t>(visible);
  message.value_compression = records.encoding;
  message.layers = nesting.layers;
  EncodedPage page;
  page.length = nesting.slots;
  page.encoding = wire::WriteFullZipPage(message);
  ARROW_ASSIGN_OR_RAISE(page.buffers, RecordWriter(nesting, records, word, visible).Write(pool));
  return page;
}

}  // namespace pennon::encoding
