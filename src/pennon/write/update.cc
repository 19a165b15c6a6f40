#include "pennon/write/update.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/expr/expression.h"
#include "pennon/read/column.h"
#include "pennon/read/read_plan.h"
#include "pennon/read/scan.h"
#include "pennon/schema/prune.h"

namespace pennon::write {
namespace {

constexpr uint64_t kMostPlans = 100;  // each lost to a commit that touched the same rows
constexpr std::chrono::seconds kPlanningBudget(30);

// One column to set.
struct Assignment {
  std::string name;
  OverlayTarget target;
  expr::Expression value;
};

// An update bound to one version.
struct Plan {
  std::vector<Assignment> assignments;
  ScanOptions scan;                  // gives the inputs of all assignments and _rowaddr
  std::vector<int32_t> read_fields;  // leaves that the new values or the choice of rows depend on
};

arrow::Status CheckStrategy(const table::Manifest& manifest, UpdateStrategy strategy) {
  if (strategy == UpdateStrategy::kAuto || strategy == UpdateStrategy::kOverlay)
    return arrow::Status::OK();
  return Unsupported(manifest.path(), "Update strategy is not there yet, use auto or overlay: ",
                     strategy == UpdateStrategy::kRewriteColumn ? "rewrite-column" : "move-rows");
}

arrow::Result<std::vector<Assignment>> BindAssignments(const table::Manifest& manifest,
                                                       const UpdateOptions& options) {
  if (options.set.empty())
    return InvalidInput("Update sets no column; give at least one, such as age = age + 1");
  arrow::FieldVector inputs;
  for (const read::Column& column : read::AllColumns(manifest))
    inputs.push_back(column.arrow_field);
  const arrow::Schema input_schema(inputs);
  std::vector<Assignment> assignments;
  for (const auto& [name, sql] : options.set) {
    ARROW_ASSIGN_OR_RAISE(const OverlayTarget target, FindOverlayField(manifest, name));
    const bool repeated = std::any_of(
        assignments.begin(), assignments.end(),
        [&target](const Assignment& other) { return other.target.field == target.field; });
    if (repeated) return InvalidInput("Column is set twice: ", name);
    ARROW_ASSIGN_OR_RAISE(
        auto value, expr::Expression::ParseSqlAs(sql, input_schema,
                                                 *ToArrowField(*target.field)->WithName(name)));
    assignments.push_back({name, target, std::move(value)});
  }
  return assignments;
}

arrow::Result<Plan> MakePlan(const read::Snapshot& snapshot, const UpdateOptions& options) {
  const table::Manifest& manifest = *snapshot.manifest;
  ARROW_RETURN_NOT_OK(CheckStrategy(manifest, options.strategy));
  ARROW_RETURN_NOT_OK(table::CheckWritable(manifest));
  Plan plan;
  ARROW_ASSIGN_OR_RAISE(plan.assignments, BindAssignments(manifest, options));
  std::vector<std::string> inputs = {std::string(read::kRowAddressName)};
  for (const Assignment& assignment : plan.assignments) {
    for (const std::string& name : assignment.value.columns()) {
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) inputs.push_back(name);
    }
  }
  plan.scan.columns = Columns(std::vector<Projection>(inputs.begin(), inputs.end()));
  plan.scan.where = options.where;
  ARROW_ASSIGN_OR_RAISE(const read::ReadPlan reads,
                        read::PlanRead(manifest, plan.scan.columns, plan.scan.where, false, false));
  for (const read::Column& column : reads.columns) {
    if (column.field != nullptr) AppendLeafIds(*column.field, &plan.read_fields);
  }
  // What is written for a field inside a struct depends on the struct's NULL-ness.
  for (const Assignment& assignment : plan.assignments) {
    const Field& top = *assignment.target.top;
    if (schema::IsPlainStruct(top)) AppendLeafIds(top, &plan.read_fields);
  }
  return plan;
}

// Collects the new cells of one fragment after the other and stores each as an overlay when it is
// complete.
class Collector {
 public:
  Collector(const std::shared_ptr<const read::Snapshot>& snapshot, const Plan& plan, bool dry_run,
            StagedFiles* staged)
      : snapshot_(snapshot),
        plan_(plan),
        dry_run_(dry_run),
        staged_(staged),
        values_(plan.assignments.size()) {}

  arrow::Status Add(const arrow::RecordBatch& batch) {
    const auto column = batch.GetColumnByName(std::string(read::kRowAddressName));
    const auto& addresses = static_cast<const arrow::UInt64Array&>(*column);
    arrow::ArrayVector values;
    for (const Assignment& assignment : plan_.assignments) {
      ARROW_ASSIGN_OR_RAISE(auto computed,
                            assignment.value.Evaluate(batch, snapshot_->context.pool));
      values.push_back(std::move(computed));
    }
    for (int64_t first = 0; first < addresses.length();) {
      const uint64_t fragment = addresses.Value(first) >> 32U;
      int64_t end = first + 1;
      while (end < addresses.length() && addresses.Value(end) >> 32U == fragment) ++end;
      if (fragment_ != fragment) {
        ARROW_RETURN_NOT_OK(Finish());
        fragment_ = fragment;
      }
      for (int64_t i = first; i < end; ++i)
        offsets_.push_back(static_cast<uint32_t>(addresses.Value(i)));
      for (size_t i = 0; i < values.size(); ++i)
        values_[i].push_back(values[i]->Slice(first, end - first));
      first = end;
    }
    return arrow::Status::OK();
  }

  // Stores the fragment collected last.
  arrow::Status Finish() {
    if (offsets_.empty()) return arrow::Status::OK();
    info_.rows += offsets_.size();
    info_.cells += offsets_.size() * values_.size();
    if (!dry_run_) {
      std::vector<OverlayColumn> columns;
      for (size_t i = 0; i < values_.size(); ++i) {
        ARROW_ASSIGN_OR_RAISE(auto joined, arrow::Concatenate(values_[i], snapshot_->context.pool));
        columns.push_back({plan_.assignments[i].name, offsets_, std::move(joined)});
      }
      ARROW_ASSIGN_OR_RAISE(auto overlay, WriteOverlayFile(snapshot_, *fragment_, columns));
      if (overlay) staged_->Add(std::move(*overlay));
    }
    offsets_.clear();
    for (arrow::ArrayVector& chunks : values_) chunks.clear();
    return arrow::Status::OK();
  }

  const CommitInfo& info() const { return info_; }

 private:
  const std::shared_ptr<const read::Snapshot>& snapshot_;
  const Plan& plan_;
  const bool dry_run_;
  StagedFiles* staged_;
  std::optional<uint64_t> fragment_;
  std::vector<uint32_t> offsets_;
  std::vector<arrow::ArrayVector> values_;  // chunks of each assignment
  CommitInfo info_;
};

arrow::Result<WriteResult> UpdateOnce(const std::shared_ptr<const read::Snapshot>& snapshot,
                                      const UpdateOptions& options,
                                      const commit::RetryPolicy& policy) {
  ARROW_ASSIGN_OR_RAISE(Plan plan, MakePlan(*snapshot, options));
  StagedFiles staged(snapshot->location);
  Collector collector(snapshot, plan, options.dry_run, &staged);
  ARROW_ASSIGN_OR_RAISE(auto reader, read::Scan(snapshot, plan.scan));
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(collector.Add(*batch));
  }
  ARROW_RETURN_NOT_OK(collector.Finish());
  if (staged.overlays().empty()) {
    WriteResult unchanged{collector.info(), snapshot};
    unchanged.info.version = snapshot->manifest->version();
    return unchanged;
  }
  return CommitOverlays(snapshot, staged, std::move(plan.read_fields), policy);
}

bool RetryHelps(const arrow::Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail != nullptr && detail->kind() == ErrorKind::kCommitConflict && detail->retry_helps();
}

}  // namespace

arrow::Result<WriteResult> Update(std::shared_ptr<const read::Snapshot> snapshot,
                                  const UpdateOptions& options, const commit::RetryPolicy& policy) {
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t plans = 1;; ++plans) {
    auto result = UpdateOnce(snapshot, options, policy);
    if (result.ok()) {
      result->info.attempts += plans - 1;
      return result;
    }
    const bool may_retry =
        plans < kMostPlans && std::chrono::steady_clock::now() - start < kPlanningBudget;
    if (!may_retry || !RetryHelps(result.status())) return result.status();
    ARROW_ASSIGN_OR_RAISE(snapshot, read::CheckoutSnapshot(*snapshot, std::nullopt));
  }
}

}  // namespace pennon::write
