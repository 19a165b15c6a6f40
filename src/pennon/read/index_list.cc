#include "pennon/read/index_list.h"

#include <exception>
#include <utility>

#include <protozero/pbf_message.hpp>
#include <protozero/pbf_reader.hpp>

#include "pennon/error.h"

namespace pennon::read {
namespace {

using protozero::pbf_wire_type;
using protozero::tag_and_type;

// `/lance.table.BTreeIndexDetails` -> `BTree`.
std::string TypeName(std::string_view url) {
  size_t start = url.find_last_of("/.");
  if (start != std::string_view::npos) url.remove_prefix(start + 1);
  constexpr std::string_view kEnd = "IndexDetails";
  if (url.ends_with(kEnd)) url.remove_suffix(kEnd.size());
  return std::string(url);
}

IndexEntry ParseEntry(protozero::pbf_reader message) {
  IndexEntry entry;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(2, pbf_wire_type::length_delimited):
        for (int32_t id : message.get_packed_int32()) entry.fields.push_back(id);
        break;
      case tag_and_type(2, pbf_wire_type::varint):
        entry.fields.push_back(message.get_int32());
        break;
      case tag_and_type(3, pbf_wire_type::length_delimited):
        entry.name = message.get_string();
        break;
      case tag_and_type(4, pbf_wire_type::varint):
        entry.dataset_version = message.get_uint64();
        break;
      case tag_and_type(6, pbf_wire_type::length_delimited): {
        protozero::pbf_reader any = message.get_message();
        while (any.next()) {
          if (any.tag_and_type() == tag_and_type(1, pbf_wire_type::length_delimited)) {
            entry.type = TypeName(any.get_string());
          } else {
            any.skip();
          }
        }
        break;
      }
      default:
        message.skip();
    }
  }
  return entry;
}

}  // namespace

arrow::Result<std::vector<IndexEntry>> ParseIndexList(std::string_view section,
                                                      const std::string& path) {
  std::vector<IndexEntry> entries;
  try {
    protozero::pbf_reader message(section.data(), section.size());
    while (message.next()) {
      if (message.tag_and_type() == tag_and_type(1, pbf_wire_type::length_delimited)) {
        entries.push_back(ParseEntry(message.get_message()));
      } else {
        message.skip();
      }
    }
  } catch (const std::exception& error) {
    return Corrupt(path, "index section of the manifest cannot be decoded: ", error.what(), ", ",
                   path);
  }
  return entries;
}

}  // namespace pennon::read
