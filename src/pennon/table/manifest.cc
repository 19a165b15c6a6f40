#include "pennon/table/manifest.h"

#include <algorithm>
#include <array>
#include <limits>

#include "pennon/error.h"
#include "pennon/schema/field_tree.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/wire/field_message.h"
#include "pennon/wire/manifest_fields.h"
#include "pennon/wire/manifest_file.h"
#include "pennon/wire/message_reader.h"

namespace pennon::table {
namespace {

using wire::kBytes;
using wire::kVarint;
using wire::pbf_reader;
using wire::ReaderOf;
using wire::Tag;
using wire::ViewOf;
namespace tag = wire::manifest;

/// `bits` as "bit 40 (value 1099511627776), bit 41 (...)".
std::string NameBits(uint64_t bits) {
  std::string out;
  for (int bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    if (!out.empty()) out += ", ";
    out += JoinParts("bit ", bit, " (value ", uint64_t{1} << bit, ")");
  }
  return out;
}

/// Seconds and nanoseconds since the epoch as nanoseconds, held to what int64 can say.
int64_t ReadTimestamp(std::string_view bytes) {
  int64_t seconds = 0;
  int64_t nanos = 0;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::timestamp::kSeconds, kVarint):
        seconds = reader.get_int64();
        break;
      case Tag(wire::timestamp::kNanos, kVarint):
        nanos = reader.get_int32();
        break;
      default:
        reader.skip();
    }
  }
  constexpr int64_t kMaxSeconds = std::numeric_limits<int64_t>::max() / 1'000'000'000 - 3;
  return std::clamp(seconds, -kMaxSeconds, kMaxSeconds) * 1'000'000'000 + nanos;
}

std::string ReadDataVersion(std::string_view bytes) {
  std::string version;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    if (static_cast<uint32_t>(reader.tag_and_type()) == Tag(wire::data_format::kVersion, kBytes)) {
      version = ViewOf(reader);
    } else {
      reader.skip();
    }
  }
  return version;
}

BasePath ReadBasePath(std::string_view bytes) {
  BasePath base;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::base_path::kId, kVarint):
        base.id = reader.get_uint32();
        break;
      case Tag(wire::base_path::kName, kBytes):
        base.name = ViewOf(reader);
        break;
      case Tag(wire::base_path::kIsDatasetRoot, kVarint):
        base.is_dataset_root = reader.get_bool();
        break;
      case Tag(wire::base_path::kPath, kBytes):
        base.path = ViewOf(reader);
        break;
      default:
        reader.skip();
    }
  }
  return base;
}

}  // namespace

/// Fills a Manifest from the bytes of its file, and checks what one manifest shows on its own.
class ManifestParser {
 public:
  ManifestParser(std::shared_ptr<arrow::Buffer> file, std::string path)
      : manifest_(new Manifest()) {
    manifest_->file_ = std::move(file);
    manifest_->path_ = std::move(path);
  }

  arrow::Result<std::shared_ptr<const Manifest>> Parse() {
    Manifest& m = *manifest_;
    const std::string_view bytes(reinterpret_cast<const char*>(m.file_->data()),
                                 static_cast<size_t>(m.file_->size()));
    ARROW_ASSIGN_OR_RAISE(m.message_, wire::FindManifestMessage(bytes, m.path_));
    ARROW_RETURN_NOT_OK(wire::Decode(m.path_, "manifest", [&] { return ReadTopLevel(); }));
    // Flags first: whatever else a manifest with an unknown one says may mean something else.
    ARROW_RETURN_NOT_OK(CheckFlags());
    ARROW_RETURN_NOT_OK(ParseSchema());
    ARROW_RETURN_NOT_OK(ParseFragments());
    ARROW_RETURN_NOT_OK(SettleDataVersion());
    if (index_section_) {
      ARROW_ASSIGN_OR_RAISE(m.index_section_,
                            wire::SectionAt(bytes, *index_section_, "index section", m.path_));
    }
    // A transaction that cannot be read must not keep the version from opening.
    if (const auto& offset =
            transaction_section_ ? transaction_section_ : old_transaction_section_) {
      m.inline_transaction_ = wire::SectionAt(bytes, *offset, "inline transaction", m.path_)
                                  .ValueOr(std::string_view());
    }
    return std::shared_ptr<const Manifest>(std::move(manifest_));
  }

 private:
  arrow::Status ReadTopLevel() {
    pbf_reader reader = ReaderOf(manifest_->message_);
    while (reader.next()) ReadTopLevelField(reader);
    return arrow::Status::OK();
  }

  void ReadTopLevelField(pbf_reader& reader) {
    Manifest& m = *manifest_;
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(tag::kFields, kBytes):
        fields_.push_back(ViewOf(reader));
        break;
      case Tag(tag::kFragments, kBytes):
        fragments_.push_back(ViewOf(reader));
        break;
      case Tag(tag::kVersion, kVarint):
        m.version_ = reader.get_uint64();
        break;
      case Tag(tag::kSchemaMetadata, kBytes):
        AddEntry(reader, &schema_metadata_);
        break;
      case Tag(tag::kIndexSection, kVarint):
        index_section_ = reader.get_uint64();
        break;
      case Tag(tag::kTimestamp, kBytes):
        m.timestamp_ns_ = ReadTimestamp(ViewOf(reader));
        break;
      case Tag(tag::kReaderFlags, kVarint):
        m.reader_flags_ = reader.get_uint64();
        break;
      case Tag(tag::kWriterFlags, kVarint):
        m.writer_flags_ = reader.get_uint64();
        break;
      case Tag(tag::kMaxFragmentId, kVarint):
        m.max_fragment_id_ = reader.get_uint32();
        break;
      case Tag(tag::kTransactionFile, kBytes):
        m.transaction_file_ = ViewOf(reader);
        break;
      case Tag(tag::kNextRowId, kVarint):
        m.next_row_id_ = reader.get_uint64();
        break;
      case Tag(tag::kDataFormat, kBytes):
        m.data_version_ = ReadDataVersion(ViewOf(reader));
        has_data_format_ = true;
        break;
      case Tag(tag::kConfig, kBytes):
        AddEntry(reader, &m.config_);
        break;
      case Tag(tag::kTableMetadata, kBytes):
        AddEntry(reader, &m.table_metadata_);
        break;
      case Tag(tag::kBasePaths, kBytes):
        m.base_paths_.push_back(ReadBasePath(ViewOf(reader)));
        break;
      case Tag(tag::kBranch, kBytes):
        m.branch_ = ViewOf(reader);
        break;
      case Tag(tag::kTransactionSection, kVarint):
        transaction_section_ = reader.get_uint64();
        break;
      case Tag(tag::kOldTransactionSection, kVarint):
        old_transaction_section_ = reader.get_uint64();
        break;
      default:
        reader.skip();
    }
  }

  static void AddEntry(pbf_reader& reader, std::map<std::string, std::string>* map) {
    auto [key, value] = wire::MapEntryOf(reader);
    map->insert_or_assign(std::move(key), std::move(value));
  }

  arrow::Status CheckFlags() const {
    const Manifest& m = *manifest_;
    if (const uint64_t unknown = m.reader_flags_ & ~kReadableFlags; unknown != 0) {
      return Unsupported(
          m.path_, "The table needs a feature that this version of pennon does not read; a newer ",
          "one may. Reader feature flags not known: ", NameBits(unknown), ": ", m.path_);
    }
    constexpr uint64_t kPaired = kMixedVersionsFlag | kTaggedReuseIndexFlag | kManagedBlobsFlag;
    if (const uint64_t lone = (m.reader_flags_ ^ m.writer_flags_) & kPaired; lone != 0) {
      return Corrupt(m.path_,
                     "A feature flag is set for readers or writers only, and must be for both: ",
                     NameBits(lone), ": ", m.path_);
    }
    return arrow::Status::OK();
  }

  arrow::Status ParseSchema() {
    Manifest& m = *manifest_;
    std::vector<wire::FieldMessage> nodes;
    nodes.reserve(fields_.size());
    for (const std::string_view bytes : fields_) {
      ARROW_ASSIGN_OR_RAISE(auto node, wire::ParseFieldMessage(bytes, m.path_));
      nodes.push_back(std::move(node));
    }
    ARROW_ASSIGN_OR_RAISE(
        m.schema_, schema::BuildSchema(std::move(nodes), std::move(schema_metadata_), m.path_));
    return arrow::Status::OK();
  }

  arrow::Status ParseFragments() {
    Manifest& m = *manifest_;
    m.fragments_.reserve(fragments_.size());
    for (const std::string_view bytes : fragments_) {
      ARROW_ASSIGN_OR_RAISE(Fragment fragment, ParseFragment(bytes, m.path_));
      ARROW_RETURN_NOT_OK(CheckInTable(fragment));
      m.fragments_.push_back(std::move(fragment));
    }
    return arrow::Status::OK();
  }

  /// Checks `fragment` against the flags, the version and the fragment before it.
  arrow::Status CheckInTable(const Fragment& fragment) const {
    const Manifest& m = *manifest_;
    if (!m.fragments_.empty() && m.fragments_.back().id >= fragment.id) {
      return Corrupt(m.path_, "Fragment ids must be ascending and unique: ", fragment.id,
                     " stands after ", m.fragments_.back().id, ": ", m.path_);
    }
    if (m.has_stable_row_ids() && fragment.row_ids.kind == LineageSequence::Kind::kAbsent) {
      return Corrupt(
          m.path_,
          "The table has stable row ids (feature flag 2) but a fragment has none: fragment ",
          fragment.id, ": ", m.path_);
    }
    if (!fragment.overlays.empty() && (m.reader_flags_ & kOverlaysFlag) == 0) {
      return Corrupt(m.path_, "A fragment has overlays but feature flag 64 is not set: fragment ",
                     fragment.id, ": ", m.path_);
    }
    for (const OverlayFile& overlay : fragment.overlays) {
      if (overlay.committed_version == 0 || overlay.committed_version > m.version_) {
        return Corrupt(
            m.path_,
            "An overlay's committed_version must lie between 1 and the table's version: found ",
            overlay.committed_version, " in version ", m.version_, ", fragment ", fragment.id, ": ",
            m.path_);
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status SettleDataVersion() {
    Manifest& m = *manifest_;
    if (!has_data_format_) ARROW_RETURN_NOT_OK(InferDataVersion());
    constexpr std::array<std::string_view, 4> kKnown = {"2.0", "2.1", "2.2", "2.3"};
    if (std::find(kKnown.begin(), kKnown.end(), m.data_version_) == kKnown.end()) {
      return Unsupported(
          m.path_,
          "The table's data files have a version that pennon does not read: expected 2.0, ",
          "2.1 or 2.2, found ", m.data_version_, ": ", m.path_);
    }
    return arrow::Status::OK();
  }

  arrow::Status InferDataVersion() {
    Manifest& m = *manifest_;
    for (const Fragment& fragment : m.fragments_) {
      for (const DataFile& file : fragment.files) {
        const std::string version = file.StorageVersion();
        if (!m.data_version_.empty() && m.data_version_ != version) {
          return Corrupt(m.path_, "The manifest states no data format and its files differ: ",
                         m.data_version_, " and ", version, ": ", m.path_);
        }
        m.data_version_ = version;
      }
    }
    if (m.data_version_.empty())
      m.data_version_ = (m.writer_flags_ & kOldFilesHintFlag) != 0 ? "2.2" : "0.1";
    return arrow::Status::OK();
  }

  std::shared_ptr<Manifest> manifest_;
  std::vector<std::string_view> fields_;
  std::vector<std::string_view> fragments_;
  std::map<std::string, std::string> schema_metadata_;
  std::optional<uint64_t> index_section_;
  std::optional<uint64_t> transaction_section_;
  std::optional<uint64_t> old_transaction_section_;
  bool has_data_format_ = false;
};

arrow::Result<std::shared_ptr<const Manifest>> Manifest::Parse(std::shared_ptr<arrow::Buffer> file,
                                                               std::string path) {
  return ManifestParser(std::move(file), std::move(path)).Parse();
}

const Fragment* Manifest::FindFragment(uint64_t id) const {
  const auto at =
      std::lower_bound(fragments_.begin(), fragments_.end(), id,
                       [](const Fragment& fragment, uint64_t key) { return fragment.id < key; });
  return at != fragments_.end() && at->id == id ? &*at : nullptr;
}

uint64_t Manifest::num_live_rows() const {
  uint64_t rows = 0;
  for (const Fragment& fragment : fragments_) {
    rows += fragment.physical_rows - std::min(fragment.physical_rows, fragment.num_deleted_rows());
  }
  return rows;
}

arrow::Status CheckWritable(const Manifest& manifest) {
  if (const uint64_t unknown = manifest.writer_flags() & ~kWritableFlags; unknown != 0) {
    return Unsupported(
        manifest.path(),
        "The table has a feature that pennon must not write over; use a writer that ",
        "knows it. Writer feature flags not known: ", NameBits(unknown), ": ", manifest.path());
  }
  return arrow::Status::OK();
}

}  // namespace pennon::table
