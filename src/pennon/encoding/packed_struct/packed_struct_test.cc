#include "pennon/encoding/packed_struct/packed_struct.h"

#include <cstring>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

bool IsCorrupt(const arrow::Status& status) {
  const ErrorDetail* const detail = GetErrorDetail(status);
  return detail != nullptr && detail->kind() == ErrorKind::kCorrupt;
}

using wire::CompressionKind;
using wire::CompressiveEncoding;
using Bytes = std::span<const uint8_t>;

CompressiveEncoding Flat(uint64_t bits) {
  CompressiveEncoding out;
  out.bits = bits;
  return out;
}

CompressiveEncoding Around(CompressionKind kind, CompressiveEncoding inner) {
  CompressiveEncoding out;
  out.kind = kind;
  out.children.push_back(std::move(inner));
  return out;
}

/// <a int32, b utf8, c fixed_size_list<int8, 3> with holes>
CompressiveEncoding Sample() {
  CompressiveEncoding list = Around(CompressionKind::kFixedSizeList, Flat(8));
  list.items_per_value = 3;
  list.has_validity = true;
  CompressiveEncoding out;
  out.kind = CompressionKind::kVariablePackedStruct;
  out.children = {Flat(32), Around(CompressionKind::kVariable, Flat(32)), list};
  out.child_bits = {32, 32, 32};
  out.child_is_variable = {false, true, false};
  return out;
}

std::shared_ptr<arrow::DataType> SampleType() {
  return arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8()),
                         arrow::field("c", arrow::fixed_size_list(arrow::int8(), 3))});
}

const std::vector<uint8_t> kFirst = {5, 0, 0, 0, 2, 0, 0, 0, 'x', 'y', 0b101, 1, 2, 3};
const std::vector<uint8_t> kThird = {6, 0, 0, 0, 0, 0, 0, 0, 0b111, 4, 5, 6};

arrow::Result<std::shared_ptr<arrow::Array>> Read(std::vector<Bytes> rows) {
  ARROW_ASSIGN_OR_RAISE(const LeafType type, LeafType::Make(*SampleType()));
  ARROW_ASSIGN_OR_RAISE(const auto packed, VariablePackedRows::Make(Sample(), type));
  ARROW_ASSIGN_OR_RAISE(auto out,
                        ColumnOutput::Make(type, rows.size(), arrow::default_memory_pool()));
  ARROW_RETURN_NOT_OK(packed.Write(rows, 0, out.get()));
  ARROW_ASSIGN_OR_RAISE(auto data, out->Finish(SampleType()));
  return arrow::MakeArray(data);
}

TEST(PackedStructTest, ReadsFixedStringAndListChildren) {
  const auto array = Read({kFirst, Bytes(), kThird});
  ASSERT_TRUE(array.ok()) << array.status().ToString();
  ASSERT_TRUE((*array)->ValidateFull().ok());
  const auto& rows = static_cast<const arrow::StructArray&>(**array);
  const auto& a = static_cast<const arrow::Int32Array&>(*rows.field(0));
  EXPECT_EQ(a.Value(0), 5);
  EXPECT_EQ(a.Value(1), 0);
  EXPECT_EQ(a.Value(2), 6);
  EXPECT_EQ(rows.field(1)->ToString(), "[\n  \"xy\",\n  \"\",\n  \"\"\n]");
  const auto& c = static_cast<const arrow::FixedSizeListArray&>(*rows.field(2));
  const auto& items = static_cast<const arrow::Int8Array&>(*c.values());
  EXPECT_TRUE(items.IsNull(1));
  EXPECT_EQ(items.null_count(), 1);
  EXPECT_EQ(items.Value(2), 3);
  EXPECT_EQ(items.Value(8), 6);
}

TEST(PackedStructTest, InnerListsThatAreAllNullHaveNoItems) {
  CompressiveEncoding null;
  null.kind = CompressionKind::kConstant;
  CompressiveEncoding lists = Around(CompressionKind::kFixedSizeList, null);
  lists.items_per_value = 2;
  lists.has_validity = true;
  CompressiveEncoding encoding;
  encoding.kind = CompressionKind::kVariablePackedStruct;
  encoding.children = {lists, Flat(8)};
  encoding.child_bits = {8, 8};
  encoding.child_is_variable = {false, false};
  const auto inner = arrow::fixed_size_list(arrow::int16(), 3);
  const auto arrow_type = arrow::struct_(
      {arrow::field("a", arrow::fixed_size_list(inner, 2)), arrow::field("b", arrow::int8())});
  const auto type = LeafType::Make(*arrow_type).ValueOrDie();
  const auto packed = VariablePackedRows::Make(encoding, type);
  ASSERT_TRUE(packed.ok()) << packed.status();
  auto out = ColumnOutput::Make(type, 1, arrow::default_memory_pool()).ValueOrDie();
  const std::vector<uint8_t> row = {0, 7};
  std::vector<Bytes> rows = {row};
  ASSERT_TRUE(packed->Write(rows, 0, out.get()).ok());
  const auto array = arrow::MakeArray(out->Finish(arrow_type).ValueOrDie());
  ASSERT_TRUE(array->ValidateFull().ok());
  const auto& lists_of = static_cast<const arrow::FixedSizeListArray&>(
      *static_cast<const arrow::StructArray&>(*array).field(0));
  EXPECT_EQ(lists_of.null_count(), 0);
  EXPECT_EQ(lists_of.values()->null_count(), 2);
}

TEST(PackedStructTest, RowsOfWrongLengthAreCorrupt) {
  for (size_t size = 0; size < kFirst.size(); ++size) {
    EXPECT_TRUE(IsCorrupt(Read({Bytes(kFirst).first(size)}).status())) << size;
  }
  std::vector<uint8_t> longer = kFirst;
  longer.push_back(0);
  EXPECT_TRUE(IsCorrupt(Read({longer}).status()));
  std::vector<uint8_t> huge = kFirst;
  for (size_t i = 4; i < 8; ++i) huge[i] = 0xff;
  EXPECT_TRUE(IsCorrupt(Read({huge}).status()));
}

TEST(PackedStructTest, EncodingsOfOtherTypesAreRefused) {
  const auto type = LeafType::Make(*SampleType());
  ASSERT_TRUE(type.ok());
  const auto status = [&](const CompressiveEncoding& encoding) {
    return VariablePackedRows::Make(encoding, *type).status();
  };
  EXPECT_TRUE(status(Sample()).ok());
  CompressiveEncoding wrong = Sample();
  wrong.child_bits[0] = 64;
  EXPECT_TRUE(IsCorrupt(status(wrong)));
  wrong = Sample();
  wrong.child_bits[1] = 24;
  EXPECT_TRUE(IsCorrupt(status(wrong)));
  wrong = Sample();
  wrong.child_is_variable[1] = false;
  EXPECT_TRUE(IsCorrupt(status(wrong)));
  wrong = Sample();
  wrong.children[2].items_per_value = 2;
  EXPECT_TRUE(IsCorrupt(status(wrong)));
  wrong = Sample();
  wrong.children.pop_back();
  wrong.child_bits.pop_back();
  wrong.child_is_variable.pop_back();
  EXPECT_TRUE(IsCorrupt(status(wrong)));
  EXPECT_FALSE(status(Flat(96)).ok());
}

TEST(PackedStructTest, FixedRowsAreSpreadOverTheChildren) {
  const auto arrow_type = arrow::struct_(
      {arrow::field("a", arrow::int16()), arrow::field("b", arrow::fixed_size_binary(3))});
  const auto type = LeafType::Make(*arrow_type);
  ASSERT_TRUE(type.ok());
  CompressiveEncoding encoding = Around(CompressionKind::kPackedStruct, Flat(40));
  encoding.child_bits = {16, 24};
  ASSERT_EQ(PackedRowBits(encoding, *type).ValueOr(0), 40U);
  auto out = ColumnOutput::Make(*type, 3, arrow::default_memory_pool());
  ASSERT_TRUE(out.ok());
  const std::vector<uint8_t> rows = {1, 0, 'a', 'b', 'c', 2, 1, 'd', 'e', 'f'};
  (*out)->ZeroSlots(0, 1);
  WritePackedRows(rows.data(), 5, 2, 1, out->get());
  const auto data = (*out)->Finish(arrow_type);
  ASSERT_TRUE(data.ok());
  const auto array = arrow::MakeArray(*data);
  ASSERT_TRUE(array->ValidateFull().ok());
  const auto& a =
      static_cast<const arrow::Int16Array&>(*static_cast<arrow::StructArray&>(*array).field(0));
  EXPECT_EQ(a.Value(0), 0);
  EXPECT_EQ(a.Value(1), 1);
  EXPECT_EQ(a.Value(2), 258);

  encoding.child_bits = {16, 32};
  EXPECT_TRUE(IsCorrupt(PackedRowBits(encoding, *type).status()));
  encoding.child_bits = {16};
  EXPECT_TRUE(IsCorrupt(PackedRowBits(encoding, *type).status()));
  encoding = Around(CompressionKind::kPackedStruct, Flat(48));
  encoding.child_bits = {16, 24};
  EXPECT_TRUE(IsCorrupt(PackedRowBits(encoding, *type).status()));
}

}  // namespace
}  // namespace pennon::encoding
