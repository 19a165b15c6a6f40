#include "pennon/read/take.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/thread_pool.h>

#include "pennon/error.h"
#include "pennon/read/fragment_reader.h"
#include "pennon/read/gather.h"
#include "pennon/read/read_plan.h"
#include "pennon/read/task_queue.h"

namespace pennon::read {
namespace {

using Fragments = std::vector<table::Fragment>;

// The asked rows of one fragment, ascending, each once.
struct FragmentRows {
  std::shared_ptr<const FragmentReader> reader;
  std::vector<uint32_t> offsets;
};

// Groups rows by fragment and gives, for each asked row, its place among the fetched ones.
arrow::Result<std::vector<FragmentRows>> GroupRows(const std::shared_ptr<const Snapshot>& snapshot,
                                                   std::span<const RowPlace> rows,
                                                   std::vector<FetchedPlace>* places) {
  struct Asked {
    uint64_t key;
    uint32_t row;
    bool operator<(const Asked& other) const { return key < other.key; }
  };
  std::vector<Asked> order(rows.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = {uint64_t{rows[i].fragment} << 32 | rows[i].offset, i};
  if (!std::is_sorted(order.begin(), order.end())) std::sort(order.begin(), order.end());
  std::vector<FragmentRows> groups;
  places->resize(rows.size());
  size_t fragment = SIZE_MAX;
  for (const Asked& asked : order) {
    const RowPlace& row = rows[asked.row];
    if (row.fragment != fragment) {
      fragment = row.fragment;
      FragmentRows group;
      ARROW_ASSIGN_OR_RAISE(
          group.reader, FragmentReader::Open(snapshot, snapshot->manifest->fragments()[fragment]));
      groups.push_back(std::move(group));
    }
    std::vector<uint32_t>& offsets = groups.back().offsets;
    if (offsets.empty() || offsets.back() != row.offset) offsets.push_back(row.offset);
    (*places)[asked.row] = {static_cast<uint32_t>(groups.size() - 1),
                            static_cast<uint32_t>(offsets.size() - 1)};
  }
  return groups;
}

// Reads every column of every group and puts its rows in the order asked, in parallel.
class Fetcher {
 public:
  Fetcher(const Snapshot& snapshot, const ReadPlan& plan, const std::vector<FragmentRows>& groups,
          std::span<const FetchedPlace> places)
      : snapshot_(snapshot), plan_(plan), groups_(groups), places_(places) {
    for (size_t i = 0; i < plan.columns.size(); ++i) columns_.emplace_back(groups.size());
  }

  arrow::Result<std::vector<std::shared_ptr<arrow::ArrayData>>> Fetch() {
    arrow::internal::Executor* executor = snapshot_.context.executor
                                              ? snapshot_.context.executor
                                              : arrow::internal::GetCpuThreadPool();
    const size_t tasks = columns_.size() * groups_.size();
    auto queue = TaskQueue::Make(tasks > 1 ? executor : nullptr);
    unfinished_ = columns_.size();
    for (size_t column = 0; column < columns_.size(); ++column) {
      for (size_t group = 0; group < groups_.size(); ++group) {
        queue->Submit([this, column, group] { Run(column, group); });
      }
    }
    const arrow::Status ran = queue->WaitFor([&] { return unfinished_.load() == 0; });
    queue->Stop();
    ARROW_RETURN_NOT_OK(ran);
    ARROW_RETURN_NOT_OK(first_error_);
    std::vector<std::shared_ptr<arrow::ArrayData>> result;
    for (OneColumn& column : columns_) result.push_back(std::move(column.gathered));
    return result;
  }

 private:
  struct OneColumn {
    explicit OneColumn(size_t groups) : parts(groups), unread(groups) {}
    arrow::ArrayVector parts;  ///< one a group
    std::atomic<size_t> unread;
    std::shared_ptr<arrow::ArrayData> gathered;
  };

  void Run(size_t column, size_t group) {
    OneColumn& one = columns_[column];
    Note(Read(column, group));
    // Whoever reads the last group of a column gathers it.
    if (one.unread.fetch_sub(1) != 1) return;
    if (!failed_.load()) {
      Note(Gather(one.parts, places_, snapshot_.context.pool).Value(&one.gathered));
      one.parts.clear();
    }
    unfinished_.fetch_sub(1);
  }

  void Note(arrow::Status status) {
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    failed_.store(true);
    if (first_error_.ok()) first_error_ = std::move(status);
  }

  arrow::Status Read(size_t column, size_t group) {
    if (failed_.load()) return arrow::Status::OK();
    const FragmentRows& rows = groups_[group];
    ARROW_ASSIGN_OR_RAISE(auto reader, rows.reader->OpenColumn(plan_.columns[column]));
    ARROW_ASSIGN_OR_RAISE(auto data, reader->ReadRows(rows.offsets));
    columns_[column].parts[group] = arrow::MakeArray(data);
    return arrow::Status::OK();
  }

  const Snapshot& snapshot_;
  const ReadPlan& plan_;
  const std::vector<FragmentRows>& groups_;
  const std::span<const FetchedPlace> places_;
  std::deque<OneColumn> columns_;
  std::atomic<size_t> unfinished_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  arrow::Status first_error_;
};

// Live rows before each fragment, and in all at the end.
arrow::Result<std::vector<uint64_t>> LiveStarts(const std::shared_ptr<const Snapshot>& snapshot) {
  std::vector<uint64_t> starts = {0};
  for (const table::Fragment& fragment : snapshot->manifest->fragments()) {
    ARROW_ASSIGN_OR_RAISE(uint64_t live, CountLiveRows(snapshot, fragment));
    starts.push_back(starts.back() + live);
  }
  return starts;
}

}  // namespace

arrow::Result<std::vector<RowPlace>> FindPositions(const std::shared_ptr<const Snapshot>& snapshot,
                                                   std::span<const int64_t> positions) {
  ARROW_ASSIGN_OR_RAISE(std::vector<uint64_t> starts, LiveStarts(snapshot));
  const Fragments& fragments = snapshot->manifest->fragments();
  std::vector<std::shared_ptr<const FragmentReader>> readers(fragments.size());
  std::vector<RowPlace> rows;
  rows.reserve(positions.size());
  for (int64_t position : positions) {
    if (position < 0 || static_cast<uint64_t>(position) >= starts.back()) {
      return InvalidInput("row position is out of range: ", position, ", the table has ",
                          starts.back(), " rows in version ", snapshot->manifest->version());
    }
    uint64_t at = static_cast<uint64_t>(position);
    size_t fragment =
        static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin()) -
        1;
    if (readers[fragment] == nullptr) {
      ARROW_ASSIGN_OR_RAISE(readers[fragment], FragmentReader::Open(snapshot, fragments[fragment]));
      // The manifest's count decided where the fragment starts; it must be true.
      if (readers[fragment]->live_rows() != starts[fragment + 1] - starts[fragment]) {
        return Corrupt(snapshot->manifest->path(),
                       "fragment has not as many live rows as its manifest says: fragment ",
                       fragments[fragment].id, ", ", readers[fragment]->live_rows(), ", expected ",
                       starts[fragment + 1] - starts[fragment]);
      }
    }
    rows.push_back(
        {fragment, static_cast<uint32_t>(readers[fragment]->LiveOffset(at - starts[fragment]))});
  }
  return rows;
}

arrow::Result<std::vector<RowPlace>> FindAddresses(const std::shared_ptr<const Snapshot>& snapshot,
                                                   std::span<const uint64_t> addresses,
                                                   bool skip_missing) {
  const Fragments& fragments = snapshot->manifest->fragments();
  std::unordered_map<uint64_t, size_t> by_id;
  for (size_t i = 0; i < fragments.size(); ++i) by_id[fragments[i].id] = i;
  std::unordered_map<size_t, std::shared_ptr<const FragmentReader>> readers;
  std::vector<RowPlace> rows;
  for (uint64_t address : addresses) {
    auto found = by_id.find(address >> 32);
    bool lives = false;
    if (found != by_id.end()) {
      std::shared_ptr<const FragmentReader>& reader = readers[found->second];
      if (reader == nullptr) {
        ARROW_ASSIGN_OR_RAISE(reader, FragmentReader::Open(snapshot, fragments[found->second]));
      }
      uint32_t offset = static_cast<uint32_t>(address);
      lives = offset < reader->physical_rows() &&
              (reader->deletions() == nullptr || !reader->deletions()->set.Contains(offset));
    }
    if (lives) {
      rows.push_back({found->second, static_cast<uint32_t>(address)});
    } else if (!skip_missing) {
      return InvalidInput("no live row at this address: ", address, " (fragment ", address >> 32,
                          ", offset ", static_cast<uint32_t>(address), ")");
    }
  }
  return rows;
}

arrow::Result<std::vector<RowPlace>> FindRowIds(const std::shared_ptr<const Snapshot>& snapshot,
                                                std::span<const uint64_t> ids) {
  if (!snapshot->manifest->has_stable_row_ids())
    return FindAddresses(snapshot, ids, /*skip_missing=*/true);
  std::unordered_map<uint64_t, RowPlace> places;
  std::unordered_map<uint64_t, bool> asked;
  for (uint64_t id : ids) asked[id] = true;
  const Fragments& fragments = snapshot->manifest->fragments();
  Column column;
  ARROW_ASSIGN_OR_RAISE(column, FindColumn(*snapshot->manifest, kRowIdName));
  for (size_t i = 0; i < fragments.size() && places.size() < asked.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto reader, FragmentReader::Open(snapshot, fragments[i]));
    auto lives = [&](uint64_t offset) {
      return reader->deletions() == nullptr ||
             !reader->deletions()->set.Contains(static_cast<uint32_t>(offset));
    };
    auto add = [&](uint64_t id, uint64_t offset) {
      if (lives(offset)) places[id] = {i, static_cast<uint32_t>(offset)};
    };
    if (fragments[i].row_ids.kind == table::LineageSequence::Kind::kInline) {
      ARROW_ASSIGN_OR_RAISE(
          auto lineage, snapshot->results->LineageOf(*snapshot, fragments[i], fragments[i].row_ids,
                                                     true, reader->physical_rows()));
      const std::vector<uint64_t>& values = lineage->values;
      if (lineage->ascending) {
        for (const auto& [id, unused] : asked) {
          auto at = std::lower_bound(values.begin(), values.end(), id);
          if (at != values.end() && *at == id) add(id, static_cast<uint64_t>(at - values.begin()));
        }
        continue;
      }
      for (size_t offset = 0; offset < values.size(); ++offset) {
        if (asked.contains(values[offset])) add(values[offset], offset);
      }
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto column_reader, reader->OpenColumn(column));
    ARROW_ASSIGN_OR_RAISE(auto data, column_reader->ReadWindow(0, reader->physical_rows()));
    const uint64_t* values = data->GetValues<uint64_t>(1);
    for (uint64_t offset = 0; offset < reader->physical_rows(); ++offset) {
      if (asked.contains(values[offset])) add(values[offset], offset);
    }
  }
  std::vector<RowPlace> rows;
  for (uint64_t id : ids) {
    auto found = places.find(id);
    if (found != places.end()) rows.push_back(found->second);
  }
  return rows;
}

arrow::Result<std::shared_ptr<arrow::Table>> TakeRows(
    const std::shared_ptr<const Snapshot>& snapshot, std::span<const RowPlace> rows,
    const TakeOptions& options) {
  ARROW_ASSIGN_OR_RAISE(ReadPlan plan, PlanRead(*snapshot->manifest, options.columns, {},
                                                options.with_row_id, options.with_row_address));
  arrow::MemoryPool* pool = snapshot->context.pool;
  if (rows.empty()) return arrow::Table::MakeEmpty(plan.schema, pool);
  if (rows.size() > UINT32_MAX) {
    return InvalidInput("too many rows in one take: ", rows.size(), ", at most ", UINT32_MAX);
  }
  std::vector<FetchedPlace> places;
  ARROW_ASSIGN_OR_RAISE(std::vector<FragmentRows> groups, GroupRows(snapshot, rows, &places));
  ARROW_ASSIGN_OR_RAISE(auto columns, Fetcher(*snapshot, plan, groups, places).Fetch());
  const auto count = static_cast<int64_t>(rows.size());
  ARROW_ASSIGN_OR_RAISE(auto batch, plan.MakeOutput(columns, count, pool));
  return arrow::Table::FromRecordBatches(plan.schema, {batch});
}

}  // namespace pennon::read
