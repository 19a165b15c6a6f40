// Tables for tests, without a data writer: a first version by hand, and the operations append and
// delete in their simplest form. Not part of the library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "pennon/base/bitmap.h"
#include "pennon/commit/operation.h"
#include "pennon/table/layout.h"

namespace pennon::commit {

struct TestTableOptions {
  std::string data_version = "2.1";
  bool stable_row_ids = false;
  table::ManifestNaming naming = table::ManifestNaming::kV2;
  std::string more_manifest_fields;  ///< bytes appended to the Manifest message
};

/// Writes version 1 of a table with `fragments` (DataFragment messages, ascending ids) and opens
/// it.
arrow::Result<std::shared_ptr<const table::Manifest>> CreateTestTable(
    const table::TableLocation& table, const arrow::Schema& schema,
    const std::vector<std::string>& fragments, const TestTableOptions& options = {});

/// A fragment of `rows` rows without any data file that could be read: for tests of manifests
/// alone.
table::Fragment TestFragment(uint64_t id, uint64_t rows, std::vector<int32_t> fields);

/// Writes one data file with all columns of the table, one array each, and describes it as a
/// fragment to append.
arrow::Result<table::Fragment> WriteTestFragment(
    const table::TableLocation& table, const table::Manifest& manifest,
    const std::vector<std::shared_ptr<arrow::Array>>& columns);

/// Adds fragments; ids, row ids and row versions are assigned at commit.
class TestAppend : public Operation {
 public:
  explicit TestAppend(std::vector<table::Fragment> fragments) : fragments_(std::move(fragments)) {}

  OperationKind kind() const override { return OperationKind::kAppend; }
  std::string EncodeMessage() const override;
  arrow::Status CheckAgainst(const NewerVersion& newer) const override;
  arrow::Result<table::ManifestEdit> Apply(const table::TableLocation& table,
                                           const table::Manifest& current,
                                           uint64_t version) const override;

 private:
  std::vector<table::Fragment> fragments_;
};

/// Deletes rows by offset: writes the deletion file of each fragment when it applies. A fragment
/// without live rows is removed, as every writer does.
class TestDelete : public Operation {
 public:
  explicit TestDelete(std::map<uint64_t, Bitmap> rows) : rows_(std::move(rows)) {}

  OperationKind kind() const override { return OperationKind::kDelete; }
  std::string EncodeMessage() const override;
  arrow::Status CheckAgainst(const NewerVersion& newer) const override;
  arrow::Result<table::ManifestEdit> Apply(const table::TableLocation& table,
                                           const table::Manifest& current,
                                           uint64_t version) const override;

 private:
  std::map<uint64_t, Bitmap> rows_;
};

/// Any other operation, for conflicts: commits `message` under `kind` and changes what `edit` says.
class TestOperation : public Operation {
 public:
  TestOperation(OperationKind kind, std::string message, table::ManifestEdit edit = {})
      : kind_(kind), message_(std::move(message)), edit_(std::move(edit)) {}

  OperationKind kind() const override { return kind_; }
  std::string EncodeMessage() const override { return message_; }
  arrow::Status CheckAgainst(const NewerVersion&) const override { return arrow::Status::OK(); }
  arrow::Result<table::ManifestEdit> Apply(const table::TableLocation&, const table::Manifest&,
                                           uint64_t) const override {
    return edit_;
  }

 private:
  OperationKind kind_;
  std::string message_;
  table::ManifestEdit edit_;
};

}  // namespace pennon::commit
