#include "pennon/encoding/v20/page_writer.h"

#include <utility>

#include "pennon/wire/array_encoding.h"

namespace pennon::encoding {
namespace {

using wire::ArrayEncoding;

// Puts `buffer` into the page and gives its number there.
uint32_t AddBuffer(std::shared_ptr<arrow::Buffer> buffer, EncodedPage* page) {
  page->buffers.push_back(std::move(buffer));
  return static_cast<uint32_t>(page->buffers.size() - 1);
}

// Levels from the outside in, then the items: validity comes before what it is about.
ArrayEncoding EncodeFixed(const LeafValues& values, EncodedPage* page) {
  const size_t levels = values.type.dimensions.size() + 1;
  std::vector<ArrayEncoding> validity(levels);
  std::vector<bool> has_nulls(levels);
  for (size_t j = 0; j < levels; ++j) {
    const auto& bitmap = j == 0 ? values.validity : values.item_validity[j - 1];
    has_nulls[j] = bitmap != nullptr;
    if (has_nulls[j]) validity[j] = wire::MakeFlat(1, AddBuffer(bitmap, page));
  }
  ArrayEncoding node = wire::MakeFlat(values.type.bits_per_item, AddBuffer(values.data, page));
  for (size_t j = levels; j-- > 0;) {
    node = has_nulls[j] ? wire::MakeSomeNulls(std::move(validity[j]), std::move(node))
                        : wire::MakeNoNulls(std::move(node));
    if (j > 0) node = wire::MakeFixedSizeList(values.type.dimensions[j - 1], std::move(node));
  }
  return node;
}

arrow::Result<ArrayEncoding> EncodeStrings(const LeafValues& values, EncodedPage* page,
                                           arrow::MemoryPool* pool) {
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
  const uint32_t byte_buffer = AddBuffer(
      arrow::SliceBuffer(values.data, static_cast<int64_t>(start), static_cast<int64_t>(total)),
      page);
  return wire::MakeBinary(wire::MakeNoNulls(wire::MakeFlat(64, index_buffer)),
                          wire::MakeFlat(8, byte_buffer), adjustment);
}

}  // namespace

arrow::Result<ArrayEncoding> V20Node(const LeafValues& values, EncodedPage* page,
                                     arrow::MemoryPool* pool) {
  if (values.all_null()) return wire::MakeAllNulls();
  if (values.type.kind == LeafKind::kFixed) return EncodeFixed(values, page);
  return EncodeStrings(values, page, pool);
}

arrow::Result<EncodedPage> EncodeV20Page(const LeafValues& values, arrow::MemoryPool* pool) {
  EncodedPage page{.length = values.length};
  ARROW_ASSIGN_OR_RAISE(const ArrayEncoding root, V20Node(values, &page, pool));
  ARROW_ASSIGN_OR_RAISE(page.encoding, wire::SerializeArrayEncoding(root));
  return page;
}

}  // namespace pennon::encoding
