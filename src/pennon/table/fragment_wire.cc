#include "pennon/table/fragment_wire.h"

#include <algorithm>

#include <arrow/util/utf8.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/wire/fragment_fields.h"
#include "pennon/wire/message_reader.h"

namespace pennon::table {
namespace {

using wire::Decode;
using wire::kBytes;
using wire::kVarint;
using wire::pbf_reader;
using wire::ReaderOf;
using wire::Tag;
using wire::ViewOf;

// Readers below may throw protozero's exceptions; the functions of the header catch them.

DataFile ReadDataFile(std::string_view bytes) {
  DataFile file;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::data_file::kPath, kBytes):
        file.path = ViewOf(reader);
        break;
      case Tag(wire::data_file::kFields, kBytes):
      case Tag(wire::data_file::kFields, kVarint):
        wire::AppendInt32(reader, &file.fields);
        break;
      case Tag(wire::data_file::kColumnIndices, kBytes):
      case Tag(wire::data_file::kColumnIndices, kVarint):
        wire::AppendInt32(reader, &file.column_indices);
        break;
      case Tag(wire::data_file::kMajorVersion, kVarint):
        file.major_version = reader.get_uint32();
        break;
      case Tag(wire::data_file::kMinorVersion, kVarint):
        file.minor_version = reader.get_uint32();
        break;
      case Tag(wire::data_file::kSizeBytes, kVarint):
        file.size_bytes = reader.get_uint64();
        break;
      case Tag(wire::data_file::kBaseId, kVarint):
        file.base_id = reader.get_uint32();
        break;
      default:
        reader.skip();
    }
  }
  return file;
}

bool ListsAFieldTwice(const std::vector<int32_t>& fields) {
  if (fields.size() < 32) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] >= 0 &&
          std::find(fields.begin(), fields.begin() + i, fields[i]) != fields.begin() + i) {
        return true;
      }
    }
    return false;
  }
  std::vector<int32_t> sorted;
  std::copy_if(fields.begin(), fields.end(), std::back_inserter(sorted),
               [](int32_t id) { return id >= 0; });
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

arrow::Status CheckDataFile(const DataFile& file, std::string_view path) {
  if (file.fields.empty()) {
    return Corrupt(path, "A data file lists no fields: ", file.path, ": ", path);
  }
  // Files of version 0.1 state no columns; every other one has a column for each field.
  const bool legacy =
      file.major_version == 0 && file.minor_version < 3 && file.column_indices.empty();
  if (!legacy && file.column_indices.size() != file.fields.size()) {
    return Corrupt(path, "The field list and the column list of a data file differ in length: ",
                   file.fields.size(), " fields, ", file.column_indices.size(), " columns, file ",
                   file.path, ": ", path);
  }
  for (const int32_t column : file.column_indices) {
    if (column < -1) {
      return Corrupt(path, "A data file states a column number below -1: ", column, ", file ",
                     file.path, ": ", path);
    }
  }
  if (ListsAFieldTwice(file.fields)) {
    return Corrupt(path, "A data file lists a field twice: ", file.path, ": ", path);
  }
  return arrow::Status::OK();
}

struct RawOverlay {
  OverlayFile overlay;
  bool has_file = false;
  bool has_coverage = false;
};

RawOverlay ReadOverlay(std::string_view bytes) {
  RawOverlay raw;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::overlay_file::kDataFile, kBytes):
        raw.overlay.data_file = ReadDataFile(ViewOf(reader));
        raw.has_file = true;
        break;
      case Tag(wire::overlay_file::kSharedOffsetBitmap, kBytes):
        raw.overlay.coverage = {ViewOf(reader)};
        raw.overlay.dense = raw.has_coverage = true;
        break;
      case Tag(wire::overlay_file::kFieldCoverage, kBytes): {
        pbf_reader inner = reader.get_message();
        raw.overlay.coverage.clear();
        raw.overlay.dense = false;
        raw.has_coverage = true;
        while (inner.next()) {
          if (static_cast<uint32_t>(inner.tag_and_type()) ==
              Tag(wire::overlay_file::kOffsetBitmaps, kBytes)) {
            raw.overlay.coverage.push_back(ViewOf(inner));
          } else {
            inner.skip();
          }
        }
        break;
      }
      case Tag(wire::overlay_file::kCommittedVersion, kVarint):
        raw.overlay.committed_version = reader.get_uint64();
        break;
      default:
        reader.skip();
    }
  }
  return raw;
}

arrow::Status CheckOverlay(const RawOverlay& raw, std::string_view path) {
  if (!raw.has_file) return Corrupt(path, "An overlay names no data file: ", path);
  const DataFile& file = raw.overlay.data_file;
  if (!raw.has_coverage)
    return Corrupt(path, "An overlay has no coverage: file ", file.path, ": ", path);
  ARROW_RETURN_NOT_OK(CheckDataFile(file, path));
  if (file.column_indices.size() != file.fields.size()) {
    return Corrupt(path, "An overlay's file states no columns: file ", file.path, ": ", path);
  }
  if (!raw.overlay.dense && raw.overlay.coverage.size() != file.fields.size()) {
    return Corrupt(
        path, "An overlay does not have one coverage bitmap for each field: ", file.fields.size(),
        " fields, ", raw.overlay.coverage.size(), " bitmaps, file ", file.path, ": ", path);
  }
  return arrow::Status::OK();
}

arrow::Result<DeletionFile> ReadDeletionFile(std::string_view bytes, std::string_view path) {
  DeletionFile file;
  pbf_reader reader = ReaderOf(bytes);
  uint64_t kind = 0;
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::deletion_file::kFileType, kVarint):
        kind = reader.get_uint64();
        break;
      case Tag(wire::deletion_file::kReadVersion, kVarint):
        file.read_version = reader.get_uint64();
        break;
      case Tag(wire::deletion_file::kId, kVarint):
        file.id = reader.get_uint64();
        break;
      case Tag(wire::deletion_file::kNumDeletedRows, kVarint):
        file.num_deleted_rows = reader.get_uint64();
        break;
      case Tag(wire::deletion_file::kBaseId, kVarint):
        file.base_id = reader.get_uint32();
        break;
      default:
        reader.skip();
    }
  }
  if (kind > 1) {
    return Unsupported(
        path,
        "A deletion file has a type that is not known: expected 0 (Arrow) or 1 (bitmap), found ",
        kind, ": ", path);
  }
  file.kind = kind == 0 ? DeletionFile::Kind::kArrowArray : DeletionFile::Kind::kBitmap;
  return file;
}

arrow::Status ReadFragment(std::string_view bytes, std::string_view path, Fragment* fragment) {
  fragment->bytes = bytes;
  const auto set_inline = [](LineageSequence* sequence, pbf_reader& reader) {
    *sequence = {LineageSequence::Kind::kInline, ViewOf(reader)};
  };
  const auto set_column = [](LineageSequence* sequence, pbf_reader& reader) {
    reader.skip();
    *sequence = {LineageSequence::Kind::kColumn, {}};
  };
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::data_fragment::kId, kVarint):
        fragment->id = reader.get_uint64();
        break;
      case Tag(wire::data_fragment::kFiles, kBytes):
        fragment->files.push_back(ReadDataFile(ViewOf(reader)));
        ARROW_RETURN_NOT_OK(CheckDataFile(fragment->files.back(), path));
        break;
      case Tag(wire::data_fragment::kDeletionFile, kBytes): {
        ARROW_ASSIGN_OR_RAISE(fragment->deletion_file, ReadDeletionFile(ViewOf(reader), path));
        break;
      }
      case Tag(wire::data_fragment::kPhysicalRows, kVarint):
        fragment->physical_rows = reader.get_uint64();
        break;
      case Tag(wire::data_fragment::kOverlays, kBytes): {
        RawOverlay raw = ReadOverlay(ViewOf(reader));
        ARROW_RETURN_NOT_OK(CheckOverlay(raw, path));
        fragment->overlays.push_back(std::move(raw.overlay));
        break;
      }
      case Tag(wire::data_fragment::kInlineRowIds, kBytes):
        set_inline(&fragment->row_ids, reader);
        break;
      case Tag(wire::data_fragment::kInlineLastUpdatedAt, kBytes):
        set_inline(&fragment->last_updated_at, reader);
        break;
      case Tag(wire::data_fragment::kInlineCreatedAt, kBytes):
        set_inline(&fragment->created_at, reader);
        break;
      case Tag(wire::data_fragment::kColumnRowIds, kBytes):
        set_column(&fragment->row_ids, reader);
        break;
      case Tag(wire::data_fragment::kColumnLastUpdatedAt, kBytes):
        set_column(&fragment->last_updated_at, reader);
        break;
      case Tag(wire::data_fragment::kColumnCreatedAt, kBytes):
        set_column(&fragment->created_at, reader);
        break;
      default:
        reader.skip();
    }
  }
  return arrow::Status::OK();
}

arrow::Status CheckFragment(const Fragment& fragment, std::string_view path) {
  if (fragment.id >= UINT32_MAX) {
    return Corrupt(path, "A fragment id does not fit 32 bits: ", fragment.id, ": ", path);
  }
  if (fragment.physical_rows > UINT32_MAX) {
    return Corrupt(path, "A fragment claims more rows than row offsets can name: fragment ",
                   fragment.id, ", ", fragment.physical_rows, " rows: ", path);
  }
  if (fragment.physical_rows != 0 && fragment.num_deleted_rows() > fragment.physical_rows) {
    return Corrupt(path, "A fragment claims more deleted rows than rows: fragment ", fragment.id,
                   ", ", fragment.num_deleted_rows(), " of ", fragment.physical_rows, ": ", path);
  }
  return arrow::Status::OK();
}

void AddFile(protozero::pbf_writer* parent, uint32_t tag, const DataFile& file) {
  parent->add_message(tag, EncodeDataFile(file));
}

void AddLineage(protozero::pbf_writer* writer, const LineageSequence& sequence, uint32_t inline_tag,
                uint32_t column_tag) {
  if (sequence.kind == LineageSequence::Kind::kInline) {
    writer->add_bytes(inline_tag, sequence.bytes.data(), sequence.bytes.size());
  } else if (sequence.kind == LineageSequence::Kind::kColumn) {
    writer->add_message(column_tag, "", 0);
  }
}

std::string EncodeOverlayFile(const OverlayFile& overlay) {
  std::string out;
  protozero::pbf_writer writer(out);
  AddFile(&writer, wire::overlay_file::kDataFile, overlay.data_file);
  if (overlay.dense) {
    writer.add_bytes(wire::overlay_file::kSharedOffsetBitmap, overlay.coverage[0].data(),
                     overlay.coverage[0].size());
  }
  if (overlay.committed_version != 0) {
    writer.add_uint64(wire::overlay_file::kCommittedVersion, overlay.committed_version);
  }
  if (!overlay.dense) {
    protozero::pbf_writer coverage(writer, wire::overlay_file::kFieldCoverage);
    for (const std::string_view bitmap : overlay.coverage) {
      coverage.add_bytes(wire::overlay_file::kOffsetBitmaps, bitmap.data(), bitmap.size());
    }
  }
  return out;
}

}  // namespace

arrow::Result<Fragment> ParseFragment(std::string_view bytes, std::string_view path) {
  Fragment fragment;
  ARROW_RETURN_NOT_OK(
      Decode(path, "fragment", [&] { return ReadFragment(bytes, path, &fragment); }));
  ARROW_RETURN_NOT_OK(CheckFragment(fragment, path));
  const auto older = [](const OverlayFile& a, const OverlayFile& b) {
    return a.committed_version < b.committed_version;
  };
  if (!std::is_sorted(fragment.overlays.begin(), fragment.overlays.end(), older)) {
    std::stable_sort(fragment.overlays.begin(), fragment.overlays.end(), older);
  }
  return fragment;
}

arrow::Result<DataFile> ParseDataFile(std::string_view bytes, std::string_view path) {
  DataFile file;
  ARROW_RETURN_NOT_OK(Decode(path, "data file entry", [&] {
    file = ReadDataFile(bytes);
    return arrow::Status::OK();
  }));
  ARROW_RETURN_NOT_OK(CheckDataFile(file, path));
  return file;
}

arrow::Result<OverlayFile> ParseOverlay(std::string_view bytes, std::string_view path) {
  RawOverlay raw;
  ARROW_RETURN_NOT_OK(Decode(path, "overlay", [&] {
    raw = ReadOverlay(bytes);
    return arrow::Status::OK();
  }));
  ARROW_RETURN_NOT_OK(CheckOverlay(raw, path));
  return std::move(raw.overlay);
}

std::string EncodeDataFile(const DataFile& file) {
  std::string out;
  protozero::pbf_writer writer(out);
  if (!file.path.empty()) writer.add_string(wire::data_file::kPath, file.path);
  writer.add_packed_int32(wire::data_file::kFields, file.fields.begin(), file.fields.end());
  writer.add_packed_int32(wire::data_file::kColumnIndices, file.column_indices.begin(),
                          file.column_indices.end());
  if (file.major_version != 0)
    writer.add_uint32(wire::data_file::kMajorVersion, file.major_version);
  if (file.minor_version != 0)
    writer.add_uint32(wire::data_file::kMinorVersion, file.minor_version);
  if (file.size_bytes != 0) writer.add_uint64(wire::data_file::kSizeBytes, file.size_bytes);
  if (file.base_id) writer.add_uint32(wire::data_file::kBaseId, *file.base_id);
  return out;
}

std::string EncodeDeletionFile(const DeletionFile& file) {
  std::string out;
  protozero::pbf_writer writer(out);
  if (file.kind == DeletionFile::Kind::kBitmap) writer.add_enum(wire::deletion_file::kFileType, 1);
  if (file.read_version != 0)
    writer.add_uint64(wire::deletion_file::kReadVersion, file.read_version);
  if (file.id != 0) writer.add_uint64(wire::deletion_file::kId, file.id);
  if (file.num_deleted_rows != 0)
    writer.add_uint64(wire::deletion_file::kNumDeletedRows, file.num_deleted_rows);
  if (file.base_id) writer.add_uint32(wire::deletion_file::kBaseId, *file.base_id);
  return out;
}

std::string EncodeFragment(const Fragment& fragment) {
  std::string out;
  protozero::pbf_writer writer(out);
  if (fragment.id != 0) writer.add_uint64(wire::data_fragment::kId, fragment.id);
  for (const DataFile& file : fragment.files) AddFile(&writer, wire::data_fragment::kFiles, file);
  if (fragment.deletion_file) {
    writer.add_message(wire::data_fragment::kDeletionFile,
                       EncodeDeletionFile(*fragment.deletion_file));
  }
  if (fragment.physical_rows != 0)
    writer.add_uint64(wire::data_fragment::kPhysicalRows, fragment.physical_rows);
  AddLineage(&writer, fragment.row_ids, wire::data_fragment::kInlineRowIds,
             wire::data_fragment::kColumnRowIds);
  AddLineage(&writer, fragment.last_updated_at, wire::data_fragment::kInlineLastUpdatedAt,
             wire::data_fragment::kColumnLastUpdatedAt);
  AddLineage(&writer, fragment.created_at, wire::data_fragment::kInlineCreatedAt,
             wire::data_fragment::kColumnCreatedAt);
  for (const OverlayFile& overlay : fragment.overlays) {
    writer.add_message(wire::data_fragment::kOverlays, EncodeOverlayFile(overlay));
  }
  return out;
}

}  // namespace pennon::table
