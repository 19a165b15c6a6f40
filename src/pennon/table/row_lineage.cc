#include "pennon/table/row_lineage.h"

#include <algorithm>
#include <bit>
#include <functional>

#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/wire/message_reader.h"
#include "pennon/wire/rowid_fields.h"

namespace pennon::table {
namespace {

using wire::kBytes;
using wire::kVarint;
using wire::pbf_reader;
using wire::ReaderOf;
using wire::Tag;
using wire::ViewOf;

constexpr char kNoPath[] = "";

arrow::Status BadSegment(const char* why) {
  return Corrupt(kNoPath, "A row id segment is broken: ", why);
}

template <typename T>
T LoadLittleEndian(const char* bytes) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>(uint64_t{value} << 8 | static_cast<uint8_t>(bytes[i]));
  return value;
}

/// The values of an EncodedU64Array, which the bytes themselves bound.
struct EncodedArray {
  uint64_t base = 0;
  std::string_view values;
  size_t width = 8;

  size_t size() const { return values.size() / width; }
  uint64_t operator[](size_t i) const {
    const char* at = values.data() + i * width;
    if (width == 2) return base + LoadLittleEndian<uint16_t>(at);
    if (width == 4) return base + LoadLittleEndian<uint32_t>(at);
    return LoadLittleEndian<uint64_t>(at);
  }
};

arrow::Result<EncodedArray> ReadArray(std::string_view bytes) {
  EncodedArray array;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    const uint32_t tag = static_cast<uint32_t>(reader.tag_and_type());
    if (tag != Tag(wire::u64_array::kU16, kBytes) && tag != Tag(wire::u64_array::kU32, kBytes) &&
        tag != Tag(wire::u64_array::kU64, kBytes)) {
      reader.skip();
      continue;
    }
    array = EncodedArray();
    array.width = tag == Tag(wire::u64_array::kU16, kBytes)   ? 2
                  : tag == Tag(wire::u64_array::kU32, kBytes) ? 4
                                                              : 8;
    pbf_reader inner = reader.get_message();
    while (inner.next()) {
      switch (static_cast<uint32_t>(inner.tag_and_type())) {
        case Tag(wire::u64_array::kBase, kVarint):
          array.base = inner.get_uint64();
          break;
        case Tag(wire::u64_array::kValues, kBytes):
          array.values = ViewOf(inner);
          break;
        default:
          inner.skip();
      }
    }
  }
  if (array.values.size() % array.width != 0)
    return BadSegment("an array ends in the middle of a value");
  if (array.width < 8 && array.base > UINT64_MAX - (array.width == 2 ? UINT16_MAX : UINT32_MAX)) {
    return BadSegment("the base of an array is too large");
  }
  return array;
}

/// A U64Segment whose values stay encoded.
struct Segment {
  enum class Kind { kNone, kRange, kHoles, kBitmap, kArray };
  Kind kind = Kind::kNone;
  bool sorted = false;
  uint64_t start = 0;
  uint64_t end = 0;
  EncodedArray array;       // the holes, or the values
  std::string_view bitmap;  // bit i, least significant first: start + i
  uint64_t count = 0;       // values in the segment
};

bool StrictlyAscending(const EncodedArray& array) {
  for (size_t i = 1; i < array.size(); ++i) {
    if (array[i - 1] >= array[i]) return false;
  }
  return true;
}

/// Checks `segment` and counts its values.
arrow::Status Settle(Segment* segment) {
  if (segment->kind != Segment::Kind::kArray && segment->end < segment->start) {
    return BadSegment("a range ends before it starts");
  }
  const uint64_t slots = segment->end - segment->start;
  switch (segment->kind) {
    case Segment::Kind::kNone:
      return BadSegment("it has no values of a kind that is known");
    case Segment::Kind::kRange:
      segment->count = slots;
      break;
    case Segment::Kind::kHoles: {
      const EncodedArray& holes = segment->array;
      const bool inside = holes.size() == 0 ||
                          (holes[0] >= segment->start && holes[holes.size() - 1] < segment->end);
      if (!inside || !StrictlyAscending(holes))
        return BadSegment("holes must ascend inside the range");
      segment->count = slots - holes.size();
      break;
    }
    case Segment::Kind::kBitmap: {
      if (segment->bitmap.size() != slots / 8 + (slots % 8 != 0 ? 1 : 0)) {
        return BadSegment("a bitmap does not have one bit for each value of its range");
      }
      if (slots % 8 != 0 && static_cast<uint8_t>(segment->bitmap.back()) >> (slots % 8) != 0) {
        return BadSegment("a bitmap has bits set beyond its range");
      }
      for (const char byte : segment->bitmap)
        segment->count += std::popcount(static_cast<uint8_t>(byte));
      break;
    }
    case Segment::Kind::kArray:
      if (segment->sorted && !StrictlyAscending(segment->array))
        return BadSegment("a sorted array does not ascend");
      segment->count = segment->array.size();
      break;
  }
  return arrow::Status::OK();
}

/// Reads Range, RangeWithHoles and RangeWithBitmap, which differ in field 3 only.
arrow::Status ReadRange(std::string_view bytes, Segment* segment) {
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::u64_range::kStart, kVarint):
        segment->start = reader.get_uint64();
        break;
      case Tag(wire::u64_range::kEnd, kVarint):
        segment->end = reader.get_uint64();
        break;
      case Tag(wire::u64_range::kHolesOrBitmap, kBytes):
        if (segment->kind == Segment::Kind::kHoles) {
          ARROW_ASSIGN_OR_RAISE(segment->array, ReadArray(ViewOf(reader)));
        } else {
          segment->bitmap = ViewOf(reader);
        }
        break;
      default:
        reader.skip();
    }
  }
  return arrow::Status::OK();
}

arrow::Result<Segment> ReadSegment(std::string_view bytes) {
  Segment segment;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    Segment next;
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::u64_segment::kRange, kBytes):
        next.kind = Segment::Kind::kRange;
        break;
      case Tag(wire::u64_segment::kRangeWithHoles, kBytes):
        next.kind = Segment::Kind::kHoles;
        break;
      case Tag(wire::u64_segment::kRangeWithBitmap, kBytes):
        next.kind = Segment::Kind::kBitmap;
        break;
      case Tag(wire::u64_segment::kSortedArray, kBytes):
        next.kind = Segment::Kind::kArray;
        next.sorted = true;
        break;
      case Tag(wire::u64_segment::kArray, kBytes):
        next.kind = Segment::Kind::kArray;
        break;
      default:
        reader.skip();
        continue;
    }
    if (next.kind == Segment::Kind::kArray) {
      ARROW_ASSIGN_OR_RAISE(next.array, ReadArray(ViewOf(reader)));
    } else {
      ARROW_RETURN_NOT_OK(ReadRange(ViewOf(reader), &next));
    }
    segment = next;
  }
  ARROW_RETURN_NOT_OK(Settle(&segment));
  return segment;
}

void AppendValues(const Segment& segment, std::vector<uint64_t>* out) {
  switch (segment.kind) {
    case Segment::Kind::kNone:
      break;
    case Segment::Kind::kRange:
      for (uint64_t value = segment.start; value < segment.end; ++value) out->push_back(value);
      break;
    case Segment::Kind::kHoles: {
      size_t hole = 0;
      for (uint64_t value = segment.start; value < segment.end; ++value) {
        if (hole < segment.array.size() && segment.array[hole] == value) {
          ++hole;
        } else {
          out->push_back(value);
        }
      }
      break;
    }
    case Segment::Kind::kBitmap:
      for (uint64_t i = 0; i < segment.end - segment.start; ++i) {
        if ((static_cast<uint8_t>(segment.bitmap[i / 8]) >> (i % 8) & 1) != 0)
          out->push_back(segment.start + i);
      }
      break;
    case Segment::Kind::kArray:
      for (size_t i = 0; i < segment.array.size(); ++i) out->push_back(segment.array[i]);
      break;
  }
}

struct VersionRun {
  uint64_t count = 0;
  uint64_t version = 0;
};

/// Reads one run: of its span only the count matters.
arrow::Result<VersionRun> ReadRun(std::string_view bytes) {
  VersionRun run;
  pbf_reader reader = ReaderOf(bytes);
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(wire::version_run::kSpan, kBytes): {
        ARROW_ASSIGN_OR_RAISE(const Segment span, ReadSegment(ViewOf(reader)));
        run.count = span.count;
        break;
      }
      case Tag(wire::version_run::kVersion, kVarint):
        run.version = reader.get_uint64();
        break;
      default:
        reader.skip();
    }
  }
  return run;
}

void AddRange(protozero::pbf_writer* parent, uint32_t tag, uint64_t start, uint64_t end) {
  protozero::pbf_writer segment(*parent, tag);
  protozero::pbf_writer range(segment, wire::u64_segment::kRange);
  if (start != 0) range.add_uint64(wire::u64_range::kStart, start);
  if (end != 0) range.add_uint64(wire::u64_range::kEnd, end);
}

void AppendLittleEndian(uint64_t value, size_t width, std::string* out) {
  for (size_t i = 0; i < width; ++i) out->push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

/// Adds `ids` as an array segment with the narrowest offsets that hold them.
void AddArray(protozero::pbf_writer* parent, std::span<const uint64_t> ids) {
  const auto [low, high] = std::minmax_element(ids.begin(), ids.end());
  const uint64_t spread = *high - *low;
  const size_t width = spread <= UINT16_MAX ? 2 : spread <= UINT32_MAX ? 4 : 8;
  const uint64_t base = width < 8 ? *low : 0;
  std::string values;
  for (const uint64_t id : ids) AppendLittleEndian(id - base, width, &values);
  const bool ascending =
      std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end();
  protozero::pbf_writer segment(*parent, wire::kSequenceSegments);
  protozero::pbf_writer array(
      segment, ascending ? wire::u64_segment::kSortedArray : wire::u64_segment::kArray);
  protozero::pbf_writer inner(array, width == 2   ? wire::u64_array::kU16
                                     : width == 4 ? wire::u64_array::kU32
                                                  : wire::u64_array::kU64);
  if (base != 0) inner.add_uint64(wire::u64_array::kBase, base);
  inner.add_bytes(wire::u64_array::kValues, values);
}

}  // namespace

arrow::Result<std::vector<uint64_t>> DecodeRowIds(std::string_view bytes, uint64_t physical_rows) {
  std::vector<uint64_t> ids;
  ARROW_RETURN_NOT_OK(wire::Decode(kNoPath, "row id sequence", [&]() -> arrow::Status {
    pbf_reader reader = ReaderOf(bytes);
    while (reader.next()) {
      if (static_cast<uint32_t>(reader.tag_and_type()) != Tag(wire::kSequenceSegments, kBytes)) {
        reader.skip();
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(const Segment segment, ReadSegment(ViewOf(reader)));
      // Before the values are made: a range of a few bytes may claim 2^64 of them.
      if (segment.count > physical_rows - ids.size()) {
        return Corrupt(kNoPath, "A fragment has more row ids than rows: expected ", physical_rows);
      }
      AppendValues(segment, &ids);
    }
    return arrow::Status::OK();
  }));
  if (ids.size() != physical_rows) {
    return Corrupt(kNoPath, "A fragment does not have one row id for each row: expected ",
                   physical_rows, ", found ", ids.size());
  }
  return ids;
}

arrow::Result<std::vector<uint64_t>> DecodeRowVersions(std::string_view bytes,
                                                       uint64_t physical_rows) {
  std::vector<uint64_t> versions;
  ARROW_RETURN_NOT_OK(wire::Decode(kNoPath, "row version sequence", [&]() -> arrow::Status {
    pbf_reader reader = ReaderOf(bytes);
    while (reader.next()) {
      if (static_cast<uint32_t>(reader.tag_and_type()) != Tag(wire::kSequenceRuns, kBytes)) {
        reader.skip();
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(const VersionRun run, ReadRun(ViewOf(reader)));
      if (run.count > physical_rows - versions.size()) {
        return Corrupt(kNoPath, "A fragment has more row versions than rows: expected ",
                       physical_rows);
      }
      versions.insert(versions.end(), run.count, run.version);
    }
    return arrow::Status::OK();
  }));
  versions.resize(physical_rows, 1);
  return versions;
}

std::string EncodeRowVersions(std::span<const uint64_t> versions) {
  std::string out;
  protozero::pbf_writer writer(out);
  for (size_t first = 0; first < versions.size();) {
    size_t end = first + 1;
    while (end < versions.size() && versions[end] == versions[first]) ++end;
    protozero::pbf_writer run(writer, wire::kSequenceRuns);
    AddRange(&run, wire::version_run::kSpan, first, end);
    run.add_uint64(wire::version_run::kVersion, versions[first]);
    first = end;
  }
  return out;
}

std::string EncodeRowIds(std::span<const uint64_t> ids) {
  constexpr size_t kShortestRange = 8;  // a range takes about as many bytes as eight 16-bit offsets
  std::string out;
  protozero::pbf_writer writer(out);
  size_t pending = 0;  // ids[pending, first) go to an array
  for (size_t first = 0; first < ids.size();) {
    size_t end = first + 1;
    while (end < ids.size() && ids[end - 1] != UINT64_MAX && ids[end] == ids[end - 1] + 1) ++end;
    const bool whole = end - first == ids.size();
    if ((end - first >= kShortestRange || whole) && ids[end - 1] != UINT64_MAX) {
      if (pending < first) AddArray(&writer, ids.subspan(pending, first - pending));
      AddRange(&writer, wire::kSequenceSegments, ids[first], ids[end - 1] + 1);
      pending = end;
    }
    first = end;
  }
  if (pending < ids.size()) AddArray(&writer, ids.subspan(pending));
  return out;
}

arrow::Result<std::string> StampRowVersions(std::string_view bytes, uint64_t physical_rows,
                                            const Bitmap& covered, uint64_t version) {
  ARROW_ASSIGN_OR_RAISE(auto versions, DecodeRowVersions(bytes, physical_rows));
  if (const auto last = covered.Max(); last && *last >= physical_rows) {
    return InvalidInput("Cannot stamp a row beyond the fragment: offset ", *last, " of ",
                        physical_rows, " rows");
  }
  for (const BitmapRun run : covered.Runs(0, physical_rows)) {
    std::fill_n(versions.begin() + run.first, run.count, version);
  }
  return EncodeRowVersions(versions);
}

}  // namespace pennon::table
