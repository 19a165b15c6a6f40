// Random small histories of overlays, updates, deletes and appends against a plain model of the
// table. Everything goes through the public interface but appends and deletes, which test-only
// operations stand in for.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

#include "pennon/commit/committer.h"
#include "pennon/commit/test_table.h"
#include "pennon/dataset.h"
#include "pennon/error.h"

namespace pennon {
namespace {

constexpr uint64_t kSeed = 20260117;
// A sanitizer build runs fewer (PENNON_HISTORIES).
int NumHistories() {
  const char* asked = std::getenv("PENNON_HISTORIES");
  return asked == nullptr ? 2500 : std::atoi(asked);
}
const char kRoot[] = "/history.lance";

struct Row {
  int64_t id = 0;
  std::optional<int32_t> v;
  std::optional<std::string> s;
  bool deleted = false;
  uint64_t created = 0;
  uint64_t updated = 0;
  uint64_t row_id = 0;
};

// The table as one version should be: every row of every fragment, deleted ones too.
using Model = std::map<uint64_t, std::vector<Row>>;

std::string Print(const Row& row, uint64_t address, bool row_ids) {
  std::string text = JoinParts(address, ": ", row.id, ",", row.v ? std::to_string(*row.v) : "NULL",
                               ",", row.s ? *row.s : "NULL");
  if (row_ids)
    text += JoinParts(" id ", row.row_id, " created ", row.created, " updated ", row.updated);
  return text;
}

std::vector<std::string> Print(const Model& model, bool row_ids) {
  std::vector<std::string> rows;
  for (const auto& [fragment, cells] : model) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].deleted) rows.push_back(Print(cells[i], fragment << 32 | i, row_ids));
    }
  }
  return rows;
}

// The rows of a table read with the columns id, v, s, _rowaddr and, if `row_ids`, the row id and
// both row versions.
std::vector<std::string> Print(const arrow::Table& table, bool row_ids) {
  std::vector<std::string> rows;
  arrow::TableBatchReader reader(table);
  std::shared_ptr<arrow::RecordBatch> batch;
  while (reader.ReadNext(&batch).ok() && batch != nullptr) {
    const auto& ids = static_cast<const arrow::Int64Array&>(*batch->GetColumnByName("id"));
    const auto& vs = static_cast<const arrow::Int32Array&>(*batch->GetColumnByName("v"));
    const auto& texts = static_cast<const arrow::StringArray&>(*batch->GetColumnByName("s"));
    const auto word = [&batch](const char* name, int64_t i) {
      return static_cast<const arrow::UInt64Array&>(*batch->GetColumnByName(name)).Value(i);
    };
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      Row row;
      row.id = ids.Value(i);
      if (vs.IsValid(i)) row.v = vs.Value(i);
      if (texts.IsValid(i)) row.s = texts.GetString(i);
      if (row_ids) {
        row.row_id = word("_rowid", i);
        row.created = word("_row_created_at_version", i);
        row.updated = word("_row_last_updated_at_version", i);
      }
      rows.push_back(Print(row, word("_rowaddr", i), row_ids));
    }
  }
  return rows;
}

template <typename Builder, typename Get>
std::shared_ptr<arrow::Array> Build(const std::vector<Row>& rows, Get get) {
  Builder builder;
  for (const Row& row : rows) {
    const auto value = get(row);
    EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  }
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> Vs(const std::vector<Row>& rows) {
  return Build<arrow::Int32Builder>(rows, [](const Row& row) { return row.v; });
}
std::shared_ptr<arrow::Array> Texts(const std::vector<Row>& rows) {
  return Build<arrow::StringBuilder>(rows, [](const Row& row) { return row.s; });
}

class History {
 public:
  explicit History(uint64_t number) : chance_(kSeed + number) {
    static const char* kVersions[] = {"2.0", "2.1", "2.2"};
    location_ = {MakeMemoryStore(), kRoot};
    row_ids_ = Below(2) == 0;
    const auto schema =
        arrow::schema({arrow::field("id", arrow::int64(), false), arrow::field("v", arrow::int32()),
                       arrow::field("s", arrow::utf8())});
    commit::TestTableOptions options;
    options.data_version = kVersions[Below(3)];
    options.stable_row_ids = row_ids_;
    options.naming = Below(4) == 0 ? table::ManifestNaming::kV1 : table::ManifestNaming::kV2;
    EXPECT_TRUE(commit::CreateTestTable(location_, *schema, {}, options).ok());
    Opened();
  }

  void Run() {
    Append();
    const uint64_t steps = 2 + Below(6);
    for (uint64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      const uint64_t kind = Below(10);
      if (kind < 5) {
        Overlay();
      } else if (kind < 7) {
        Update();
      } else if (kind < 9) {
        Delete();
      } else {
        Append();
      }
      CheckNewest();
    }
    for (size_t version = 1; version <= models_.size() && !testing::Test::HasFailure(); ++version) {
      CheckScan(*datasets_.back().Checkout(version), models_[version - 1]);
    }
  }

  const std::string& log() const { return log_; }
  uint64_t commits() const { return models_.size() - 1; }
  uint64_t refused() const { return refused_; }
  uint64_t rebased() const { return rebased_; }

 private:
  uint64_t Below(uint64_t bound) {
    return std::uniform_int_distribution<uint64_t>(0, bound - 1)(chance_);
  }

  uint64_t newest() const { return models_.size(); }
  const Model& model() const { return models_.back(); }

  // Opens the newest version afresh, as another process would.
  void Opened() {
    OpenOptions options;
    options.context.store = location_.store;
    auto opened = Dataset::Open(kRoot, options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    datasets_.push_back(*opened);
    if (models_.empty()) models_.emplace_back();
    ASSERT_EQ(opened->version(), newest());
  }

  Row RandomRow() {
    Row row;
    row.id = next_id_++;
    FillCells(&row);
    return row;
  }

  void FillCells(Row* row) {
    row->v =
        Below(5) == 0 ? std::nullopt : std::optional<int32_t>(static_cast<int32_t>(Below(100)));
    row->s = Below(5) == 0 ? std::nullopt
                           : std::optional<std::string>(std::string(Below(12), 'a' + Below(26)));
  }

  void Commit(std::shared_ptr<const commit::Operation> operation) {
    const auto newest = table::OpenManifest(location_, {}).ValueOrDie();
    auto outcome = commit::Commit({location_, newest, std::move(operation), {}});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
  }

  void Append() {
    Model next = model();
    std::vector<table::Fragment> fragments;
    const auto manifest = table::OpenManifest(location_, {}).ValueOrDie();
    const uint64_t count = 1 + Below(2);
    for (uint64_t f = 0; f < count; ++f) {
      std::vector<Row> rows(1 + Below(9));
      for (Row& row : rows) {
        row = RandomRow();
        row.created = row.updated = newest() + 1;
        row.row_id = next_row_id_++;
      }
      const auto ids =
          Build<arrow::Int64Builder>(rows, [](const Row& row) { return std::optional(row.id); });
      auto fragment = commit::WriteTestFragment(location_, *manifest, {ids, Vs(rows), Texts(rows)});
      ASSERT_TRUE(fragment.ok()) << fragment.status();
      fragments.push_back(*fragment);
      next[next_fragment_++] = std::move(rows);
    }
    Commit(std::make_shared<commit::TestAppend>(std::move(fragments)));
    log_ += JoinParts("append ", count, " fragments\n");
    models_.push_back(std::move(next));
    Opened();
  }

  void Delete() {
    Model next = model();
    if (next.empty()) return;
    std::map<uint64_t, Bitmap> rows;
    const uint64_t odds = Below(6) == 0 ? 1 : 2 + Below(6);  // sometimes all of a fragment
    for (auto& [fragment, cells] : next) {
      if (Below(2) == 0) continue;
      Bitmap chosen;
      for (uint32_t i = 0; i < cells.size(); ++i) {
        if (!cells[i].deleted && Below(odds) == 0) chosen.Add(i);
      }
      if (!chosen.empty()) rows[fragment] = chosen;
    }
    if (rows.empty()) return;
    Commit(std::make_shared<commit::TestDelete>(rows));
    for (const auto& [fragment, chosen] : rows) {
      log_ += JoinParts("delete ", chosen.cardinality(), " of fragment ", fragment, "\n");
      bool alive = false;
      for (uint32_t i = 0; i < next[fragment].size(); ++i) {
        next[fragment][i].deleted |= chosen.Contains(i);
        alive |= !next[fragment][i].deleted;
      }
      if (!alive) next.erase(fragment);
    }
    models_.push_back(std::move(next));
    Opened();
  }

  // Random offsets of a fragment in random order, deleted rows too.
  std::vector<uint32_t> RandomOffsets(size_t rows) {
    std::vector<uint32_t> offsets;
    const uint64_t odds = 1 + Below(4);
    for (uint32_t i = 0; i < rows; ++i) {
      if (Below(odds) == 0) offsets.push_back(i);
    }
    if (Below(2) == 0) std::shuffle(offsets.begin(), offsets.end(), chance_);
    return offsets;
  }

  // From the newest handle or an older one; dense, sparse, or of one column.
  void Overlay() {
    const uint64_t read = Below(2) == 0 ? newest() : 1 + Below(newest());
    const Model& seen = models_[read - 1];
    if (seen.empty()) return;
    auto entry = seen.begin();
    std::advance(entry, Below(seen.size()));
    const uint64_t fragment = entry->first;
    const size_t rows = entry->second.size();
    Model next = model();
    const bool alive = next.contains(fragment);
    const uint64_t shape = Below(4);  // v, s, both alike, both apart
    std::vector<uint32_t> offsets = RandomOffsets(rows);
    std::vector<OverlayColumn> columns;
    std::set<uint32_t> covered;
    for (const char* name : {"v", "s"}) {
      const bool is_v = name[0] == 'v';
      if ((shape == 0 && !is_v) || (shape == 1 && is_v)) continue;
      if (shape == 3 && !is_v) offsets = RandomOffsets(rows);
      std::vector<Row> values(offsets.size());
      for (Row& value : values) FillCells(&value);
      columns.push_back({name, offsets, is_v ? Vs(values) : Texts(values)});
      covered.insert(offsets.begin(), offsets.end());
      for (size_t i = 0; i < offsets.size() && alive; ++i) {
        Row& row = next[fragment][offsets[i]];
        if (is_v) {
          row.v = values[i].v;
        } else {
          row.s = values[i].s;
        }
        row.updated = newest() + 1;
      }
    }
    log_ += JoinParts("overlay shape ", shape, " on fragment ", fragment, " read ", read,
                      " covers ", covered.size(), alive ? "\n" : " (gone)\n");
    auto committed = datasets_[read - 1].WriteOverlay(fragment, columns);
    if (covered.empty()) {
      ASSERT_TRUE(committed.ok()) << committed.status();
      EXPECT_EQ(committed->info.version, read);
      return;
    }
    if (!alive) {
      ASSERT_FALSE(committed.ok());
      ASSERT_NE(GetErrorDetail(committed.status()), nullptr) << committed.status();
      EXPECT_EQ(GetErrorDetail(committed.status())->kind(), ErrorKind::kCommitConflict);
      ++refused_;
      return;
    }
    ASSERT_TRUE(committed.ok()) << committed.status();
    EXPECT_EQ(committed->info.version, newest() + 1);
    EXPECT_EQ(committed->info.rows, covered.size());
    rebased_ += read < newest() ? 1 : 0;
    models_.push_back(std::move(next));
    CheckScan(committed->dataset, model());  // the handle that the write gave
    Opened();
  }

  void Update() {
    Model next = model();
    const int64_t modulus = 1 + static_cast<int64_t>(Below(5));
    const int64_t rest = static_cast<int64_t>(Below(modulus));
    const int32_t limit = static_cast<int32_t>(Below(100));
    uint64_t matched = 0;
    for (auto& [fragment, cells] : next) {
      for (Row& row : cells) {
        if (row.deleted || row.id % modulus != rest || (row.v && *row.v >= limit)) continue;
        if (!row.v) continue;  // NULL < limit is not true
        ++matched;
        row.v = *row.v + 1;
        row.s = std::string("u");
        row.updated = newest() + 1;
      }
    }
    UpdateOptions options;
    options.set = {{"v", "v + 1"}, {"s", "'u'"}};
    options.where = JoinParts("id % ", modulus, " = ", rest, " AND v < ", limit);
    log_ += "update where " + options.where.sql + "\n";
    auto committed = datasets_.back().Update(options);
    ASSERT_TRUE(committed.ok()) << committed.status();
    EXPECT_EQ(committed->info.rows, matched);
    EXPECT_EQ(committed->info.cells, matched * 2);
    EXPECT_EQ(committed->info.version, matched == 0 ? newest() : newest() + 1);
    if (matched == 0) return;
    models_.push_back(std::move(next));
    Opened();
  }

  Columns AllColumns() const {
    Columns columns = {"id", "v", "s", "_rowaddr"};
    if (row_ids_) {
      columns.list.insert(columns.list.end(),
                          {"_rowid", "_row_created_at_version", "_row_last_updated_at_version"});
    }
    return columns;
  }

  void CheckScan(const Dataset& dataset, const Model& expected) {
    ScanOptions options;
    options.columns = AllColumns();
    options.batch_size = 1 + static_cast<int64_t>(Below(8));
    auto table = dataset.ToTable(options);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(Print(**table, row_ids_), Print(expected, row_ids_))
        << "version " << dataset.version();
  }

  void CheckNewest() {
    const Dataset& dataset = datasets_.back();
    CheckScan(dataset, model());
    const std::vector<std::string> rows = Print(model(), row_ids_);
    EXPECT_EQ(dataset.CountRows().ValueOrDie(), static_cast<int64_t>(rows.size()));
    if (rows.empty()) return;
    std::vector<int64_t> positions(1 + Below(5));
    std::vector<std::string> expected;
    for (int64_t& position : positions) {
      position = static_cast<int64_t>(Below(rows.size()));
      expected.push_back(rows[position]);
    }
    auto taken = dataset.Take(positions, {.columns = AllColumns()});
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(Print(**taken, row_ids_), expected);
  }

  std::mt19937_64 chance_;
  table::TableLocation location_;
  bool row_ids_ = false;
  std::vector<Model> models_;      // of version 1, 2, ...
  std::vector<Dataset> datasets_;  // likewise
  int64_t next_id_ = 0;
  uint64_t next_fragment_ = 0;
  uint64_t next_row_id_ = 0;
  uint64_t refused_ = 0;
  uint64_t rebased_ = 0;
  std::string log_;
};

TEST(HistoryTest, AgreesWithThePlainModel) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const int histories = NumHistories();
  ASSERT_GT(histories, 0);
  std::printf("%d random histories, seed %llu\n", histories,
              static_cast<unsigned long long>(kSeed));
  uint64_t commits = 0;
  uint64_t rebased = 0;
  uint64_t refused = 0;
  for (int number = 0; number < histories && !HasFailure(); ++number) {
    History history(number);
    history.Run();
    commits += history.commits();
    rebased += history.rebased();
    refused += history.refused();
    if (HasFailure()) std::printf("history %d:\n%s", number, history.log().c_str());
  }
  std::printf("%llu commits, %llu overlays rebased over newer versions, %llu refused\n",
              static_cast<unsigned long long>(commits), static_cast<unsigned long long>(rebased),
              static_cast<unsigned long long>(refused));
  EXPECT_GT(rebased, 0u);
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace pennon
