#include "pennon/encoding/nested/nesting.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <arrow/util/bit_util.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pennon/error.h"

namespace pennon::encoding {
namespace {

using wire::LayerKind;
using Levels = std::vector<uint16_t>;

constexpr PathLayer kItem{};
constexpr PathLayer kList{.is_list = true};
constexpr PathLayer kLargeList{.is_list = true, .offset_bits = 64};

PageLevels MakeLevels(Levels repetition, Levels definition, uint64_t values) {
  PageLevels levels{.repetition = std::move(repetition), .definition = std::move(definition)};
  levels.entries = std::max(levels.repetition.size(), levels.definition.size());
  levels.values = values;
  return levels;
}

std::vector<LayerKind> Kinds(const std::vector<int>& numbers) {
  std::vector<LayerKind> kinds;
  for (const int number : numbers) kinds.push_back(static_cast<LayerKind>(number));
  return kinds;
}

/// One layer in plain form: which slots are valid, and the offsets of a list.
struct PlainLayer {
  std::vector<bool> valid;
  std::vector<int64_t> offsets;
  bool operator==(const PlainLayer&) const = default;
};

PlainLayer ToPlain(const NestingBuffers& buffers, const PathLayer& layer) {
  PlainLayer out;
  uint64_t nulls = 0;
  for (uint64_t i = 0; i < buffers.length; ++i) {
    const bool valid = buffers.validity == nullptr ||
                       arrow::bit_util::GetBit(buffers.validity->data(), static_cast<int64_t>(i));
    out.valid.push_back(valid);
    nulls += valid ? 0 : 1;
  }
  EXPECT_EQ(nulls, buffers.null_count);
  EXPECT_EQ(buffers.validity != nullptr, nulls > 0);
  if (!layer.is_list) return out;
  const bool wide = layer.offset_bits == 64;
  EXPECT_EQ(buffers.offsets->size(), static_cast<int64_t>((buffers.length + 1) * (wide ? 8 : 4)));
  for (uint64_t i = 0; i <= buffers.length; ++i) {
    out.offsets.push_back(wide ? buffers.offsets->data_as<int64_t>()[i]
                               : buffers.offsets->data_as<int32_t>()[i]);
  }
  EXPECT_EQ(buffers.items, static_cast<uint64_t>(out.offsets.back()));
  return out;
}

arrow::Result<std::vector<PlainLayer>> Unravel(const std::vector<PathLayer>& layers,
                                               const std::vector<int>& kinds, PageLevels levels,
                                               uint64_t slots) {
  ARROW_ASSIGN_OR_RAISE(NestingReader nesting,
                        NestingReader::Make(layers, layers.size(), arrow::default_memory_pool()));
  ARROW_RETURN_NOT_OK(nesting.AppendPage(std::move(levels), Kinds(kinds), slots));
  std::vector<PlainLayer> out;
  for (size_t i = 0; i < layers.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const NestingBuffers buffers, nesting.Finish(i));
    out.push_back(ToPlain(buffers, layers[i]));
  }
  return out;
}

void ExpectCorrupt(const arrow::Status& status, const std::string& text) {
  const ErrorDetail* const detail = GetErrorDetail(status);
  ASSERT_NE(detail, nullptr) << status.ToString();
  EXPECT_EQ(detail->kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(status.message(), testing::HasSubstr(text));
}

// [1,2]  []  null  [null,3]
TEST(NestingTest, ListOfNumbers) {
  for (const PathLayer& list : {kList, kLargeList}) {
    const auto out =
        Unravel({kItem, list}, {3, 6}, MakeLevels({1, 0, 1, 1, 1, 0}, {0, 0, 3, 2, 1, 0}, 4), 4);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ((*out)[0], (PlainLayer{{true, true, false, true}, {}}));
    EXPECT_EQ((*out)[1], (PlainLayer{{true, true, false, true}, {0, 2, 2, 2, 4}}));
  }
}

// {[7,8],1}  null  {null,null}  {[],4}  {[null],5}
TEST(NestingTest, StructWithList) {
  const auto list = Unravel({kItem, kList, kItem}, {3, 6, 3},
                            MakeLevels({1, 0, 1, 1, 1, 1}, {0, 0, 4, 2, 3, 1}, 3), 5);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ((*list)[0], (PlainLayer{{true, true, false}, {}}));
  EXPECT_EQ((*list)[1], (PlainLayer{{true, false, false, true, true}, {0, 2, 2, 2, 2, 3}}));
  EXPECT_EQ((*list)[2], (PlainLayer{{true, false, true, true, true}, {}}));
  const auto number = Unravel({kItem, kItem}, {3, 3}, MakeLevels({}, {0, 2, 1, 0, 0}, 5), 5);
  ASSERT_TRUE(number.ok()) << number.status();
  EXPECT_EQ((*number)[0], (PlainLayer{{true, false, false, true, true}, {}}));
  EXPECT_EQ((*number)[1], (PlainLayer{{true, false, true, true, true}, {}}));
}

// [[1],[]]  []  null  [[2,3],null]
TEST(NestingTest, ListOfLists) {
  const auto out = Unravel({kItem, kList, kLargeList}, {1, 6, 6},
                           MakeLevels({2, 1, 2, 2, 2, 0, 1}, {0, 2, 4, 3, 0, 0, 1}, 3), 4);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0], (PlainLayer{{true, true, true}, {}}));
  EXPECT_EQ((*out)[1], (PlainLayer{{true, true, true, false}, {0, 1, 1, 3, 3}}));
  EXPECT_EQ((*out)[2], (PlainLayer{{true, true, false, true}, {0, 2, 2, 2, 4}}));
}

// [{1},null]  null  []  [{null},{5}]
TEST(NestingTest, ListOfStructs) {
  const auto out = Unravel({kItem, kItem, kList}, {3, 3, 6},
                           MakeLevels({1, 0, 1, 1, 1, 0}, {0, 2, 3, 4, 1, 0}, 4), 4);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0], (PlainLayer{{true, false, false, true}, {}}));
  EXPECT_EQ((*out)[1], (PlainLayer{{true, false, true, true}, {}}));
  EXPECT_EQ((*out)[2], (PlainLayer{{true, false, true, true}, {0, 2, 2, 2, 4}}));
}

TEST(NestingTest, RefusesLevelsThatDoNotFit) {
  const auto status = [](const std::vector<int>& kinds, PageLevels levels, uint64_t slots) {
    return Unravel({kItem, kList, kList}, kinds, std::move(levels), slots).status();
  };
  EXPECT_TRUE(status({1, 6, 6}, MakeLevels({2, 1}, {0, 0}, 2), 1).ok());
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({3, 1}, {0, 0}, 2), 1), "above the highest");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({2, 1}, {0, 5}, 2), 1), "above the highest");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({1, 2}, {0, 0}, 2), 1), "do not start with a row");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({2, 1}, {0, 0}, 2), 2), "do not describe its rows");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({}, {}, 0), 1), "do not describe its rows");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({2, 1}, {0, 0}, 1), 1), "number of values");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({2, 1}, {0}, 2), 1), "number of levels");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({}, {0, 0}, 2), 2), "number of levels");
  ExpectCorrupt(status({1, 6}, MakeLevels({1}, {0}, 1), 1), "those of the column's type");
  ExpectCorrupt(status({1, 1, 6}, MakeLevels({1}, {0}, 1), 1), "those of the column's type");
  // A list that goes on where it is null, and one that holds a null list of its own level.
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({2, 0}, {0, 1}, 1), 1), "null or empty");
  ExpectCorrupt(status({1, 6, 6}, MakeLevels({2, 1}, {0, 4}, 1), 1), "null or empty");
}

TEST(NestingTest, RefusesFixedSizeListsThatDoNotFit) {
  const PathLayer pairs{.dimension = 2};
  ExpectCorrupt(Unravel({kItem, kItem, pairs}, {1, 1, 1}, PageLevels{{}, {}, 3, 3}, 3).status(),
                "whole fixed-size lists");
  const auto status =
      Unravel({kItem, kItem, pairs, kList}, {1, 1, 1, 2}, MakeLevels({1, 1}, {}, 2), 2).status();
  ASSERT_NE(GetErrorDetail(status), nullptr) << status;
  EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kUnsupported);
}

/// A value by its path: a null, or what is inside (one child of a struct, all items of a list).
struct Value {
  bool null = false;
  std::vector<Value> items;
};

/// Random values of a path of layers and what they become in levels and in Arrow.
class Model {
 public:
  Model(std::vector<PathLayer> layers, unsigned seed) : layers_(std::move(layers)), rng_(seed) {}

  Value Make(size_t layer, int nulls) {
    Value value{.null = Chance(nulls)};
    if (value.null || layer == 0) return value;
    const PathLayer& shape = layers_[layer];
    const size_t count = shape.is_list ? rng_() % 4 : shape.dimension;
    for (size_t i = 0; i < count; ++i) value.items.push_back(Make(layer - 1, nulls));
    return value;
  }

  /// Appends what the layers at and below `value` look like in Arrow; null: below a null.
  void Describe(const Value* value, size_t layer, std::vector<PlainLayer>* out) const {
    const PathLayer& shape = layers_[layer];
    PlainLayer& plain = (*out)[layer];
    const bool valid = value != nullptr && !value->null;
    plain.valid.push_back(valid);
    if (shape.is_list)
      plain.offsets.push_back(plain.offsets.back() + (valid ? std::ssize(value->items) : 0));
    if (layer == 0) return;
    const size_t count = shape.is_list ? (valid ? value->items.size() : 0) : shape.dimension;
    for (size_t i = 0; i < count; ++i) Describe(valid ? &value->items[i] : nullptr, layer - 1, out);
  }

  /// The kinds that hold `rows`: the least ones, or those with all levels.
  std::vector<LayerKind> KindsOf(const std::vector<Value>& rows, bool least) const {
    std::vector<bool> null(layers_.size(), !least), empty(layers_.size(), !least);
    for (const Value& row : rows) Note(row, layers_.size() - 1, &null, &empty);
    std::vector<LayerKind> kinds;
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].is_list) {
        kinds.push_back(null[i] ? LayerKind::kNullableItem : LayerKind::kAllValidItem);
      } else if (null[i]) {
        kinds.push_back(empty[i] ? LayerKind::kNullAndEmptyList : LayerKind::kNullableList);
      } else {
        kinds.push_back(empty[i] ? LayerKind::kEmptyableList : LayerKind::kAllValidList);
      }
    }
    return kinds;
  }

  /// Shreds `rows`; level streams that no layer needs stay empty.
  PageLevels Shred(const std::vector<Value>& rows, const std::vector<LayerKind>& kinds) const {
    PageLevels levels;
    for (const Value& row : rows) ShredOne(&row, layers_.size() - 1, 0, 0, kinds, &levels);
    levels.entries = levels.definition.size();
    int definition = 0;
    bool list = false;
    for (const LayerKind kind : kinds) {
      definition += wire::DefinitionLevels(kind);
      list |= wire::IsListLayer(kind);
    }
    if (definition == 0) levels.definition.clear();
    if (!list) levels.repetition.clear();
    return levels;
  }

 private:
  bool Chance(int percent) { return static_cast<int>(rng_() % 100) < percent; }

  void Note(const Value& value, size_t layer, std::vector<bool>* null,
            std::vector<bool>* empty) const {
    if (value.null) (*null)[layer] = true;
    if (!value.null && layers_[layer].is_list && value.items.empty()) (*empty)[layer] = true;
    for (const Value& item : value.items) Note(item, layer - 1, null, empty);
  }

  void ShredOne(const Value* value, size_t layer, uint16_t rep, uint16_t def,
                const std::vector<LayerKind>& kinds, PageLevels* out) const {
    const PathLayer& shape = layers_[layer];
    uint16_t base = 0, lists = 0;
    for (size_t i = 0; i < layer; ++i)
      base = static_cast<uint16_t>(base + wire::DefinitionLevels(kinds[i]));
    for (size_t i = 0; i <= layer; ++i)
      lists = static_cast<uint16_t>(lists + (layers_[i].is_list ? 1 : 0));
    if (def == 0 && value->null) def = static_cast<uint16_t>(base + 1);
    if (shape.is_list) {
      if (rep == 0) rep = lists;
      if (def == 0 && value->items.empty())
        def = static_cast<uint16_t>(base + wire::DefinitionLevels(kinds[layer]));
    }
    if (layer == 0 || (shape.is_list && def > 0)) {
      out->repetition.push_back(rep);
      out->definition.push_back(def);
      if (layer == 0) ++out->values;
      return;
    }
    const size_t count = shape.is_list ? value->items.size() : shape.dimension;
    for (size_t i = 0; i < count; ++i) {
      ShredOne(def == 0 ? &value->items[i] : nullptr, layer - 1, i == 0 ? rep : uint16_t{0}, def,
               kinds, out);
    }
  }

  std::vector<PathLayer> layers_;
  std::mt19937 rng_;
};

TEST(NestingTest, RandomValuesComeBack) {
  const PathLayer triples{.dimension = 3};
  const std::vector<std::vector<PathLayer>> paths = {
      {kItem},
      {kItem, kItem, kItem},
      {kItem, kList},
      {kItem, kItem, kLargeList, kItem},
      {kItem, kList, kItem, kList, kItem},
      {kItem, kList, kLargeList, kList},
      {kItem, kItem, triples},
      {kItem, kList, kItem, triples, kItem},
      {kItem, kItem, triples, kItem, triples, kItem},
      {kItem, kList, kList, kItem, kItem, kList, kList},
  };
  unsigned seed = 0;
  for (const auto& layers : paths) {
    for (const int nulls : {0, 15, 70}) {
      SCOPED_TRACE(testing::Message() << "layers " << layers.size() << " nulls " << nulls);
      Model model(layers, ++seed);
      const size_t wanted = 1 + seed % layers.size();
      auto nesting = NestingReader::Make(layers, wanted, arrow::default_memory_pool());
      ASSERT_TRUE(nesting.ok());
      std::vector<PlainLayer> expected(layers.size());
      for (size_t i = 0; i < layers.size(); ++i)
        if (layers[i].is_list) expected[i].offsets = {0};
      for (const size_t rows : {1, 130, 7, 64, 999}) {
        std::vector<Value> values;
        const int nulls_of_page = rows == 7 ? 0 : nulls;
        for (size_t i = 0; i < rows; ++i)
          values.push_back(model.Make(layers.size() - 1, nulls_of_page));
        for (const Value& value : values) model.Describe(&value, layers.size() - 1, &expected);
        const auto kinds = model.KindsOf(values, rows != 64);
        const auto status =
            nesting->AppendPage(model.Shred(values, kinds), kinds, rows * nesting->slots_per_row());
        ASSERT_TRUE(status.ok()) << status;
      }
      EXPECT_EQ(nesting->values(), expected[0].valid.size());
      for (size_t i = 0; i < wanted; ++i) {
        const auto buffers = nesting->Finish(i);
        ASSERT_TRUE(buffers.ok());
        EXPECT_EQ(ToPlain(*buffers, layers[i]), expected[i]) << "layer " << i;
      }
    }
  }
}

// Whatever the levels are, they are refused or describe sound arrays.
TEST(NestingTest, RandomLevelsAreSoundOrRefused) {
  const std::vector<PathLayer> layers = {kItem, kList, kItem, kList};
  const std::vector<int> kinds = {3, 6, 3, 5};
  std::mt19937 rng(5);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    Levels rep, def;
    const size_t count = 1 + rng() % 6;
    uint64_t rows = 0, values = 0;
    for (size_t i = 0; i < count; ++i) {
      rep.push_back(i == 0 ? 2 : static_cast<uint16_t>(rng() % 3));
      def.push_back(static_cast<uint16_t>(rng() % 2 == 0 ? 0 : rng() % 6));
      rows += rep.back() == 2 ? 1 : 0;
      values += def.back() <= 1 ? 1 : 0;
    }
    const auto out = Unravel(layers, kinds, MakeLevels(rep, def, values), rows);
    if (!out.ok()) {
      ExpectCorrupt(out.status(), "null or empty");
      continue;
    }
    ++accepted;
    EXPECT_EQ((*out)[3].valid.size(), rows);
    EXPECT_EQ((*out)[3].offsets.back(), std::ssize((*out)[2].valid));
    EXPECT_EQ((*out)[1].valid.size(), (*out)[2].valid.size());
    EXPECT_EQ((*out)[1].offsets.back(), std::ssize((*out)[0].valid));
    EXPECT_TRUE(std::is_sorted((*out)[1].offsets.begin(), (*out)[1].offsets.end()));
  }
  EXPECT_GT(accepted, 300);
}

}  // namespace
}  // namespace pennon::encoding
