#include "pennon/encoding/nested/shredding.h"

#include <memory>
#include <string>
#include <vector>

#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::LayerKind;
using DataPtr = std::shared_ptr<arrow::ArrayData>;

// Validity of `valid`, or none if it is empty.
std::shared_ptr<arrow::Buffer> Bits(const std::vector<int>& valid) {
  if (valid.empty()) return nullptr;
  std::vector<uint8_t> bits((valid.size() + 7) / 8);
  for (size_t i = 0; i < valid.size(); ++i)
    arrow::bit_util::SetBitTo(bits.data(), static_cast<int64_t>(i), valid[i] != 0);
  return arrow::Buffer::FromVector(std::move(bits));
}

DataPtr Ints(const std::vector<int32_t>& values, const std::vector<int>& valid = {}) {
  return arrow::ArrayData::Make(arrow::int32(), static_cast<int64_t>(values.size()),
                                {Bits(valid), arrow::Buffer::FromVector(values)});
}

template <typename Offset = int32_t>
DataPtr List(const std::vector<Offset>& offsets, const DataPtr& items,
             const std::vector<int>& valid = {}) {
  const auto type = sizeof(Offset) == 4 ? arrow::list(items->type) : arrow::large_list(items->type);
  return arrow::ArrayData::Make(type, static_cast<int64_t>(offsets.size()) - 1,
                                {Bits(valid), arrow::Buffer::FromVector(offsets)}, {items});
}

DataPtr Struct(const std::vector<DataPtr>& children, const std::vector<int>& valid = {}) {
  arrow::FieldVector fields;
  for (size_t i = 0; i < children.size(); ++i)
    fields.push_back(arrow::field("f" + std::to_string(i), children[i]->type));
  return arrow::ArrayData::Make(arrow::struct_(fields), children[0]->length, {Bits(valid)},
                                children);
}

NestingLayer ItemLayer(int child = 0) { return {.child = child}; }
NestingLayer ListLayer() { return {.kind = NestingKind::kList, .child = 0}; }
NestingLayer LeafLayer() { return {.child = -1}; }

ShreddedRows ShredAll(const DataPtr& array, const Nesting& nesting, bool declare_all = false) {
  return Shred(*array, nesting, declare_all, arrow::default_memory_pool()).ValueOrDie();
}

// The values that `rows` has, null ones as -1.
std::vector<int32_t> Values(const ShreddedRows& rows) {
  std::vector<int32_t> out;
  const int32_t* values = rows.values->GetValues<int32_t>(1);
  for (int64_t i = 0; i < rows.values->length; ++i) {
    const bool valid =
        rows.validity == nullptr || arrow::bit_util::GetBit(rows.validity->data(), i);
    out.push_back(valid ? values[i] : -1);
  }
  return out;
}

TEST(ShreddingTest, ListWithNullsAndEmpties) {
  // [1,2]  []  null  [null,3]
  const auto list = List({0, 2, 2, 2, 4}, Ints({1, 2, 0, 3}, {1, 1, 0, 1}), {1, 1, 0, 1});
  const ShreddedRows rows = ShredAll(list, {ListLayer(), LeafLayer()});
  EXPECT_THAT(rows.nesting.layers,
              ElementsAre(LayerKind::kNullableItem, LayerKind::kNullAndEmptyList));
  EXPECT_THAT(rows.nesting.repetition, ElementsAre(1, 0, 1, 1, 1, 0));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(0, 0, 3, 2, 1, 0));
  EXPECT_THAT(Values(rows), ElementsAre(1, 2, -1, 3));
  EXPECT_EQ(rows.nesting.entries, 6u);
  EXPECT_EQ(rows.nesting.rows, 4u);
  EXPECT_EQ(rows.nesting.slots, 4u);
  EXPECT_EQ(rows.nesting.max_visible, 1);
  EXPECT_EQ(rows.nesting.max_definition, 3);
  EXPECT_EQ(rows.nesting.max_repetition, 1);
  EXPECT_EQ(rows.null_count, 1u);
}

TEST(ShreddingTest, StructAboveListAndLeaf) {
  // {[7,8],1}  null  {null,null}  {[],4}  {[null],5}
  const auto lists = List({0, 2, 2, 2, 2, 3}, Ints({7, 8, 0}, {1, 1, 0}), {1, 0, 0, 1, 1});
  const auto all = Struct({lists, Ints({1, 0, 0, 4, 5}, {1, 0, 0, 1, 1})}, {1, 0, 1, 1, 1});
  const ShreddedRows list = ShredAll(all, {ItemLayer(0), ListLayer(), LeafLayer()});
  EXPECT_THAT(list.nesting.layers,
              ElementsAre(LayerKind::kNullableItem, LayerKind::kNullAndEmptyList,
                          LayerKind::kNullableItem));
  EXPECT_THAT(list.nesting.repetition, ElementsAre(1, 0, 1, 1, 1, 1));
  EXPECT_THAT(list.nesting.definition, ElementsAre(0, 0, 4, 2, 3, 1));
  EXPECT_THAT(Values(list), ElementsAre(7, 8, -1));

  const ShreddedRows leaf = ShredAll(all, {ItemLayer(1), LeafLayer()});
  EXPECT_THAT(leaf.nesting.layers, ElementsAre(LayerKind::kNullableItem, LayerKind::kNullableItem));
  EXPECT_THAT(leaf.nesting.repetition, IsEmpty());
  EXPECT_THAT(leaf.nesting.definition, ElementsAre(0, 2, 1, 0, 0));
  EXPECT_THAT(Values(leaf), ElementsAre(1, -1, -1, 4, 5));
  EXPECT_EQ(leaf.nesting.entries, 5u);
}

TEST(ShreddingTest, ListOfLists) {
  // [[1],[]]  []  null  [[2,3],null]
  const auto inner = List({0, 1, 1, 3, 3}, Ints({1, 2, 3}), {1, 1, 1, 0});
  const auto outer = List({0, 2, 2, 2, 4}, inner, {1, 1, 0, 1});
  const ShreddedRows rows = ShredAll(outer, {ListLayer(), ListLayer(), LeafLayer()});
  EXPECT_THAT(rows.nesting.layers,
              ElementsAre(LayerKind::kAllValidItem, LayerKind::kNullAndEmptyList,
                          LayerKind::kNullAndEmptyList));
  EXPECT_THAT(rows.nesting.repetition, ElementsAre(2, 1, 2, 2, 2, 0, 1));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(0, 2, 4, 3, 0, 0, 1));
  EXPECT_THAT(Values(rows), ElementsAre(1, 2, 3));
  EXPECT_EQ(rows.validity, nullptr);
}

TEST(ShreddingTest, ListOfStructs) {
  // [{1},null]  null  []  [{null},{5}]
  const auto items = Struct({Ints({1, 9, 0, 5}, {1, 1, 0, 1})}, {1, 0, 1, 1});
  const auto list = List<int64_t>({0, 2, 2, 2, 4}, items, {1, 0, 1, 1});
  const ShreddedRows rows = ShredAll(list, {ListLayer(), ItemLayer(), LeafLayer()});
  EXPECT_THAT(rows.nesting.layers, ElementsAre(LayerKind::kNullableItem, LayerKind::kNullableItem,
                                               LayerKind::kNullAndEmptyList));
  EXPECT_THAT(rows.nesting.repetition, ElementsAre(1, 0, 1, 1, 1, 0));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(0, 2, 3, 4, 1, 0));
  // The value under the null struct is null, whatever its own validity says.
  EXPECT_THAT(Values(rows), ElementsAre(1, -1, -1, 5));
}

TEST(ShreddingTest, WhatLiesUnderNullListsIsDropped) {
  // [1], null over {8, 8}, [2]: between the offsets, and before and behind them, too.
  const auto list = List({1, 2, 4, 5}, Ints({9, 1, 8, 8, 2, 9}), {1, 0, 1});
  const ShreddedRows rows = ShredAll(list, {ListLayer(), LeafLayer()});
  EXPECT_THAT(rows.nesting.layers, ElementsAre(LayerKind::kAllValidItem, LayerKind::kNullableList));
  EXPECT_THAT(rows.nesting.repetition, ElementsAre(1, 1, 1));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(0, 1, 0));
  EXPECT_THAT(Values(rows), ElementsAre(1, 2));
}

TEST(ShreddingTest, ListUnderNullStructOwnsNothing) {
  // {[1]}  null over [2,3]  {[4]}
  const auto all = Struct({List({0, 1, 3, 4}, Ints({1, 2, 3, 4}))}, {1, 0, 1});
  const ShreddedRows rows = ShredAll(all, {ItemLayer(), ListLayer(), LeafLayer()});
  EXPECT_THAT(rows.nesting.layers, ElementsAre(LayerKind::kAllValidItem, LayerKind::kAllValidList,
                                               LayerKind::kNullableItem));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(0, 1, 0));
  EXPECT_THAT(Values(rows), ElementsAre(1, 4));
  EXPECT_EQ(rows.nesting.max_visible, 0);
}

TEST(ShreddingTest, SlicesStartWhereTheyStart) {
  const auto items =
      Struct({Ints({0, 1, 2, 3, 4, 5}, {1, 1, 0, 1, 1, 1})->Slice(1, 5)}, {1, 1, 0, 1, 1})
          ->Slice(1, 4);
  // Items: {null} null {4} {5}; lists: [{null},null] null [{4}], the last one is cut off.
  const auto lists = List({0, 0, 2, 2, 3, 4}, items, {1, 1, 0, 1, 1});
  const ShreddedRows rows = ShredAll(lists->Slice(1, 3), {ListLayer(), ItemLayer(), LeafLayer()});
  EXPECT_THAT(rows.nesting.repetition, ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(Values(rows), ElementsAre(-1, -1, 4));
  EXPECT_EQ(rows.nesting.rows, 3u);
}

TEST(ShreddingTest, FixedSizeListsRepeatTheirLevels) {
  const auto items = Struct({Ints({1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 0, 1})}, {1, 0, 1, 1, 1, 1});
  auto lists =
      arrow::ArrayData::Make(arrow::fixed_size_list(items->type, 2), 3, {Bits({1, 0, 1})}, {items});
  const Nesting nesting = {
      {.kind = NestingKind::kFixedSizeList, .child = 0}, ItemLayer(), LeafLayer()};
  const ShreddedRows rows = ShredAll(lists, nesting);
  EXPECT_THAT(rows.nesting.layers, ElementsAre(LayerKind::kNullableItem, LayerKind::kNullableItem,
                                               LayerKind::kNullableItem));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(0, 2, 3, 3, 1, 0));
  EXPECT_EQ(rows.nesting.rows, 3u);
  EXPECT_EQ(rows.nesting.slots, 6u);
  EXPECT_THAT(ShredAll(lists->Slice(1, 2), nesting).nesting.definition, ElementsAre(2, 2, 1, 0));
}

TEST(ShreddingTest, NothingNullTakesNoDefinitions) {
  const auto list = List({0, 2, 3}, Ints({1, 2, 3}, {1, 1, 1}));
  const ShreddedRows rows = ShredAll(list, {ListLayer(), LeafLayer()});
  EXPECT_THAT(rows.nesting.layers, ElementsAre(LayerKind::kAllValidItem, LayerKind::kAllValidList));
  EXPECT_THAT(rows.nesting.repetition, ElementsAre(1, 0, 1));
  EXPECT_THAT(rows.nesting.definition, IsEmpty());
  EXPECT_EQ(rows.nesting.entries, 3u);
}

TEST(ShreddingTest, DeclaredLayersFollowTheFields) {
  const auto list = List({0, 2, 3}, Ints({1, 2, 3}));
  const ShreddedRows rows = ShredAll(list, {ListLayer(), LeafLayer()}, /*declare_all=*/true);
  EXPECT_THAT(rows.nesting.layers,
              ElementsAre(LayerKind::kNullableItem, LayerKind::kNullAndEmptyList));
  EXPECT_THAT(rows.nesting.definition, ElementsAre(0, 0, 0));
  EXPECT_EQ(rows.validity, nullptr);
  Nesting required = {ListLayer(), LeafLayer()};
  for (NestingLayer& layer : required) layer.nullable = false;
  EXPECT_THAT(ShredAll(list, required, true).nesting.layers,
              ElementsAre(LayerKind::kAllValidItem, LayerKind::kEmptyableList));
}

TEST(ShreddingTest, NullsInRequiredFieldsAreErrors) {
  const auto list = List({0, 1, 2}, Ints({1, 2}, {1, 0}));
  Nesting nesting = {ListLayer(), LeafLayer()};
  nesting[1].nullable = false;
  nesting[1].column = "l.item";
  const auto made = Shred(*list, nesting, false, arrow::default_memory_pool());
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("not nullable, column: l.item"));
  // Under a null list nothing is there to be null.
  EXPECT_TRUE(Shred(*list->Slice(0, 1), nesting, false, arrow::default_memory_pool()).ok());
}

TEST(ShreddingTest, BrokenOffsetsAreErrors) {
  const Nesting nesting = {ListLayer(), LeafLayer()};
  for (const auto& offsets : {std::vector<int32_t>{0, 2, 1, 3}, {0, 1, 2, 9}, {-1, 1, 2, 3}}) {
    const auto made =
        Shred(*List(offsets, Ints({1, 2, 3})), nesting, false, arrow::default_memory_pool());
    ASSERT_FALSE(made.ok());
    EXPECT_THAT(made.status().message(), HasSubstr("offsets that descend or leave its items"));
  }
}

TEST(HasItemAboveListTest, CountsStructsAroundLists) {
  EXPECT_FALSE(HasItemAboveList({ListLayer(), ItemLayer(), LeafLayer()}));
  EXPECT_TRUE(HasItemAboveList({ItemLayer(), ListLayer(), LeafLayer()}));
  EXPECT_TRUE(HasItemAboveList({ListLayer(), ItemLayer(), ListLayer(), LeafLayer()}));
  EXPECT_FALSE(HasItemAboveList({LeafLayer()}));
}

}  // namespace
}  // namespace pennon::encoding
