// Reading protobuf messages without copies and without trust: the few steps that every message
// needs. Messages are read by `while (reader.next()) switch (reader.tag_and_type())`: a known field
// of the wrong wire type then falls to `default: reader.skip()`, so protozero's own checks of the
// type never fire.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include "pennon/error.h"

namespace pennon::wire {

using protozero::pbf_reader;
inline constexpr auto kVarint = protozero::pbf_wire_type::varint;
inline constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;

/// The case label of field `number` with wire type `type`.
constexpr uint32_t Tag(uint32_t number, protozero::pbf_wire_type type) {
  return (number << 3U) | static_cast<uint32_t>(type);
}

/// A reader over `bytes`, which must outlive it.
inline pbf_reader ReaderOf(std::string_view bytes) {
  return pbf_reader(bytes.data(), bytes.size());
}

/// The bytes of the current length-delimited field.
inline std::string_view ViewOf(pbf_reader& reader) {
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

/// Appends the values of a repeated int32, packed or not: use it for both wire types.
inline void AppendInt32(pbf_reader& reader, std::vector<int32_t>* out) {
  if (reader.wire_type() == kVarint) {
    out->push_back(reader.get_int32());
    return;
  }
  for (const int32_t value : reader.get_packed_int32()) out->push_back(value);
}

/// As AppendInt32, for uint32 and uint64.
template <typename T>
void AppendUnsigned(pbf_reader& reader, std::vector<T>* out) {
  if (reader.wire_type() == kVarint) {
    out->push_back(static_cast<T>(reader.get_uint64()));
    return;
  }
  for (const uint64_t value : reader.get_packed_uint64()) out->push_back(static_cast<T>(value));
}

/// Key and value of the current map entry, for maps from text to text or bytes.
inline std::pair<std::string, std::string> MapEntryOf(pbf_reader& reader) {
  std::pair<std::string, std::string> entry;
  pbf_reader inner = reader.get_message();
  while (inner.next()) {
    switch (static_cast<uint32_t>(inner.tag_and_type())) {
      case Tag(1, kBytes):
        entry.first = ViewOf(inner);
        break;
      case Tag(2, kBytes):
        entry.second = ViewOf(inner);
        break;
      default:
        inner.skip();
    }
  }
  return entry;
}

/// Runs `body`, which reads messages and gives an arrow::Status, and turns what protozero throws
/// into a kCorrupt error that names `path` and `what`.
template <typename Body>
arrow::Status Decode(std::string_view path, const char* what, Body&& body) {
  try {
    return body();
  } catch (const protozero::exception& defect) {
    return Corrupt(path, "Cannot decode the ", what, " (", defect.what(), "): ", path);
  }
}

}  // namespace pennon::wire
