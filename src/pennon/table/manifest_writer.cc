#include "pennon/table/manifest_writer.h"

#include <algorithm>
#include <set>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/wire/fragment_fields.h"
#include "pennon/wire/manifest_fields.h"
#include "pennon/wire/manifest_file.h"
#include "pennon/wire/message_reader.h"

namespace pennon::table {
namespace {

namespace tag = wire::manifest;
using wire::kBytes;
using wire::kVarint;
using wire::pbf_reader;
using wire::ReaderOf;
using wire::Tag;

constexpr size_t kMostInlineTransaction = size_t{20} << 20;
constexpr char kLibrary[] = "pennon";
constexpr char kLibraryVersion[] = "0.1.0";

/// Calls `visit(number, raw)` for each field of `message`, raw being its tag and value as they
/// stand.
template <typename Visit>
void ForEachRawField(std::string_view message, Visit&& visit) {
  pbf_reader reader = ReaderOf(message);
  const char* start = message.data();
  while (reader.next()) {
    const uint32_t number = reader.tag();
    reader.skip();
    const char* end = message.data() + message.size() - reader.length();
    visit(number, std::string_view(start, static_cast<size_t>(end - start)));
    start = end;
  }
}

/// The fragments of the next version, in order of their ids.
struct NextFragments {
  std::vector<std::string_view> messages;
  std::optional<uint64_t> last_id;
  uint64_t flags = 0;  // those that the fragments alone decide
  bool mixed_versions = false;

  void Add(const Fragment& fragment, const std::string& data_version) {
    messages.push_back(fragment.bytes);
    last_id = fragment.id;
    if (fragment.deletion_file) flags |= kDeletionFilesFlag;
    if (!fragment.overlays.empty()) flags |= kOverlaysFlag;
    for (const LineageSequence* lineage :
         {&fragment.row_ids, &fragment.created_at, &fragment.last_updated_at}) {
      if (lineage->kind == LineageSequence::Kind::kColumn) flags |= kSpilledLineageFlag;
    }
    for (const DataFile& file : fragment.files)
      mixed_versions |= file.StorageVersion() != data_version;
    for (const OverlayFile& overlay : fragment.overlays) {
      mixed_versions |= overlay.data_file.StorageVersion() != data_version;
    }
  }
};

arrow::Result<NextFragments> CollectFragments(const Manifest& current, const ManifestEdit& edit) {
  std::set<uint64_t> removed(edit.removed_fragments.begin(), edit.removed_fragments.end());
  size_t replaced = 0;
  NextFragments next;
  next.messages.reserve(current.fragments().size() + edit.new_fragments.size());
  for (const Fragment& fragment : current.fragments()) {
    if (removed.erase(fragment.id) != 0) continue;
    const auto replacement = edit.replaced_fragments.find(fragment.id);
    if (replacement == edit.replaced_fragments.end()) {
      next.Add(fragment, current.data_version());
      continue;
    }
    ++replaced;
    ARROW_ASSIGN_OR_RAISE(const Fragment parsed,
                          ParseFragment(replacement->second, current.path()));
    if (parsed.id != fragment.id) {
      return InvalidInput("A replaced fragment must keep its id: expected ", fragment.id,
                          ", found ", parsed.id);
    }
    next.Add(parsed, current.data_version());
  }
  if (!removed.empty()) {
    return InvalidInput("Cannot remove a fragment that the table does not have: ",
                        *removed.begin());
  }
  if (replaced != edit.replaced_fragments.size()) {
    return InvalidInput(
        "Cannot replace a fragment that the table does not have, or that is removed too: ",
        edit.replaced_fragments.size() - replaced, " such");
  }
  for (const std::string& message : edit.new_fragments) {
    ARROW_ASSIGN_OR_RAISE(const Fragment parsed, ParseFragment(message, current.path()));
    const bool reused = current.max_fragment_id() && parsed.id <= *current.max_fragment_id();
    if (reused || (next.last_id && parsed.id <= *next.last_id)) {
      // Reserved ids lie below the high-water mark and above every fragment there is.
      if ((next.last_id && parsed.id <= *next.last_id) ||
          current.FindFragment(parsed.id) != nullptr) {
        return InvalidInput("New fragments must have ascending ids above all others: found ",
                            parsed.id);
      }
    }
    next.Add(parsed, current.data_version());
  }
  return next;
}

/// Whether any index of an IndexSection has covering fields.
arrow::Result<bool> HasCoveringFields(std::string_view section, const std::string& path) {
  bool found = false;
  ARROW_RETURN_NOT_OK(wire::Decode(path, "index section", [&] {
    pbf_reader reader = ReaderOf(section);
    while (reader.next(wire::index_metadata::kIndices, kBytes)) {
      pbf_reader index = reader.get_message();
      while (index.next()) {
        found |= index.tag() == wire::index_metadata::kCoveringFields;
        index.skip();
      }
    }
    return arrow::Status::OK();
  }));
  return found;
}

struct Flags {
  uint64_t reader = 0;
  uint64_t writer = 0;
};

Flags ComputeFlags(const Manifest& current, const ManifestEdit& edit, const NextFragments& next,
                   bool covering_fields) {
  uint64_t both = next.flags | (current.reader_flags() & (kStableRowIdsFlag | kMixedVersionsFlag));
  if (next.mixed_versions) both |= kMixedVersionsFlag;
  if (!current.base_paths().empty()) both |= kBasePathsFlag;
  if (covering_fields) both |= kCoveringFieldsFlag;
  Flags flags{both, both};
  if (!current.config().empty()) flags.writer |= kTableConfigFlag;
  if (edit.transaction_file.empty()) flags.writer |= kNoTransactionFilesFlag;
  return flags;
}

/// Whether the commit sets this field of the manifest anew, or leaves it out.
bool IsRewritten(uint32_t number) {
  switch (number) {
    case tag::kFragments:
    case tag::kVersion:
    case tag::kVersionAuxData:
    case tag::kIndexSection:
    case tag::kTimestamp:
    case tag::kTag:
    case tag::kReaderFlags:
    case tag::kWriterFlags:
    case tag::kMaxFragmentId:
    case tag::kTransactionFile:
    case tag::kWriterVersion:
    case tag::kNextRowId:
    case tag::kOldTransactionSection:
    case tag::kTransactionSection:
      return true;
    default:
      return false;
  }
}

void AddTimestamp(protozero::pbf_writer* writer, int64_t nanoseconds) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = nanoseconds / kSecond;
  int64_t nanos = nanoseconds % kSecond;
  if (nanos < 0) {
    --seconds;
    nanos += kSecond;
  }
  protozero::pbf_writer timestamp(*writer, tag::kTimestamp);
  if (seconds != 0) timestamp.add_int64(wire::timestamp::kSeconds, seconds);
  if (nanos != 0) timestamp.add_int32(wire::timestamp::kNanos, static_cast<int32_t>(nanos));
}

/// Where the sections before the message stand.
struct Offsets {
  std::optional<uint64_t> index;
  std::optional<uint64_t> transaction;
};

void AddRewrittenFields(const Manifest& current, const ManifestEdit& edit,
                        const NextFragments& next, const Flags& flags, const Offsets& offsets,
                        protozero::pbf_writer* writer) {
  writer->add_uint64(tag::kVersion, edit.version);
  if (offsets.index) writer->add_uint64(tag::kIndexSection, *offsets.index);
  AddTimestamp(writer, edit.timestamp_ns);
  if (flags.reader != 0) writer->add_uint64(tag::kReaderFlags, flags.reader);
  if (flags.writer != 0) writer->add_uint64(tag::kWriterFlags, flags.writer);
  std::optional<uint32_t> max_id = current.max_fragment_id();
  if (edit.max_fragment_id) max_id = std::max(max_id.value_or(0), *edit.max_fragment_id);
  if (next.last_id) max_id = std::max(max_id.value_or(0), static_cast<uint32_t>(*next.last_id));
  if (max_id) writer->add_uint32(tag::kMaxFragmentId, *max_id);
  if (!edit.transaction_file.empty())
    writer->add_string(tag::kTransactionFile, edit.transaction_file);
  {
    protozero::pbf_writer version(*writer, tag::kWriterVersion);
    version.add_string(wire::writer_version::kLibrary, kLibrary);
    version.add_string(wire::writer_version::kVersion, kLibraryVersion);
  }
  const uint64_t next_row_id = std::max(current.next_row_id(), edit.next_row_id.value_or(0));
  if (next_row_id != 0) writer->add_uint64(tag::kNextRowId, next_row_id);
  if (offsets.transaction) writer->add_uint64(tag::kTransactionSection, *offsets.transaction);
}

}  // namespace

arrow::Result<std::string> BuildNextManifest(const Manifest& current, const ManifestEdit& edit) {
  ARROW_RETURN_NOT_OK(CheckWritable(current));
  if (edit.version <= current.version()) {
    return InvalidInput("The next version must be above the current one: current ",
                        current.version(), ", next ", edit.version);
  }
  const bool is_inline =
      !edit.inline_transaction.empty() && edit.inline_transaction.size() <= kMostInlineTransaction;
  if (!is_inline && edit.transaction_file.empty()) {
    return InvalidInput(
        "A version needs its transaction, inline (up to 20 MiB) or as a file: version ",
        edit.version);
  }
  ARROW_ASSIGN_OR_RAISE(const NextFragments next, CollectFragments(current, edit));
  const std::string_view index_section =
      edit.index_section ? std::string_view(*edit.index_section) : current.index_section();
  ARROW_ASSIGN_OR_RAISE(const bool covering_fields,
                        HasCoveringFields(index_section, current.path()));
  const Flags flags = ComputeFlags(current, edit, next, covering_fields);

  std::string file;
  Offsets offsets;
  if (!index_section.empty()) {
    offsets.index = file.size();
    wire::AppendSection(index_section, &file);
  }
  if (is_inline) {
    offsets.transaction = file.size();
    wire::AppendSection(edit.inline_transaction, &file);
  }
  std::string message;
  message.reserve(current.message().size() + 4096);
  protozero::pbf_writer writer(message);
  bool has_data_format = false;
  ForEachRawField(current.message(), [&](uint32_t number, std::string_view raw) {
    has_data_format |= number == tag::kDataFormat;
    if (!IsRewritten(number)) message.append(raw);
  });
  for (const std::string_view fragment : next.messages) {
    writer.add_message(tag::kFragments, fragment.data(), fragment.size());
  }
  AddRewrittenFields(current, edit, next, flags, offsets, &writer);
  if (!has_data_format) {
    protozero::pbf_writer format(writer, tag::kDataFormat);
    format.add_string(wire::data_format::kFileFormat, "lance");
    format.add_string(wire::data_format::kVersion, current.data_version());
  }
  if (message.size() > UINT32_MAX || index_section.size() > UINT32_MAX) {
    return Unsupported(current.path(),
                       "The next manifest would be larger than 4 GiB: ", current.path());
  }
  const uint64_t position = file.size();
  wire::AppendSection(message, &file);
  wire::AppendManifestFooter(position, &file);
  return file;
}

std::string EncodeOverlay(const NewOverlay& overlay, uint64_t committed_version) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_message(wire::overlay_file::kDataFile, EncodeDataFile(overlay.data_file));
  if (overlay.dense && !overlay.coverage.empty()) {
    writer.add_bytes(wire::overlay_file::kSharedOffsetBitmap, overlay.coverage[0]);
  }
  if (committed_version != 0)
    writer.add_uint64(wire::overlay_file::kCommittedVersion, committed_version);
  if (!overlay.dense) {
    protozero::pbf_writer coverage(writer, wire::overlay_file::kFieldCoverage);
    for (const std::string& bitmap : overlay.coverage)
      coverage.add_bytes(wire::overlay_file::kOffsetBitmaps, bitmap);
  }
  return out;
}

std::string SpliceFragment(const Fragment& fragment, const std::vector<std::string>& overlays,
                           const std::optional<std::string>& last_updated_at) {
  // The overlays that are there, by the version that orders them.
  std::vector<std::pair<uint64_t, std::string_view>> old;
  ForEachRawField(fragment.bytes, [&](uint32_t number, std::string_view raw) {
    if (number != wire::data_fragment::kOverlays) return;
    pbf_reader field = ReaderOf(raw);
    uint64_t version = 0;
    if (field.next(wire::data_fragment::kOverlays, kBytes)) {
      pbf_reader overlay = field.get_message();
      while (overlay.next()) {
        if (static_cast<uint32_t>(overlay.tag_and_type()) ==
            Tag(wire::overlay_file::kCommittedVersion, kVarint)) {
          version = overlay.get_uint64();
        } else {
          overlay.skip();
        }
      }
    }
    old.emplace_back(version, raw);
  });
  std::stable_sort(old.begin(), old.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });

  std::string out;
  out.reserve(fragment.bytes.size() + 1024);
  size_t next_overlay = 0;
  ForEachRawField(fragment.bytes, [&](uint32_t number, std::string_view raw) {
    if (number == wire::data_fragment::kOverlays) {
      out.append(old[next_overlay++].second);
      return;
    }
    const bool replaced = number == wire::data_fragment::kInlineLastUpdatedAt ||
                          number == wire::data_fragment::kColumnLastUpdatedAt;
    if (!replaced || !last_updated_at) out.append(raw);
  });
  protozero::pbf_writer writer(out);
  if (last_updated_at)
    writer.add_bytes(wire::data_fragment::kInlineLastUpdatedAt, *last_updated_at);
  for (const std::string& overlay : overlays)
    writer.add_message(wire::data_fragment::kOverlays, overlay);
  return out;
}

}  // namespace pennon::table
