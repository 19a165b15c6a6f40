#include "pennon/encoding/v20/page_writer.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pennon/encoding/dictionary/dictionary_encoder.h"
#include "pennon/encoding/dictionary/distinct_values.h"
#include "pennon/encoding/kernels/fsst_values.h"
#include "pennon/encoding/mini_block/general_chunks.h"
#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;

// Puts `buffer` into the page and gives its number there.
uint32_t AddBuffer(std::shared_ptr<arrow::Buffer> buffer, EncodedPage* page) {
  page->buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(page->buffers.size() - 1);
}

// Levels from the outside in, then the items: validity comes before what it is about. Items or
// inner lists that are all null are not stored.
ArrayEncoding EncodeFixed(const LeafValues& values, EncodedPage* page) {
  const size_t null_layer = values.FirstNullLayer();
  const bool stores_items = null_layer == values.type.dimensions.size();
  const size_t levels = null_layer + 1;
  std::vector<ArrayEncoding> validity(levels);
  std::vector<bool> has_nulls(levels);
  for (size_t j = 0; j < levels; ++j) {
    const auto& bitmap = j == 0 ? values.validity : values.item_validity[j - 1];
    has_nulls[j] = bitmap != nullptr;
    if (has_nulls[j]) validity[j] = wire::MakeFlat(1, AddBuffer(bitmap, page));
  }
  ArrayEncoding node;
  if (stores_items) {
    node = wire::MakeFlat(values.type.bits_per_item, AddBuffer(values.data, page));
  } else {
    node = wire::MakeFixedSizeList(values.type.dimensions[null_layer], wire::MakeAllNulls());
  }
  for (size_t j = levels; j-- > 0;) {
    node = has_nulls[j] ? wire::MakeSomeNulls(std::move(validity[j]), std::move(node))
                        : wire::MakeNoNulls(std::move(node));
    if (j > 0) node = wire::MakeFixedSizeList(values.type.dimensions[j - 1], std::move(node));
  }
  return node;
}

// The bytes of strings, as one buffer: compressed if the hint asks for it and that helps.
arrow::Result<ArrayEncoding> EncodeBytes(std::span<const uint8_t> bytes,
                                         const std::shared_ptr<arrow::Buffer>& owner,
                                         const EncodingHints& hints, EncodedPage* page) {
  const int64_t start = static_cast<int64_t>(bytes.data() - owner->data());
  if (IsGeneral(hints.compression) && !bytes.empty()) {
    std::vector<uint8_t> compressed;
    ARROW_RETURN_NOT_OK(
        Compress(SchemeOf(hints.compression), bytes, hints.compression_level, &compressed));
    if (compressed.size() < bytes.size()) {
      ArrayEncoding node =
          wire::MakeFlat(8, AddBuffer(arrow::Buffer::FromVector(std::move(compressed)), page));
      node.scheme = hints.compression == CompressionHint::kZstd ? "zstd" : "lz4";
      return node;
    }
  }
  return wire::MakeFlat(
      8, AddBuffer(arrow::SliceBuffer(owner, start, static_cast<int64_t>(bytes.size())), page));
}

arrow::Result<ArrayEncoding> EncodeStrings(const LeafValues& values, const EncodingHints& hints,
                                           EncodedPage* page, arrow::MemoryPool* pool) {
  const uint64_t start = values.value_start(0);
  const uint64_t total = values.value_start(values.length) - start;
  const uint64_t adjustment = total + 1;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> indices,
      arrow::AllocateBuffer(static_cast<int64_t>(values.length * sizeof(uint64_t)), pool));
  auto* ends = reinterpret_cast<uint64_t*>(indices->mutable_data());
  for (uint64_t i = 0; i < values.length; ++i) ends[i] = values.value_start(i + 1) - start;
  if (values.validity != nullptr) {
    for (uint64_t i = 0; i < values.length; ++i) {
      if (!values.is_valid(i)) ends[i] += adjustment;
    }
  }
  const uint32_t index_buffer = AddBuffer(std::move(indices), page);
  ARROW_ASSIGN_OR_RAISE(ArrayEncoding bytes, EncodeBytes({values.data->data() + start, total},
                                                         values.data, hints, page));
  return wire::MakeBinary(wire::MakeNoNulls(wire::MakeFlat(64, index_buffer)), std::move(bytes),
                          adjustment);
}

// Few distinct strings as a dictionary: indexes of one byte, 0 for null, then the items. Nothing if
// there are too many.
arrow::Result<std::optional<ArrayEncoding>> TryDictionaryV20(const LeafValues& values,
                                                             EncodedPage* page,
                                                             arrow::MemoryPool* pool) {
  constexpr uint64_t kMinValues = 100;
  constexpr uint64_t kMaxItems = 255;
  // The reference reader takes the items of any other type for utf8.
  if (!values.type.is_dictionary_string || values.length < kMinValues) return std::nullopt;
  const StringKeys<int32_t> keys(values);
  DistinctValues distinct(keys, kMaxItems + 1);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> indexes,
                        arrow::AllocateBuffer(static_cast<int64_t>(values.length), pool));
  for (uint64_t i = 0; i < values.length; ++i) {
    uint32_t index = 0;
    if (values.is_valid(i)) {
      index = distinct.Add(i) + 1;
      if (index > kMaxItems) return std::nullopt;
    }
    indexes->mutable_data()[i] = static_cast<uint8_t>(index);
  }
  const LeafValues items = TakeItems(values, distinct.first());
  ArrayEncoding node{.kind = wire::ArrayEncodingKind::kDictionary, .num_items = items.length};
  node.children.push_back(wire::MakeNoNulls(wire::MakeFlat(8, AddBuffer(indexes, page))));
  ARROW_ASSIGN_OR_RAISE(ArrayEncoding strings, EncodeStrings(items, {}, page, pool));
  node.children.push_back(std::move(strings));
  return node;
}

// Strings in the form that suits them.
arrow::Result<ArrayEncoding> EncodeStringPage(const LeafValues& values, const EncodingHints& hints,
                                              EncodedPage* page, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::optional<ArrayEncoding> dictionary,
                        TryDictionaryV20(values, page, pool));
  if (dictionary) return *std::move(dictionary);
  // The reference reader does not take Fsst for types of 64-bit offsets.
  if (hints.compression != CompressionHint::kFsst || values.type.offset_bits != 32) {
    return EncodeStrings(values, hints, page, pool);
  }
  ARROW_ASSIGN_OR_RAISE(FsstValues coded, EncodeFsst(values, hints, pool));
  if (!coded.used()) return EncodeStrings(values, hints, page, pool);
  LeafValues stored = values;
  stored.data = std::move(coded.data);
  stored.offsets = std::move(coded.offsets);
  ArrayEncoding node{.kind = wire::ArrayEncodingKind::kFsst,
                     .symbol_table = std::move(coded.table)};
  ARROW_ASSIGN_OR_RAISE(ArrayEncoding binary, EncodeStrings(stored, hints, page, pool));
  node.children.push_back(std::move(binary));
  return node;
}

}  // namespace

arrow::Result<ArrayEncoding> V20Node(const LeafValues& values, EncodedPage* page,
                                     arrow::MemoryPool* pool) {
  if (values.all_null()) return wire::MakeAllNulls();
  if (values.type.kind == LeafKind::kFixed) return EncodeFixed(values, page);
  return EncodeStrings(values, {}, page, pool);
}

arrow::Result<EncodedPage> EncodeV20Page(const LeafValues& values, const EncodingHints& hints,
                                         arrow::MemoryPool* pool) {
  EncodedPage page{.length = values.length};
  ArrayEncoding root;
  if (values.type.kind == LeafKind::kVariable && !values.all_null()) {
    ARROW_ASSIGN_OR_RAISE(root, EncodeStringPage(values, hints, &page, pool));
  } else {
    ARROW_ASSIGN_OR_RAISE(root, V20Node(values, &page, pool));
  }
  ARROW_ASSIGN_OR_RAISE(page.encoding, wire::SerializeArrayEncoding(root));
  return page;
}

}  // namespace pennon::encoding
