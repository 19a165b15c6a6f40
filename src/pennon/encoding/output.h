// Where decoded values go: the buffers of one Arrow array of known length, filled page by page.
// Not thread-safe. Decoders write runs of slots in ascending order; nothing here is called per
// value.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/encoding/dictionary/dictionary_output.h"
#include "pennon/encoding/leaf_type.h"

namespace pennon::encoding {

/// A validity bitmap that is allocated, all valid, when the first null comes.
class ValidityOutput {
 public:
  ValidityOutput(uint64_t slots, arrow::MemoryPool* pool) : slots_(slots), pool_(pool) {}

  /// Marks slots [first, first + count) null; each slot at most once.
  arrow::Status SetNull(uint64_t first, uint64_t count);
  /// Takes `count` bits (1 = valid) of `bits` from bit `bit_offset` for the slots from `first`.
  arrow::Status CopyBits(const uint8_t* bits, uint64_t bit_offset, uint64_t first, uint64_t count);
  /// The bitmap to clear bits in (1 = valid, all ones at first). Whoever clears bits counts them by
  /// AddNulls.
  arrow::Result<uint8_t*> Bits();
  void AddNulls(uint64_t count) { null_count_ += count; }

  uint64_t slots() const { return slots_; }
  uint64_t null_count() const { return null_count_; }
  /// The bitmap, or null if no slot is null.
  std::shared_ptr<arrow::Buffer> Finish();

 private:
  uint64_t slots_;
  arrow::MemoryPool* pool_;
  uint64_t null_count_ = 0;
  std::shared_ptr<arrow::Buffer> bitmap_;
};

/// Offsets and bytes of a string or binary array. Runs of slots come in ascending order; slots
/// between runs are empty.
///
/// A run is written as: StartRun(slot); then, any number of times, Reserve / write bytes /
/// AdvanceBytes; the ends of the values, counted from byte 0 of the array, are put at `ends<T>()[0
/// .. count)`; FinishRun(count). AppendRun and AppendEmpty do all that for values that are at hand.
class VariableOutput {
 public:
  /// Allocates offsets of `offset_bits` (32 or 64) for `slots` values.
  static arrow::Result<VariableOutput> Make(int offset_bits, uint64_t slots,
                                            arrow::MemoryPool* pool);

  int offset_bits() const { return offset_bits_; }
  /// Bytes written so far: where the next value starts.
  uint64_t size() const { return size_; }

  /// Goes to `slot`, leaving the slots since the last run empty.
  arrow::Status StartRun(uint64_t slot);
  /// Makes room for `bytes` more and returns where they go. The pointer is good until the next
  /// call.
  arrow::Result<uint8_t*> Reserve(uint64_t bytes);
  /// Counts `bytes` written at the reserved place.
  void AdvanceBytes(uint64_t bytes) { size_ += bytes; }
  /// Where the end of the run's first value goes; T is int32_t or int64_t, by offset_bits().
  template <typename T>
  T* ends() {
    return reinterpret_cast<T*>(offsets_->mutable_data()) + next_slot_ + 1;
  }
  /// Closes a run of `count` values; fails if the bytes are more than 32-bit offsets can count.
  arrow::Status FinishRun(uint64_t count);

  /// Appends a run of `count` values: value i is bytes [offsets[i], offsets[i + 1]) of `base`. The
  /// caller has checked that the offsets do not decrease. T is an unsigned 32- or 64-bit integer,
  /// of any alignment.
  template <typename T>
  arrow::Status AppendRun(uint64_t slot, const void* offsets, uint64_t count, const uint8_t* base);
  /// Appends a run of `count` empty values.
  arrow::Status AppendEmpty(uint64_t slot, uint64_t count);

  /// The offsets and bytes, all slots filled.
  arrow::Result<std::pair<std::shared_ptr<arrow::Buffer>, std::shared_ptr<arrow::Buffer>>> Finish();

 private:
  VariableOutput(int offset_bits, uint64_t slots) : offset_bits_(offset_bits), slots_(slots) {}
  void FillEmpty(uint64_t end_slot);

  int offset_bits_;
  uint64_t slots_;
  uint64_t next_slot_ = 0;
  uint64_t size_ = 0;
  std::shared_ptr<arrow::Buffer> offsets_;
  std::shared_ptr<arrow::ResizableBuffer> bytes_;
};

/// The array under construction. Which members are used follows from type().kind and
/// type().dimensions.
class ColumnOutput {
 public:
  /// Allocates the array. Slots that no decoder writes must be zeroed by ZeroSlots (validity and
  /// strings need nothing).
  static arrow::Result<std::unique_ptr<ColumnOutput>> Make(LeafType type, uint64_t slots,
                                                           arrow::MemoryPool* pool);
  /// An array of fixed-width values without nulls that are in `values` already, which nobody then
  /// writes to.
  static std::unique_ptr<ColumnOutput> MakeOver(LeafType type, uint64_t slots,
                                                std::shared_ptr<arrow::Buffer> values,
                                                arrow::MemoryPool* pool);
  /// Makes the values of slots [first, first + count) zero.
  void ZeroSlots(uint64_t first, uint64_t count);
  /// Gives slots [first, first + count) zero or empty values, as a decoder does for nulls.
  arrow::Status WriteEmpty(uint64_t first, uint64_t count);

  const LeafType& type() const { return type_; }
  uint64_t slots() const { return slots_; }
  arrow::MemoryPool* pool() const { return pool_; }

  /// Validity of the slots themselves.
  ValidityOutput& validity() { return validity_; }
  /// kFixed, kDictionary: slot i is the bits from i * type().bits_per_slot() on (booleans: Arrow
  /// bit order). Decoders write all slots of their ranges, null ones too (any bytes that come from
  /// the file, or zero).
  uint8_t* values() { return values_ ? values_->mutable_data() : nullptr; }
  /// Validity of the children of list layer k (0 = outermost): slots() * dimensions[0] * ... *
  /// dimensions[k] bits.
  ValidityOutput& item_validity(size_t k) { return item_validity_[k]; }
  /// kVariable.
  VariableOutput& variable() { return *variable_; }
  /// kDictionary: the items that values() names, as words of type().bits_per_item bits.
  DictionaryOutput& dictionary() { return *dictionary_; }
  /// kStruct: the values of child i, a slot for each of the struct's, null ones too.
  ColumnOutput& child(size_t i) { return *children_[i]; }

  /// Gives the array, as `type` (that whose LeafType this was made for). Text that is not valid
  /// UTF-8 is a kCorrupt error.
  arrow::Result<std::shared_ptr<arrow::ArrayData>> Finish(
      const std::shared_ptr<arrow::DataType>& type);

 private:
  arrow::Result<std::shared_ptr<arrow::ArrayData>> FinishDictionary(
      const std::shared_ptr<arrow::DataType>& type);
  arrow::Result<std::shared_ptr<arrow::ArrayData>> FinishStruct(
      const std::shared_ptr<arrow::DataType>& type);

  void AddItemValidity();

  ColumnOutput(LeafType type, uint64_t slots, arrow::MemoryPool* pool)
      : type_(std::move(type)), slots_(slots), pool_(pool), validity_(slots, pool) {}

  LeafType type_;
  uint64_t slots_;
  arrow::MemoryPool* pool_;
  ValidityOutput validity_;
  std::vector<ValidityOutput> item_validity_;
  std::shared_ptr<arrow::Buffer> values_;
  std::unique_ptr<VariableOutput> variable_;
  std::unique_ptr<DictionaryOutput> dictionary_;
  std::vector<std::unique_ptr<ColumnOutput>> children_;
};

}  // namespace pennon::encoding
