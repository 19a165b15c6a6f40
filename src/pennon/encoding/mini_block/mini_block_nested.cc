#include "pennon/encoding/mini_block/mini_block_nested.h"

#include <algorithm>
#include <cstring>

#include "pennon/error.h"

namespace pennon::encoding {

namespace {

std::span<uint8_t> BytesOf(std::span<uint16_t> levels) {
  return {reinterpret_cast<uint8_t*>(levels.data()), levels.size_bytes()};
}

/// Moves `count` levels from `from` to `to`, which is not behind it.
void MoveLevels(std::vector<uint16_t>* levels, uint64_t from, uint64_t count, uint64_t to) {
  if (from == to || count == 0) return;
  std::memmove(levels->data() + to, levels->data() + from, count * sizeof(uint16_t));
}

}  // namespace

MiniBlockNestedRead::MiniBlockNestedRead(const MiniBlockDecoder& decoder,
                                         std::span<const PageRows> rows)
    : decoder_(decoder), facts_(decoder.facts()), rows_(rows), fetch_(decoder, rows) {}

uint64_t MiniBlockNestedRead::FirstRow(size_t chunk) const {
  const MiniBlockState& state = fetch_.state();
  return state.index ? state.index->first(chunk) : state.directory.first(chunk);
}

arrow::Result<PageLevels> MiniBlockNestedRead::ReadLevels() {
  for (const ChunkSpan& span : fetch_.spans()) {
    for (size_t chunk = span.first; chunk < span.end && row_run_ < rows_.size(); ++chunk) {
      if (rows_[row_run_].first >= FirstRow(chunk + 1)) continue;
      ARROW_RETURN_NOT_OK(ReadChunk(chunk, fetch_.ChunkBytes(span, chunk)));
    }
  }
  if (CountEqual(levels_.definition, 0) == levels_.entries) levels_.definition.clear();
  return std::move(levels_);
}

arrow::Status MiniBlockNestedRead::ReadChunk(size_t chunk, std::span<const uint8_t> bytes) {
  ARROW_ASSIGN_OR_RAISE(const MiniBlockChunk buffers, decoder_.ParseChunk(bytes));
  const uint64_t values =
      fetch_.state().directory.first(chunk + 1) - fetch_.state().directory.first(chunk);
  uint64_t entries = values;
  if (facts_.has_lists()) {
    entries = buffers.num_levels;
  } else if (facts_.definition && buffers.num_levels != values) {
    return Corrupt("", "a chunk has another number of levels than values: expected ", values,
                   ", found ", buffers.num_levels);
  }
  ARROW_RETURN_NOT_OK(DecodeChunk(chunk, buffers, entries));
  uint64_t visible = entries;
  if (has_definition_ && !facts_.limits.all_visible()) {
    visible =
        CountAtMost(std::span(levels_.definition).last(entries), facts_.limits.max_visible_def);
  }
  if (visible != values) {
    return Corrupt("", "a chunk's levels name another number of values than it has: expected ",
                   values, ", found ", visible);
  }
  TakeRows(chunk, bytes, entries);
  return arrow::Status::OK();
}

arrow::Status MiniBlockNestedRead::DecodeChunk(size_t chunk, const MiniBlockChunk& buffers,
                                               uint64_t entries) {
  const uint64_t before = levels_.entries;
  if (facts_.repetition) {
    levels_.repetition.resize(before + entries);
    const auto levels = std::span(levels_.repetition).subspan(before);
    ARROW_RETURN_NOT_OK(
        facts_.repetition->Decode(buffers.repetition, entries, BytesOf(levels), &level_scratch_));
    ARROW_RETURN_NOT_OK(CheckLevels(levels, facts_.limits.max_rep, "repetition"));
    ARROW_RETURN_NOT_OK(CheckStarts(chunk, entries));
  }
  const bool zero = !facts_.definition || facts_.definition->IsAllZero(buffers.definition);
  has_definition_ = !zero || !levels_.definition.empty();
  if (!has_definition_) return arrow::Status::OK();
  levels_.definition.resize(before + entries);
  if (zero) return arrow::Status::OK();
  const auto levels = std::span(levels_.definition).subspan(before);
  ARROW_RETURN_NOT_OK(
      facts_.definition->Decode(buffers.definition, entries, BytesOf(levels), &level_scratch_));
  return CheckLevels(levels, facts_.limits.max_def, "definition");
}

arrow::Status MiniBlockNestedRead::CheckStarts(size_t chunk, uint64_t entries) const {
  const auto levels = std::span(levels_.repetition).last(entries);
  const uint64_t expected = FirstRow(chunk + 1) - FirstRow(chunk);
  const uint64_t found = CountEqual(levels, facts_.limits.max_rep);
  if (found != expected) {
    return Corrupt("",
                   "another number of rows begin in a chunk than its page's index says: "
                   "expected ",
                   expected, ", found ", found);
  }
  const bool inside = entries > 0 && levels[0] != facts_.limits.max_rep;
  if (inside != fetch_.state().index->starts_inside(chunk)) {
    return Corrupt("", "a chunk starts ", inside ? "inside" : "with",
                   " a row, other than its page's index says: chunk ", chunk);
  }
  return arrow::Status::OK();
}

void MiniBlockNestedRead::TakeRows(size_t chunk, std::span<const uint8_t> bytes, uint64_t entries) {
  const uint64_t before = levels_.entries;
  const uint64_t first = FirstRow(chunk), end = FirstRow(chunk + 1);
  const bool last_goes_on = fetch_.state().index && fetch_.state().index->starts_inside(chunk + 1);
  const auto tail = [&](const std::vector<uint16_t>& levels) {
    return levels.empty() ? std::span<const uint16_t>() : std::span(levels).subspan(before);
  };
  EntryCursor cursor(facts_.limits, tail(levels_.repetition), tail(levels_.definition), entries);
  uint64_t kept = 0;
  while (row_run_ < rows_.size() && rows_[row_run_].first < end) {
    const PageRows& rows = rows_[row_run_];
    const uint64_t rows_end = rows.first + rows.count;
    // A run that began in an earlier chunk goes on with this one's first entry.
    if (rows.first >= first) cursor.SeekRow(rows.first - first);
    const uint64_t entry = cursor.entry(), value = cursor.values();
    if (rows_end < end) {
      cursor.SeekRow(rows_end - first);
    } else {
      cursor.SeekEnd();
    }
    const uint64_t count = cursor.entry() - entry;
    if (facts_.repetition) MoveLevels(&levels_.repetition, before + entry, count, before + kept);
    if (has_definition_) MoveLevels(&levels_.definition, before + entry, count, before + kept);
    kept += count;
    if (cursor.values() > value) {
      runs_.push_back({bytes, chunk, value, cursor.values() - value});
      levels_.values += cursor.values() - value;
    }
    if (rows_end > end || (rows_end == end && last_goes_on)) break;
    ++row_run_;
  }
  levels_.entries += kept;
  if (facts_.repetition) levels_.repetition.resize(levels_.entries);
  if (has_definition_) levels_.definition.resize(levels_.entries);
}

arrow::Status MiniBlockNestedRead::ReadValues(uint64_t slot, ColumnOutput* out) {
  const std::optional<DictionaryItems>& items = fetch_.state().dictionary;
  const DictionaryItems* const dictionary = items ? &*items : nullptr;
  MiniBlockChunk buffers;
  ChunkScratch scratch;
  size_t open = SIZE_MAX;
  for (const ValueRun& run : runs_) {
    if (run.chunk != open) {
      ARROW_ASSIGN_OR_RAISE(buffers, decoder_.ParseChunk(run.bytes));
      scratch.has_values = false;
      open = run.chunk;
    }
    const uint64_t values =
        fetch_.state().directory.first(run.chunk + 1) - fetch_.state().directory.first(run.chunk);
    ARROW_RETURN_NOT_OK(facts_.values.Write({buffers.values.data(), facts_.values.num_buffers()},
                                            values, run.first, run.count, slot, dictionary,
                                            &scratch, out));
    slot += run.count;
  }
  return arrow::Status::OK();
}

}  // namespace pennon::encoding
