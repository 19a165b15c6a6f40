#include "pennon/encoding/blob.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <arrow/memory_pool.h>
#include <arrow/util/bit_util.h>

#include "pennon/encoding/nested/levels.h"
#include "pennon/error.h"

namespace pennon::encoding {

namespace {

/// Where the bytes of one value lie, or that there are none.
struct BlobPlace {
  uint64_t position = 0;
  uint64_t size = 0;
  bool is_null = false;
  std::optional<uint32_t> side_file;  ///< id of the blob, if it is not in the data file
  const uint8_t* data = nullptr;      ///< in a side file: the bytes, once they are read
};

/// What a descriptor's `kind` says of where the bytes are.
constexpr uint8_t kInline = 0, kPackedFile = 1, kDedicatedFile = 2;

/// The fixed facts of a page.
struct BlobFacts {
  std::shared_ptr<const PageDecoder> descriptors;
  BlobForm form = BlobForm::kPositions;
  uint64_t file_size = 0;
  std::shared_ptr<const SideFiles> side_files;
  std::vector<wire::LayerKind> layers;
  LevelLimits limits;
};

template <typename T>
T LoadWord(const uint8_t* words, uint64_t i) {
  T word;
  std::memcpy(&word, words + i * sizeof(T), sizeof(T));
  return word;
}

/// The values that some descriptors name.
class BlobValues {
 public:
  explicit BlobValues(const BlobFacts& facts) : facts_(facts) {}

  /// Takes the decoded descriptors and plans the reads of the bytes they name. Bytes of other files
  /// are read at once.
  arrow::Status Plan(ColumnOutput* descriptors);
  /// One for each value of this file that is not empty.
  std::span<io::RangeRead> reads() { return reads_; }
  /// Writes values [first, first + count) to the slots from `slot`. Calls ascend.
  arrow::Status Write(uint64_t first, uint64_t count, uint64_t slot, bool with_nulls,
                      ColumnOutput* out);

 private:
  arrow::Status TakePositions(ColumnOutput* descriptors);
  arrow::Status TakeDescriptors(ColumnOutput* descriptors);
  arrow::Status ReadSideFiles(arrow::MemoryPool* pool);
  template <typename Offset>
  arrow::Status WriteAs(uint64_t first, uint64_t count, uint64_t slot, bool with_nulls,
                        ColumnOutput* out);

  const BlobFacts& facts_;
  std::vector<BlobPlace> places_;
  std::vector<io::RangeRead> reads_;
  size_t next_read_ = 0;
  std::map<uint32_t, std::vector<io::RangeRead>> side_reads_;  ///< by blob id
  std::vector<io::RangeBuffers> side_buffers_;
};

arrow::Status BlobValues::TakePositions(ColumnOutput* descriptors) {
  const uint8_t* const positions = descriptors->child(0).values();
  const uint8_t* const sizes = descriptors->child(1).values();
  const uint64_t max_level = facts_.limits.max_def;
  for (uint64_t i = 0; i < places_.size(); ++i) {
    const auto position = LoadWord<uint64_t>(positions, i);
    const auto size = LoadWord<uint64_t>(sizes, i);
    const uint64_t level = position >> 16;
    if (size == 0 && level > max_level) {
      return Corrupt(
          "", "a blob's definition level is higher than the page's layers allow: expected at most ",
          max_level, ", found ", level);
    }
    places_[i] = {.position = position, .size = size, .is_null = size == 0 && level != 0};
  }
  return arrow::Status::OK();
}

arrow::Status BlobValues::TakeDescriptors(ColumnOutput* descriptors) {
  const uint8_t* const kinds = descriptors->child(0).values();
  const uint8_t* const positions = descriptors->child(1).values();
  const uint8_t* const sizes = descriptors->child(2).values();
  const uint8_t* const ids = descriptors->child(3).values();
  const uint8_t* validity = nullptr;
  if (descriptors->validity().null_count() > 0) {
    ARROW_ASSIGN_OR_RAISE(validity, descriptors->validity().Bits());
  }
  for (uint64_t i = 0; i < places_.size(); ++i) {
    if (validity != nullptr && !arrow::bit_util::GetBit(validity, static_cast<int64_t>(i))) {
      places_[i].is_null = true;
      continue;
    }
    const bool aside = kinds[i] == kPackedFile || kinds[i] == kDedicatedFile;
    if (kinds[i] != kInline && !aside) {
      return Unsupported("", "blobs that lie outside of their table are not supported: kind ",
                         static_cast<int>(kinds[i]));
    }
    if (aside && facts_.side_files == nullptr) {
      return Unsupported("", "blobs in files beside their data file need a store to open them");
    }
    places_[i].position = LoadWord<uint64_t>(positions, i);
    places_[i].size = LoadWord<uint64_t>(sizes, i);
    if (aside) places_[i].side_file = LoadWord<uint32_t>(ids, i);
  }
  return arrow::Status::OK();
}

arrow::Status BlobValues::Plan(ColumnOutput* descriptors) {
  places_.resize(descriptors->slots());
  ARROW_RETURN_NOT_OK(facts_.form == BlobForm::kPositions ? TakePositions(descriptors)
                                                          : TakeDescriptors(descriptors));
  uint64_t total = 0;
  for (const BlobPlace& place : places_) {
    if (place.size == 0) continue;
    if (place.side_file) {
      side_reads_[*place.side_file].push_back({.offset = place.position, .size = place.size});
      continue;
    }
    if (place.position > facts_.file_size || place.size > facts_.file_size - place.position) {
      return Corrupt("", "a blob lies outside of its file: position ", place.position, ", size ",
                     place.size, ", file size ", facts_.file_size);
    }
    // Values share no bytes, so more than the file holds is a lie that would cost memory.
    total += place.size;
    if (total > facts_.file_size) {
      return Corrupt("", "the blobs of a page are more bytes than their file: ", total,
                     ", file size ", facts_.file_size);
    }
    reads_.push_back({.offset = place.position, .size = place.size});
  }
  return ReadSideFiles(descriptors->pool());
}

arrow::Status BlobValues::ReadSideFiles(arrow::MemoryPool* pool) {
  for (auto& [blob_id, reads] : side_reads_) {
    ARROW_ASSIGN_OR_RAISE(auto buffers, facts_.side_files->Read(blob_id, reads, pool));
    side_buffers_.push_back(std::move(buffers));
  }
  // From here on each is the next to be written.
  std::map<uint32_t, size_t> next;
  for (BlobPlace& place : places_) {
    if (place.side_file && place.size > 0)
      place.data = side_reads_[*place.side_file][next[*place.side_file]++].data;
  }
  return arrow::Status::OK();
}

arrow::Status BlobValues::Write(uint64_t first, uint64_t count, uint64_t slot, bool with_nulls,
                                ColumnOutput* out) {
  return out->variable().offset_bits() == 32
             ? WriteAs<uint32_t>(first, count, slot, with_nulls, out)
             : WriteAs<uint64_t>(first, count, slot, with_nulls, out);
}

template <typename Offset>
arrow::Status BlobValues::WriteAs(uint64_t first, uint64_t count, uint64_t slot, bool with_nulls,
                                  ColumnOutput* out) {
  VariableOutput& values = out->variable();
  ARROW_RETURN_NOT_OK(values.StartRun(slot));
  const std::span<const BlobPlace> places(places_.data() + first, count);
  uint64_t total = 0;
  for (const BlobPlace& place : places) total += place.size;
  ARROW_ASSIGN_OR_RAISE(uint8_t* to, values.Reserve(total));
  Offset* const ends = values.ends<Offset>();
  uint64_t end = values.size();
  for (uint64_t i = 0; i < count; ++i) {
    const BlobPlace& place = places[i];
    if (place.is_null && with_nulls) ARROW_RETURN_NOT_OK(out->validity().SetNull(slot + i, 1));
    if (place.size > 0) {
      std::memcpy(to, place.side_file ? place.data : reads_[next_read_++].data, place.size);
      to += place.size;
      end += place.size;
    }
    ends[i] = static_cast<Offset>(end);
  }
  values.AdvanceBytes(total);
  return values.FinishRun(count);
}

/// Reads descriptors, then the bytes they name in one joined read.
class BlobRead : public PageRead {
 public:
  BlobRead(const BlobFacts& facts, std::span<const PageRows> rows, ColumnOutput* out)
      : facts_(facts), rows_(rows), out_(out), values_(facts) {}

  /// Starts reading the descriptors.
  arrow::Status Begin() {
    uint64_t slot = 0;
    for (const PageRows& rows : rows_) {
      descriptor_rows_.push_back({rows.first, rows.count, slot});
      slot += rows.count;
    }
    ARROW_ASSIGN_OR_RAISE(descriptors_,
                          ColumnOutput::Make(DescriptorType(facts_.form), slot, out_->pool()));
    ARROW_ASSIGN_OR_RAISE(read_, facts_.descriptors->Start(descriptor_rows_, descriptors_.get()));
    return arrow::Status::OK();
  }

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (read_ == nullptr) return std::span<io::RangeRead>();
    ARROW_ASSIGN_OR_RAISE(const std::span<io::RangeRead> next, read_->Next());
    if (!next.empty()) return next;
    ARROW_RETURN_NOT_OK(read_->Decode());
    read_.reset();
    ARROW_RETURN_NOT_OK(values_.Plan(descriptors_.get()));
    descriptors_.reset();
    return values_.reads();
  }

  arrow::Status Decode() override {
    uint64_t first = 0;
    for (const PageRows& rows : rows_) {
      ARROW_RETURN_NOT_OK(values_.Write(first, rows.count, rows.out, /*with_nulls=*/true, out_));
      first += rows.count;
    }
    return arrow::Status::OK();
  }

 private:
  const BlobFacts& facts_;
  std::span<const PageRows> rows_;
  ColumnOutput* out_;
  std::vector<PageRows> descriptor_rows_;
  std::unique_ptr<ColumnOutput> descriptors_;
  std::unique_ptr<PageRead> read_;  ///< of the descriptors, until they are decoded
  BlobValues values_;
};

/// The same for a page of a nested column.
class NestedBlobRead : public NestedPageRead {
 public:
  NestedBlobRead(const BlobFacts& facts, std::span<const PageRows> rows)
      : facts_(facts), rows_(rows), values_(facts) {}

  /// Starts reading the descriptors.
  arrow::Status Begin() {
    if (facts_.form == BlobForm::kDescriptors) {
      ARROW_ASSIGN_OR_RAISE(nested_, facts_.descriptors->StartNested(rows_));
      return arrow::Status::OK();
    }
    if (facts_.limits.max_rep > 0)
      return Unsupported("", "lists of blobs in the form of positions and sizes");
    uint64_t slot = 0;
    for (const PageRows& rows : rows_) {
      descriptor_rows_.push_back({rows.first, rows.count, slot});
      slot += rows.count;
    }
    ARROW_RETURN_NOT_OK(MakeDescriptors(slot));
    ARROW_ASSIGN_OR_RAISE(flat_, facts_.descriptors->Start(descriptor_rows_, descriptors_.get()));
    return arrow::Status::OK();
  }

  arrow::Result<std::span<io::RangeRead>> Next() override {
    if (planned_) return std::span<io::RangeRead>();
    ARROW_ASSIGN_OR_RAISE(const std::span<io::RangeRead> next,
                          nested_ ? nested_->Next() : flat_->Next());
    if (!next.empty()) return next;
    planned_ = true;
    if (nested_) {
      ARROW_ASSIGN_OR_RAISE(levels_, nested_->ReadLevels());
      ARROW_RETURN_NOT_OK(MakeDescriptors(levels_.values));
      ARROW_RETURN_NOT_OK(nested_->ReadValues(0, descriptors_.get()));
      ARROW_RETURN_NOT_OK(values_.Plan(descriptors_.get()));
    } else {
      ARROW_RETURN_NOT_OK(flat_->Decode());
      ARROW_RETURN_NOT_OK(values_.Plan(descriptors_.get()));
      TakeLevels();
    }
    count_ = descriptors_->slots();
    descriptors_.reset();
    return values_.reads();
  }

  arrow::Result<PageLevels> ReadLevels() override { return std::move(levels_); }

  arrow::Status ReadValues(uint64_t slot, ColumnOutput* out) override {
    return values_.Write(0, count_, slot, /*with_nulls=*/false, out);
  }

 private:
  arrow::Status MakeDescriptors(uint64_t count) {
    ARROW_ASSIGN_OR_RAISE(descriptors_, ColumnOutput::Make(DescriptorType(facts_.form), count,
                                                           arrow::default_memory_pool()));
    return arrow::Status::OK();
  }

  /// Takes the levels out of positions that the plan has checked.
  void TakeLevels() {
    const uint8_t* const positions = descriptors_->child(0).values();
    const uint8_t* const sizes = descriptors_->child(1).values();
    levels_.entries = levels_.values = descriptors_->slots();
    levels_.definition.resize(levels_.entries);
    uint16_t any = 0;
    for (uint64_t i = 0; i < levels_.entries; ++i) {
      if (LoadWord<uint64_t>(sizes, i) == 0)
        levels_.definition[i] = static_cast<uint16_t>(LoadWord<uint64_t>(positions, i) >> 16);
      any |= levels_.definition[i];
    }
    if (any == 0) levels_.definition.clear();
  }

  const BlobFacts& facts_;
  std::span<const PageRows> rows_;
  std::vector<PageRows> descriptor_rows_;
  std::unique_ptr<ColumnOutput> descriptors_;
  std::unique_ptr<PageRead> flat_;          ///< of positions
  std::unique_ptr<NestedPageRead> nested_;  ///< of descriptors
  bool planned_ = false;
  PageLevels levels_;
  uint64_t count_ = 0;
  BlobValues values_;
};

class BlobDecoder : public PageDecoder {
 public:
  explicit BlobDecoder(BlobFacts facts) : facts_(std::move(facts)) {}

  arrow::Result<std::unique_ptr<PageRead>> Start(std::span<const PageRows> rows,
                                                 ColumnOutput* out) const override {
    ARROW_RETURN_NOT_OK(facts_.limits.ExpectFlat());
    auto read = std::make_unique<BlobRead>(facts_, rows, out);
    ARROW_RETURN_NOT_OK(read->Begin());
    return read;
  }
  arrow::Result<std::unique_ptr<NestedPageRead>> StartNested(
      std::span<const PageRows> rows) const override {
    auto read = std::make_unique<NestedBlobRead>(facts_, rows);
    ARROW_RETURN_NOT_OK(read->Begin());
    return read;
  }
  std::span<const wire::LayerKind> layers() const override { return facts_.layers; }
  size_t MemoryBytes() const override { return sizeof(*this) + facts_.descriptors->MemoryBytes(); }

 private:
  BlobFacts facts_;
};

}  // namespace

LeafType DescriptorType(BlobForm form) {
  const auto word = [](uint64_t bits) {
    LeafType type;
    type.bits_per_item = bits;
    return type;
  };
  LeafType type;
  type.kind = LeafKind::kStruct;
  if (form == BlobForm::kPositions) {
    type.children = {word(64), word(64)};
    return type;
  }
  LeafType uri;
  uri.kind = LeafKind::kVariable;
  uri.offset_bits = 32;
  type.children = {word(8), word(64), word(64), word(32), uri};
  return type;
}

arrow::Result<std::shared_ptr<const PageDecoder>> MakeBlobDecoder(
    const PageDescription& page, std::shared_ptr<const PageDecoder> descriptors, BlobForm form,
    std::vector<wire::LayerKind> layers) {
  BlobFacts facts;
  facts.descriptors = std::move(descriptors);
  facts.form = form;
  facts.file_size = page.file_size;
  facts.side_files = page.side_files;
  ARROW_ASSIGN_OR_RAISE(facts.limits, LevelLimits::Make(layers));
  facts.layers = std::move(layers);
  return std::make_shared<const BlobDecoder>(std::move(facts));
}

}  // namespace pennon::encoding
