#include "pennon/wire/page_layout_writer.h"

#include <protozero/pbf_writer.hpp>

namespace pennon::wire {
namespace {

// Members of CompressiveEncoding.
enum : uint32_t {
  kFlat = 1,
  kVariable = 2,
  kConstantValue = 3,
  kOutOfLineBitpacking = 4,
  kInlineBitpacking = 5,
  kFsst = 6,
  kRle = 8,
  kByteStreamSplit = 9,
  kGeneral = 10,
  kFixedSizeList = 11,
  kPackedStruct = 12,
  kVariablePackedStruct = 13,
};

// Members of PageLayout.
enum : uint32_t { kMiniBlock = 1, kConstant = 2, kFullZip = 3, kBlob = 4 };

std::string Wrap(uint32_t member, const std::string& body) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_message(member, body);
  return out;
}

// proto3: a zero is absent.
void AddNumber(protozero::pbf_writer* writer, uint32_t tag, uint64_t value) {
  if (value != 0) writer->add_uint64(tag, value);
}

void AddLayers(protozero::pbf_writer* writer, uint32_t tag, const std::vector<LayerKind>& layers) {
  std::vector<uint32_t> numbers;
  for (LayerKind layer : layers) numbers.push_back(static_cast<uint32_t>(layer));
  writer->add_packed_uint32(tag, numbers.begin(), numbers.end());
}

void AddMessage(protozero::pbf_writer* writer, uint32_t tag, std::string_view body) {
  writer->add_message(tag, body.data(), body.size());
}

}  // namespace

std::string WriteFlat(uint64_t bits) {
  std::string body;
  protozero::pbf_writer writer(body);
  AddNumber(&writer, 1, bits);
  return Wrap(kFlat, body);
}

std::string WriteVariable(uint64_t offset_bits) {
  return Wrap(kVariable, Wrap(1, WriteFlat(offset_bits)));
}

std::string WriteInlineBitpacking(uint64_t bits) {
  std::string body;
  protozero::pbf_writer writer(body);
  AddNumber(&writer, 1, bits);
  return Wrap(kInlineBitpacking, body);
}

std::string WriteOutOfLineBitpacking(uint64_t bits, uint64_t width) {
  std::string body;
  protozero::pbf_writer writer(body);
  AddNumber(&writer, 1, bits);
  AddMessage(&writer, 3, WriteFlat(width));
  return Wrap(kOutOfLineBitpacking, body);
}

std::string WriteRle(uint64_t bits) {
  std::string body;
  protozero::pbf_writer writer(body);
  AddMessage(&writer, 1, WriteFlat(bits));
  AddMessage(&writer, 2, WriteFlat(8));
  return Wrap(kRle, body);
}

std::string WriteByteStreamSplit(uint64_t bits) {
  return Wrap(kByteStreamSplit, Wrap(1, WriteFlat(bits)));
}

std::string WriteGeneral(uint64_t scheme, int level, std::string_view values) {
  std::string compression;
  protozero::pbf_writer compression_writer(compression);
  AddNumber(&compression_writer, 1, scheme);
  if (level != 0) compression_writer.add_int32(2, level);
  std::string body;
  protozero::pbf_writer writer(body);
  AddMessage(&writer, 1, compression);
  AddMessage(&writer, 3, values);
  return Wrap(kGeneral, body);
}

std::string WriteFsst(std::string_view symbol_table, std::string_view values) {
  std::string body;
  protozero::pbf_writer writer(body);
  writer.add_bytes(1, symbol_table.data(), symbol_table.size());
  AddMessage(&writer, 2, values);
  return Wrap(kFsst, body);
}

std::string WriteFixedSizeList(uint64_t items, bool has_validity, std::string_view values) {
  std::string body;
  protozero::pbf_writer writer(body);
  AddNumber(&writer, 1, items);
  AddMessage(&writer, 2, values);
  if (has_validity) writer.add_bool(3, true);
  return Wrap(kFixedSizeList, body);
}

std::string WriteNullConstant() { return Wrap(kConstantValue, {}); }

std::string WritePackedStruct(const std::vector<uint64_t>& bits_per_value) {
  std::string body;
  protozero::pbf_writer writer(body);
  uint64_t sum = 0;
  for (uint64_t bits : bits_per_value) sum += bits;
  writer.add_packed_uint64(1, bits_per_value.begin(), bits_per_value.end());
  AddMessage(&writer, 2, WriteFlat(sum));
  return Wrap(kPackedStruct, body);
}

std::string WriteVariablePackedStruct(const std::vector<PackedChild>& children) {
  std::string body;
  protozero::pbf_writer writer(body);
  for (const PackedChild& child : children) {
    protozero::pbf_writer field(writer, 1);
    AddMessage(&field, 1, child.values);
    field.add_uint64(child.is_variable ? 3 : 2, child.bits);  // members of a oneof: never left out
  }
  return Wrap(kVariablePackedStruct, body);
}

std::string WriteMiniBlockPage(const MiniBlockMessage& message) {
  std::string body;
  protozero::pbf_writer writer(body);
  if (!message.rep_compression.empty()) writer.add_message(1, message.rep_compression);
  if (!message.def_compression.empty()) writer.add_message(2, message.def_compression);
  writer.add_message(3, message.value_compression);
  if (!message.dictionary.empty()) writer.add_message(4, message.dictionary);
  AddNumber(&writer, 5, message.num_dictionary_items);
  AddLayers(&writer, 6, message.layers);
  AddNumber(&writer, 7, message.num_buffers);
  AddNumber(&writer, 8, message.repetition_index_depth);
  AddNumber(&writer, 9, message.num_items);
  if (message.has_large_chunk) writer.add_bool(10, true);
  return Wrap(kMiniBlock, body);
}

std::string WriteFullZipPage(const FullZipMessage& message) {
  std::string body;
  protozero::pbf_writer writer(body);
  AddNumber(&writer, 1, message.bits_rep);
  AddNumber(&writer, 2, message.bits_def);
  AddNumber(&writer, 3, message.bits_per_value);
  AddNumber(&writer, 4, message.bits_per_offset);
  AddNumber(&writer, 5, message.num_items);
  AddNumber(&writer, 6, message.num_visible_items);
  writer.add_message(7, message.value_compression);
  AddLayers(&writer, 8, message.layers);
  return Wrap(kFullZip, body);
}

std::string WriteConstantPage(const ConstantMessage& message) {
  std::string body;
  protozero::pbf_writer writer(body);
  AddLayers(&writer, 5, message.layers);
  if (!message.inline_value.empty()) writer.add_bytes(6, message.inline_value);
  if (!message.rep_compression.empty()) writer.add_message(7, message.rep_compression);
  if (!message.def_compression.empty()) writer.add_message(8, message.def_compression);
  AddNumber(&writer, 9, message.num_rep_values);
  AddNumber(&writer, 10, message.num_def_values);
  return Wrap(kConstant, body);
}

std::string WriteBlobPage(const std::string& inner, const std::vector<LayerKind>& layers) {
  std::string body;
  protozero::pbf_writer writer(body);
  writer.add_message(1, inner);
  AddLayers(&writer, 2, layers);
  return Wrap(kBlob, body);
}

}  // namespace pennon::wire
