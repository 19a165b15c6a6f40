// One version of a table as its manifest file describes it (format: table.md section 2).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "pennon/schema.h"
#include "pennon/table/fragment.h"

namespace pennon::table {

/// Another place that holds files of this table (shallow clones, branches).
struct BasePath {
  uint32_t id = 0;
  std::string name;
  bool is_dataset_root = false;
  std::string path;
};

/// Where a part of the manifest file lies, for writers that splice it unread.
struct ByteSpan {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// An immutable version. Views (string_view) point into the manifest's own bytes, which it keeps
/// alive.
///
/// Parsing checks everything but bitmaps: flags (2.5), field ids and parents, fragment ids, list
/// lengths, overlays without coverage or file. Coverage bitmaps stay bytes until a field is read.
class Manifest {
 public:
  /// Parses and checks a whole manifest file; `path` is for messages.
  static arrow::Result<std::shared_ptr<const Manifest>> Parse(std::shared_ptr<arrow::Buffer> file,
                                                              std::string path);

  const std::string& path() const { return path_; }
  uint64_t version() const { return version_; }
  const Schema& schema() const { return schema_; }
  /// Fragments in list order, ascending id.
  const std::vector<Fragment>& fragments() const { return fragments_; }
  /// The fragment with `id`, or null.
  const Fragment* FindFragment(uint64_t id) const;
  uint64_t reader_flags() const { return reader_flags_; }
  uint64_t writer_flags() const { return writer_flags_; }
  bool has_stable_row_ids() const { return (reader_flags_ & 2) != 0; }
  /// The default data file version: "2.0", "2.1", "2.2", or "2.3", whose data pennon refuses to
  /// read.
  const std::string& data_version() const { return data_version_; }
  std::optional<uint32_t> max_fragment_id() const { return max_fragment_id_; }
  uint64_t next_row_id() const { return next_row_id_; }
  /// Nanoseconds since the epoch, UTC.
  int64_t timestamp_ns() const { return timestamp_ns_; }
  /// File name inside _transactions/, or empty.
  const std::string& transaction_file() const { return transaction_file_; }
  /// The inline Transaction message (without its length), or empty.
  std::string_view inline_transaction() const { return inline_transaction_; }
  /// The IndexSection message (without its length), or empty.
  std::string_view index_section() const { return index_section_; }
  const std::vector<BasePath>& base_paths() const { return base_paths_; }
  const std::map<std::string, std::string>& config() const { return config_; }
  const std::map<std::string, std::string>& table_metadata() const { return table_metadata_; }
  std::string_view branch() const { return branch_; }
  /// Bytes of the whole manifest file.
  uint64_t file_bytes() const { return static_cast<uint64_t>(file_->size()); }
  /// The bytes of the Manifest message itself.
  std::string_view message() const { return message_; }

  /// Rows that are not deleted, by the manifest's own counts.
  uint64_t num_live_rows() const;

 private:
  friend class ManifestParser;  // fills the members; see manifest.cc
  Manifest() = default;

  std::shared_ptr<arrow::Buffer> file_;
  std::string path_;
  std::string_view message_;
  uint64_t version_ = 0;
  Schema schema_;
  std::vector<Fragment> fragments_;
  uint64_t reader_flags_ = 0;
  uint64_t writer_flags_ = 0;
  std::string data_version_;
  std::optional<uint32_t> max_fragment_id_;
  uint64_t next_row_id_ = 0;
  int64_t timestamp_ns_ = 0;
  std::string transaction_file_;
  std::string_view inline_transaction_;
  std::string_view index_section_;
  std::vector<BasePath> base_paths_;
  std::map<std::string, std::string> config_;
  std::map<std::string, std::string> table_metadata_;
  std::string_view branch_;
};

/// Feature flag bits (table.md 2.5). A set reader bit outside kReadableFlags refuses the table, a
/// set writer bit outside kWritableFlags refuses writes.
inline constexpr uint64_t kDeletionFilesFlag = 1;
inline constexpr uint64_t kStableRowIdsFlag = 2;
inline constexpr uint64_t kOldFilesHintFlag =
    4;  ///< "v2 files" where data_format is absent; not written
inline constexpr uint64_t kTableConfigFlag = 8;  ///< writer word only
inline constexpr uint64_t kBasePathsFlag = 16;
inline constexpr uint64_t kNoTransactionFilesFlag = 32;  ///< writer word only
inline constexpr uint64_t kOverlaysFlag = 64;
inline constexpr uint64_t kCoveringFieldsFlag = 128;
inline constexpr uint64_t kMixedVersionsFlag = 256;
inline constexpr uint64_t kTaggedReuseIndexFlag = 1024;
inline constexpr uint64_t kSpilledLineageFlag = 2048;
inline constexpr uint64_t kManagedBlobsFlag = 16384;
inline constexpr uint64_t kWritableFlags =
    kDeletionFilesFlag | kStableRowIdsFlag | kOldFilesHintFlag | kTableConfigFlag | kBasePathsFlag |
    kNoTransactionFilesFlag | kOverlaysFlag | kCoveringFieldsFlag | kMixedVersionsFlag |
    kSpilledLineageFlag;
/// With kTaggedReuseIndexFlag set, indexes whose bitmap names dead fragments must not be used.
inline constexpr uint64_t kReadableFlags =
    kWritableFlags | kTaggedReuseIndexFlag | kManagedBlobsFlag;

/// Fails with kUnsupported naming the bits if `manifest` has writer flags that pennon must not
/// write over.
arrow::Status CheckWritable(const Manifest& manifest);

}  // namespace pennon::table
