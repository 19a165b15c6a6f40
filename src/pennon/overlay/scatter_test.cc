#include "pennon/overlay/scatter.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <gtest/gtest.h>

namespace pennon::overlay {
namespace {

using arrow::ArrayData;

std::mt19937& Random() {
  static std::mt19937 random(7);
  return random;
}
uint32_t Pick(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(Random()); }

// Random values of a type; every fourth array has no nulls.
std::shared_ptr<arrow::Array> RandomArray(const std::shared_ptr<arrow::DataType>& type,
                                          int64_t length) {
  bool nulls = Pick(4) != 0;
  auto builder = arrow::MakeBuilder(type).ValueOrDie();
  for (int64_t i = 0; i < length; ++i) {
    if (nulls && Pick(4) == 0) {
      EXPECT_TRUE(builder->AppendNull().ok());
      continue;
    }
    std::string text(Pick(6), static_cast<char>('a' + Pick(26)));
    switch (type->id()) {
      case arrow::Type::BOOL:
        EXPECT_TRUE(static_cast<arrow::BooleanBuilder&>(*builder).Append(Pick(2) == 1).ok());
        break;
      case arrow::Type::INT8:
        EXPECT_TRUE(
            static_cast<arrow::Int8Builder&>(*builder).Append(static_cast<int8_t>(Pick(200))).ok());
        break;
      case arrow::Type::INT16:
        EXPECT_TRUE(static_cast<arrow::Int16Builder&>(*builder)
                        .Append(static_cast<int16_t>(Pick(9999)))
                        .ok());
        break;
      case arrow::Type::INT32:
        EXPECT_TRUE(static_cast<arrow::Int32Builder&>(*builder)
                        .Append(static_cast<int32_t>(Pick(1 << 30)))
                        .ok());
        break;
      case arrow::Type::DOUBLE:
        EXPECT_TRUE(static_cast<arrow::DoubleBuilder&>(*builder).Append(Pick(1000) / 7.0).ok());
        break;
      case arrow::Type::DECIMAL128:
        EXPECT_TRUE(static_cast<arrow::Decimal128Builder&>(*builder)
                        .Append(arrow::Decimal128(Pick(1000)))
                        .ok());
        break;
      case arrow::Type::FIXED_SIZE_BINARY:
        text = "abc";
        text[Pick(3)] = static_cast<char>('0' + Pick(10));
        EXPECT_TRUE(static_cast<arrow::FixedSizeBinaryBuilder&>(*builder).Append(text).ok());
        break;
      case arrow::Type::STRING:
        EXPECT_TRUE(static_cast<arrow::StringBuilder&>(*builder).Append(text).ok());
        break;
      case arrow::Type::LARGE_BINARY:
        EXPECT_TRUE(static_cast<arrow::LargeBinaryBuilder&>(*builder).Append(text).ok());
        break;
      default:
        ADD_FAILURE() << type->ToString();
    }
  }
  return builder->Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> RandomList(const std::shared_ptr<arrow::DataType>& item, int32_t size,
                                         int64_t length) {
  auto items = RandomArray(item, length * size);
  auto list = arrow::FixedSizeListArray::FromArrays(items, size).ValueOrDie()->data()->Copy();
  auto mask = RandomArray(arrow::int8(), length);
  list->buffers[0] = mask->null_bitmap();
  list->null_count = mask->null_count();
  return arrow::MakeArray(list);
}

// Deep copy, so that ScatterPieces may write.
std::shared_ptr<ArrayData> Writable(const std::shared_ptr<ArrayData>& data) {
  auto copy = data->Copy();
  for (auto& buffer : copy->buffers) {
    if (buffer) buffer = buffer->CopySlice(0, buffer->size()).ValueOrDie();
  }
  for (auto& child : copy->child_data) child = Writable(child);
  return copy;
}

// Slot i of the result: from the piece that names it, else from the base.
void CheckScatter(const std::shared_ptr<arrow::Array>& base,
                  const std::function<std::shared_ptr<arrow::Array>(int64_t)>& make) {
  int64_t length = base->length();
  std::vector<std::pair<const arrow::Array*, int64_t>> expected;
  for (int64_t i = 0; i < length; ++i) expected.emplace_back(base.get(), i);
  std::vector<uint32_t> slots(static_cast<size_t>(length));
  std::iota(slots.begin(), slots.end(), 0);
  std::shuffle(slots.begin(), slots.end(), Random());

  std::vector<std::shared_ptr<arrow::Array>> values;
  std::vector<std::vector<uint32_t>> owned(3);
  std::vector<SlotList> lists(3);
  std::vector<Piece> pieces;
  size_t taken = 0;
  for (size_t p = 0; p < 3; ++p) {
    size_t count =
        std::min<size_t>(Pick(static_cast<uint32_t>(length / 2 + 2)), slots.size() - taken);
    owned[p].assign(slots.begin() + taken, slots.begin() + taken + count);
    taken += count;
    std::sort(owned[p].begin(), owned[p].end());
    uint64_t first = Pick(3);
    values.push_back(make(static_cast<int64_t>(first + count)));
    for (size_t i = 0; i < count; ++i) {
      expected[owned[p][i]] = {values[p].get(), static_cast<int64_t>(first + i)};
    }
    if (p == 1) {  // the run form
      for (size_t i = 0; i < count; ++i) {
        auto& runs = lists[p].runs;
        if (!runs.empty() && runs.back().slot + runs.back().count == owned[p][i]) {
          ++runs.back().count;
        } else {
          runs.push_back({owned[p][i], 1, static_cast<uint32_t>(i)});
        }
      }
    } else {
      lists[p].minus = static_cast<uint32_t>(p);
      for (uint32_t& slot : owned[p]) slot += static_cast<uint32_t>(p);
      lists[p].offsets = owned[p];
    }
    pieces.push_back({values[p]->data().get(), first, &lists[p]});
  }
  auto column = Writable(base->data());
  auto status = ScatterPieces(pieces, column.get(), arrow::default_memory_pool());
  ASSERT_TRUE(status.ok()) << status.ToString();
  auto got = arrow::MakeArray(column);
  ASSERT_TRUE(got->ValidateFull().ok()) << got->ValidateFull().ToString();
  for (int64_t i = 0; i < length; ++i) {
    ASSERT_TRUE(got->RangeEquals(*expected[i].first, i, i + 1, expected[i].second))
        << base->type()->ToString() << " slot " << i;
  }
}

TEST(Scatter, EveryTypeAgreesWithSlotBySlot) {
  std::vector<std::shared_ptr<arrow::DataType>> types = {arrow::boolean(),
                                                         arrow::int8(),
                                                         arrow::int16(),
                                                         arrow::int32(),
                                                         arrow::float64(),
                                                         arrow::decimal128(20, 2),
                                                         arrow::fixed_size_binary(3),
                                                         arrow::utf8(),
                                                         arrow::large_binary()};
  for (const auto& type : types) {
    for (int round = 0; round < 40; ++round) {
      CheckScatter(RandomArray(type, Pick(70)), [&](int64_t n) { return RandomArray(type, n); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Scatter, FixedSizeListsWithItemNulls) {
  for (const auto& item : {arrow::float64(), arrow::boolean(), arrow::int8()}) {
    for (int round = 0; round < 40; ++round) {
      CheckScatter(RandomList(item, 5, Pick(50)),
                   [&](int64_t n) { return RandomList(item, 5, n); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Scatter, StructsAndTheirFields) {
  auto make = [](int64_t length) {
    auto inner = arrow::StructArray::Make({RandomArray(arrow::int16(), length)},
                                          std::vector<std::string>{"x"})
                     .ValueOrDie();
    auto mask = RandomArray(arrow::int8(), length);
    return std::static_pointer_cast<arrow::Array>(
        arrow::StructArray::Make(
            {RandomArray(arrow::utf8(), length), inner, RandomList(arrow::boolean(), 2, length)},
            std::vector<std::string>{"a", "b", "c"}, mask->null_bitmap())
            .ValueOrDie());
  };
  ASSERT_TRUE(CanScatter(*make(1)->type()));
  for (int round = 0; round < 40; ++round) {
    CheckScatter(make(Pick(50)), make);
    if (HasFatalFailure()) return;
  }
  auto nulls = MakeWritableNulls(make(1)->type(), 5, arrow::default_memory_pool()).ValueOrDie();
  EXPECT_EQ(arrow::MakeArray(nulls)->null_count(), 5);
  EXPECT_TRUE(arrow::MakeArray(nulls)->ValidateFull().ok());
  EXPECT_FALSE(CanScatter(*arrow::struct_({arrow::field("l", arrow::list(arrow::int8()))})));
}

// Long enough for several blocks of the narrow loops.
TEST(Scatter, LongColumnsOfManySources) {
  constexpr uint32_t kLength = 150000;
  constexpr uint32_t kSources = 7;
  std::vector<int64_t> expected(kLength);
  std::iota(expected.begin(), expected.end(), 0);
  arrow::Int64Builder base;
  ASSERT_TRUE(base.AppendValues(expected).ok());
  std::vector<std::vector<uint32_t>> offsets(kSources);
  for (uint32_t slot = 0; slot < kLength; ++slot) {
    uint32_t source = Pick(kSources + 1);
    if (source < kSources) offsets[source].push_back(slot);
  }
  std::vector<std::shared_ptr<arrow::Array>> values;
  std::vector<SlotList> lists(kSources);
  std::vector<Piece> pieces;
  for (uint32_t source = 0; source < kSources; ++source) {
    arrow::Int64Builder builder;
    for (uint32_t slot : offsets[source]) {
      expected[slot] = -int64_t{slot} * 10 - source;
      ASSERT_TRUE(builder.Append(expected[slot]).ok());
    }
    values.push_back(builder.Finish().ValueOrDie());
    lists[source].offsets = offsets[source];
    pieces.push_back({values[source]->data().get(), 0, &lists[source]});
  }
  auto column = Writable(base.Finish().ValueOrDie()->data());
  ASSERT_TRUE(ScatterPieces(pieces, column.get(), arrow::default_memory_pool()).ok());
  const int64_t* got = column->GetValues<int64_t>(1);
  EXPECT_EQ(std::vector<int64_t>(got, got + kLength), expected);
}

TEST(Scatter, NullColumnTakesValues) {
  for (const auto& type : {arrow::int32(), arrow::utf8(), arrow::boolean(),
                           arrow::fixed_size_list(arrow::float32(), 3)}) {
    auto column = MakeWritableNulls(type, 9, arrow::default_memory_pool()).ValueOrDie();
    auto array = arrow::MakeArray(column);
    ASSERT_TRUE(array->ValidateFull().ok()) << array->ValidateFull().ToString();
    EXPECT_EQ(array->null_count(), 9);
  }
  auto column = MakeWritableNulls(arrow::utf8(), 4, arrow::default_memory_pool()).ValueOrDie();
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.AppendValues({"x", "yy"}).ok());
  auto values = builder.Finish().ValueOrDie();
  std::vector<uint32_t> offsets = {1, 3};
  SlotList slots{{}, offsets, 0};
  Piece piece{values->data().get(), 0, &slots};
  ASSERT_TRUE(ScatterPieces({&piece, 1}, column.get(), arrow::default_memory_pool()).ok());
  EXPECT_EQ(arrow::MakeArray(column)->ToString(), "[\n  null,\n  \"x\",\n  null,\n  \"yy\"\n]");
}

}  // namespace
}  // namespace pennon::overlay
