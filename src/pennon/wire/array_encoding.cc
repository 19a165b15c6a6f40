#include "pennon/wire/array_encoding.h"

#include <utility>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/wire/message_reader.h"

namespace pennon::wire {
namespace {

constexpr int kMaxDepth = 32;
constexpr uint32_t kLastKind = 21;

arrow::Status ParseNode(pbf_reader reader, std::string_view path, int depth, ArrayEncoding* node);

arrow::Status AddChild(pbf_reader& reader, std::string_view path, int depth,
                       std::vector<ArrayEncoding>* children, size_t at) {
  if (children->size() <= at) children->resize(at + 1);
  (*children)[at] = ArrayEncoding{};
  return ParseNode(reader.get_message(), path, depth + 1, &(*children)[at]);
}

void ParseBuffer(pbf_reader reader, BufferName* name) {
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(1, kVarint):
        name->index = reader.get_uint32();
        break;
      case Tag(2, kVarint):
        name->collection = reader.get_uint32();
        break;
      default:
        reader.skip();
    }
  }
}

void ParseFlat(pbf_reader reader, ArrayEncoding* node) {
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(1, kVarint):
        node->bits = reader.get_uint64();
        break;
      case Tag(2, kBytes):
        ParseBuffer(reader.get_message(), &node->buffer);
        break;
      case Tag(3, kBytes): {
        pbf_reader compression = reader.get_message();
        while (compression.next()) {
          if (static_cast<uint32_t>(compression.tag_and_type()) == Tag(1, kBytes)) {
            node->scheme = ViewOf(compression);
          } else {
            compression.skip();
          }
        }
        break;
      }
      default:
        reader.skip();
    }
  }
}

void ParseBitpacked(pbf_reader reader, ArrayEncoding* node) {
  while (reader.next()) {
    switch (static_cast<uint32_t>(reader.tag_and_type())) {
      case Tag(1, kVarint):
        node->packed_bits = reader.get_uint64();
        break;
      case Tag(2, kVarint):
        node->bits = reader.get_uint64();
        break;
      case Tag(3, kBytes):
        ParseBuffer(reader.get_message(), &node->buffer);
        break;
      case Tag(4, kVarint):
        node->is_signed = reader.get_uint64() != 0;
        break;
      default:
        reader.skip();
    }
  }
}

arrow::Status ParseNullable(pbf_reader reader, std::string_view path, int depth,
                            ArrayEncoding* node) {
  bool known = false;
  while (reader.next()) {
    const uint32_t tag = static_cast<uint32_t>(reader.tag_and_type());
    if (tag != Tag(1, kBytes) && tag != Tag(2, kBytes) && tag != Tag(3, kBytes)) {
      reader.skip();
      continue;
    }
    known = true;
    node->nulls = static_cast<NullableKind>(reader.tag());
    node->children.clear();
    size_t seen = 0;
    const size_t wanted = node->nulls == NullableKind::kNoNulls     ? 1
                          : node->nulls == NullableKind::kSomeNulls ? 2
                                                                    : 0;
    pbf_reader inner = reader.get_message();
    while (inner.next()) {
      const uint32_t field = static_cast<uint32_t>(inner.tag());
      if (inner.wire_type() != kBytes || field > wanted) {
        inner.skip();
        continue;
      }
      seen |= size_t{1} << (field - 1);
      ARROW_RETURN_NOT_OK(AddChild(inner, path, depth, &node->children, field - 1));
    }
    if (seen + 1 != size_t{1} << wanted) {
      return Corrupt(path, "Nullable encoding lacks its values or validity: ", path);
    }
  }
  if (known) return arrow::Status::OK();
  return Corrupt(path, "Nullable encoding must say which nulls it has: ", path);
}

// Reads a message whose children are fields `first` and up, and whose numbers go where `number`
// says.
template <typename Number>
arrow::Status ParseChildren(pbf_reader reader, std::string_view path, int depth, uint32_t first,
                            uint32_t count, ArrayEncoding* node, Number&& number) {
  uint32_t seen = 0;
  while (reader.next()) {
    const uint32_t field = static_cast<uint32_t>(reader.tag());
    if (reader.wire_type() == kVarint) {
      number(field, reader.get_uint64());
    } else if (reader.wire_type() == kBytes && field >= first && field < first + count) {
      seen |= 1U << (field - first);
      ARROW_RETURN_NOT_OK(AddChild(reader, path, depth, &node->children, field - first));
    } else if (reader.wire_type() == kBytes && node->kind == ArrayEncodingKind::kFsst &&
               field == 2) {
      node->symbol_table = ViewOf(reader);
    } else {
      reader.skip();
    }
  }
  if (seen + 1 == 1U << count) return arrow::Status::OK();
  return Corrupt(path, "Encoding lacks a part that it must have: ", ArrayEncodingName(node->kind),
                 " in ", path);
}

arrow::Status ParseBody(pbf_reader reader, std::string_view path, int depth, ArrayEncoding* node) {
  switch (node->kind) {
    case ArrayEncodingKind::kFlat:
      ParseFlat(reader, node);
      return arrow::Status::OK();
    case ArrayEncodingKind::kNullable:
      return ParseNullable(reader, path, depth, node);
    case ArrayEncodingKind::kBitpacked:
    case ArrayEncodingKind::kBitpackedForNonNeg:
      ParseBitpacked(reader, node);
      return arrow::Status::OK();
    case ArrayEncodingKind::kFixedSizeList:
      return ParseChildren(reader, path, depth, 2, 1, node, [node](uint32_t field, uint64_t value) {
        if (field == 1) node->dimension = value;
      });
    case ArrayEncodingKind::kList:
      return ParseChildren(reader, path, depth, 1, 1, node, [node](uint32_t field, uint64_t value) {
        if (field == 2) node->null_adjustment = value;
        if (field == 3) node->num_items = value;
      });
    case ArrayEncodingKind::kBinary:
      return ParseChildren(reader, path, depth, 1, 2, node, [node](uint32_t field, uint64_t value) {
        if (field == 3) node->null_adjustment = value;
      });
    case ArrayEncodingKind::kDictionary:
      return ParseChildren(reader, path, depth, 1, 2, node, [node](uint32_t field, uint64_t value) {
        if (field == 3) node->num_items = value;
      });
    case ArrayEncodingKind::kFsst:
      return ParseChildren(reader, path, depth, 1, 1, node, [](uint32_t, uint64_t) {});
    case ArrayEncodingKind::kFixedSizeBinary:
      return ParseChildren(reader, path, depth, 1, 1, node, [node](uint32_t field, uint64_t value) {
        if (field == 2) node->byte_width = value;
      });
    case ArrayEncodingKind::kPackedStruct:
      while (reader.next()) {
        if (static_cast<uint32_t>(reader.tag_and_type()) == Tag(2, kBytes)) {
          ParseBuffer(reader.get_message(), &node->buffer);
        } else {
          reader.skip();
        }
      }
      return arrow::Status::OK();
    default:
      return arrow::Status::OK();
  }
}

arrow::Status ParseNode(pbf_reader reader, std::string_view path, int depth, ArrayEncoding* node) {
  if (depth > kMaxDepth)
    return Corrupt(path, "Page encoding is nested more than ", kMaxDepth, " deep: ", path);
  bool known = false;
  while (reader.next()) {
    const uint32_t field = static_cast<uint32_t>(reader.tag());
    if (reader.wire_type() != kBytes || field < 1 || field > kLastKind) {
      reader.skip();
      continue;
    }
    // A oneof that comes twice: the last one counts.
    *node = ArrayEncoding{.kind = static_cast<ArrayEncodingKind>(field)};
    known = true;
    ARROW_RETURN_NOT_OK(ParseBody(reader.get_message(), path, depth, node));
  }
  if (known) return arrow::Status::OK();
  return Corrupt(path, "Page encoding is not one of the known 21 kinds of version 2.0: ", path);
}

// Writing: proto3 leaves out zeros.
void AddNumber(protozero::pbf_writer* writer, uint32_t field, uint64_t value) {
  if (value != 0) writer->add_uint64(field, value);
}

std::string BufferMessage(const BufferName& name) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  AddNumber(&writer, 1, name.index);
  AddNumber(&writer, 2, name.collection);
  return bytes;
}

std::string FlatMessage(const ArrayEncoding& node) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  AddNumber(&writer, 1, node.bits);
  writer.add_message(2, BufferMessage(node.buffer));
  if (!node.scheme.empty()) {
    std::string compression;
    protozero::pbf_writer(compression).add_string(1, node.scheme);
    writer.add_message(3, compression);
  }
  return bytes;
}

arrow::Result<std::string> NullableMessage(const ArrayEncoding& node) {
  std::string inner;
  protozero::pbf_writer inner_writer(inner);
  for (size_t i = 0; i < node.children.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const std::string child, SerializeArrayEncoding(node.children[i]));
    inner_writer.add_message(static_cast<uint32_t>(i + 1), child);
  }
  std::string bytes;
  protozero::pbf_writer(bytes).add_message(static_cast<uint32_t>(node.nulls), inner);
  return bytes;
}

arrow::Result<std::string> BodyOf(const ArrayEncoding& node) {
  if (node.kind == ArrayEncodingKind::kFlat) return FlatMessage(node);
  if (node.kind == ArrayEncodingKind::kNullable) return NullableMessage(node);
  std::vector<std::string> children;
  for (const ArrayEncoding& child : node.children) {
    ARROW_ASSIGN_OR_RAISE(children.emplace_back(), SerializeArrayEncoding(child));
  }
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  if (node.kind == ArrayEncodingKind::kPackedStruct) {
    for (const std::string& child : children) writer.add_message(1, child);
    writer.add_message(2, BufferMessage(node.buffer));
    return bytes;
  }
  const bool is_list = node.kind == ArrayEncodingKind::kFixedSizeList;
  if (is_list) AddNumber(&writer, 1, node.dimension);
  if (node.kind == ArrayEncodingKind::kBitpacked ||
      node.kind == ArrayEncodingKind::kBitpackedForNonNeg) {
    AddNumber(&writer, 1, node.packed_bits);
    AddNumber(&writer, 2, node.bits);
    writer.add_message(3, BufferMessage(node.buffer));
    AddNumber(&writer, 4, node.is_signed ? 1 : 0);
  }
  for (size_t i = 0; i < children.size(); ++i) {
    writer.add_message(static_cast<uint32_t>(i + (is_list ? 2 : 1)), children[i]);
  }
  switch (node.kind) {
    case ArrayEncodingKind::kList:
      AddNumber(&writer, 2, node.null_adjustment);
      AddNumber(&writer, 3, node.num_items);
      break;
    case ArrayEncodingKind::kBinary:
      AddNumber(&writer, 3, node.null_adjustment);
      break;
    case ArrayEncodingKind::kDictionary:
      AddNumber(&writer, 3, node.num_items);
      break;
    case ArrayEncodingKind::kFsst:
      writer.add_bytes(2, node.symbol_table);
      break;
    case ArrayEncodingKind::kFixedSizeBinary:
      AddNumber(&writer, 2, node.byte_width);
      break;
    default:
      break;
  }
  return bytes;
}

}  // namespace

std::string_view ArrayEncodingName(ArrayEncodingKind kind) {
  static constexpr std::string_view kNames[] = {"?",
                                                "Flat",
                                                "Nullable",
                                                "FixedSizeList",
                                                "List",
                                                "SimpleStruct",
                                                "Binary",
                                                "Dictionary",
                                                "Fsst",
                                                "PackedStruct",
                                                "Bitpacked",
                                                "FixedSizeBinary",
                                                "BitpackedForNonNeg",
                                                "Constant",
                                                "InlineBitpacking",
                                                "OutOfLineBitpacking",
                                                "Variable",
                                                "PackedStructFixedWidthMiniBlock",
                                                "Block",
                                                "Rle",
                                                "GeneralMiniBlock",
                                                "ByteStreamSplit"};
  const auto at = static_cast<size_t>(kind);
  return at < std::size(kNames) ? kNames[at] : kNames[0];
}

arrow::Result<ArrayEncoding> ParseArrayEncoding(std::string_view bytes, std::string_view path) {
  ArrayEncoding root;
  ARROW_RETURN_NOT_OK(
      Decode(path, "page encoding", [&] { return ParseNode(ReaderOf(bytes), path, 0, &root); }));
  return root;
}

arrow::Result<std::string> SerializeArrayEncoding(const ArrayEncoding& encoding) {
  if (encoding.kind > ArrayEncodingKind::kBitpackedForNonNeg) {
    return Unsupported("", "Page encoding is not written: ", ArrayEncodingName(encoding.kind));
  }
  ARROW_ASSIGN_OR_RAISE(const std::string body, BodyOf(encoding));
  std::string bytes;
  protozero::pbf_writer(bytes).add_message(static_cast<uint32_t>(encoding.kind), body);
  return bytes;
}

ArrayEncoding MakeFlat(uint64_t bits, uint32_t page_buffer) {
  return {.kind = ArrayEncodingKind::kFlat, .bits = bits, .buffer = {.index = page_buffer}};
}

ArrayEncoding MakeNoNulls(ArrayEncoding values) {
  ArrayEncoding node{.kind = ArrayEncodingKind::kNullable, .nulls = NullableKind::kNoNulls};
  node.children.push_back(std::move(values));
  return node;
}

ArrayEncoding MakeSomeNulls(ArrayEncoding validity, ArrayEncoding values) {
  ArrayEncoding node{.kind = ArrayEncodingKind::kNullable, .nulls = NullableKind::kSomeNulls};
  node.children.push_back(std::move(validity));
  node.children.push_back(std::move(values));
  return node;
}

ArrayEncoding MakeAllNulls() {
  return {.kind = ArrayEncodingKind::kNullable, .nulls = NullableKind::kAllNulls};
}

ArrayEncoding MakeFixedSizeList(uint64_t dimension, ArrayEncoding items) {
  ArrayEncoding node{.kind = ArrayEncodingKind::kFixedSizeList, .dimension = dimension};
  node.children.push_back(std::move(items));
  return node;
}

ArrayEncoding MakeBinary(ArrayEncoding indices, ArrayEncoding bytes, uint64_t null_adjustment) {
  ArrayEncoding node{.kind = ArrayEncodingKind::kBinary, .null_adjustment = null_adjustment};
  node.children.push_back(std::move(indices));
  node.children.push_back(std::move(bytes));
  return node;
}

ArrayEncoding MakeList(ArrayEncoding offsets, uint64_t null_adjustment, uint64_t num_items) {
  ArrayEncoding node{
      .kind = ArrayEncodingKind::kList, .null_adjustment = null_adjustment, .num_items = num_items};
  node.children.push_back(std::move(offsets));
  return node;
}

ArrayEncoding MakeSimpleStruct() { return {.kind = ArrayEncodingKind::kSimpleStruct}; }

ArrayEncoding MakeDictionary(ArrayEncoding indices, ArrayEncoding items, uint64_t num_items) {
  ArrayEncoding node{.kind = ArrayEncodingKind::kDictionary, .num_items = num_items};
  node.children.push_back(std::move(indices));
  node.children.push_back(std::move(items));
  return node;
}

ArrayEncoding MakePackedStruct(std::vector<ArrayEncoding> children, uint32_t page_buffer) {
  return {.kind = ArrayEncodingKind::kPackedStruct,
          .buffer = {.index = page_buffer},
          .children = std::move(children)};
}

}  // namespace pennon::wire
