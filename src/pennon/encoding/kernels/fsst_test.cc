#include "pennon/encoding/kernels/fsst.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

std::vector<uint8_t> Table(const std::vector<std::string>& symbols) {
  std::vector<uint8_t> table(FsstTable::kBytes);
  table[0] = static_cast<uint8_t>(symbols.size());
  table[3] = 1;
  std::memcpy(table.data() + 4, "TSSF", 4);
  for (size_t i = 0; i < symbols.size(); ++i) {
    std::memcpy(table.data() + 8 + 8 * i, symbols[i].data(), symbols[i].size());
    table[8 + 8 * symbols.size() + i] = static_cast<uint8_t>(symbols[i].size());
  }
  return table;
}

// " quick " 0, "fox" 1, "12345678" 2, "e" 3.
FsstTable Sample() { return *FsstTable::Parse(Table({" quick ", "fox", "12345678", "e"})); }

std::string Decode(const FsstTable& table, const std::vector<uint8_t>& in) {
  std::vector<uint8_t> out(table.MaxDecodedBytes(in.size()) + FsstTable::kSlack);
  uint8_t* end = table.Decode(in, out.data());
  return end == nullptr ? "<invalid>" : std::string(out.data(), end);
}

TEST(FsstTest, DecodesSymbolsAndEscapes) {
  const FsstTable table = Sample();
  EXPECT_EQ(table.num_symbols(), 4);
  EXPECT_EQ(Decode(table, {255, 't', 255, 'h', 3, 0, 1, 2}), "the quick fox12345678");
  EXPECT_EQ(Decode(table, {}), "");
  EXPECT_EQ(table.DecodedBytes(std::vector<uint8_t>{255, 't', 255, 'h', 3, 0, 1, 2}), 21);
  EXPECT_EQ(Decode(table, {255, 255}), "\xFF");
}

TEST(FsstTest, RefusesUnknownSymbolsAndOpenEscapes) {
  const FsstTable table = Sample();
  for (const std::vector<uint8_t>& bad : {std::vector<uint8_t>{4}, {0, 254}, {255}, {1, 255}}) {
    EXPECT_EQ(Decode(table, bad), "<invalid>");
    EXPECT_EQ(table.DecodedBytes(bad), -1);
    EXPECT_TRUE(table.InvalidValue(bad).IsIOError());
  }
}

TEST(FsstTest, UncodedValuesAreCopied) {
  std::vector<uint8_t> bytes = Table({});
  bytes[3] = 0;
  const FsstTable table = *FsstTable::Parse(bytes);
  EXPECT_FALSE(table.coded());
  EXPECT_EQ(Decode(table, {'a', 255}), "a\xFF");
}

TEST(FsstTest, RefusesBrokenTables) {
  std::vector<uint8_t> bytes = Table({"ab", "c"});
  EXPECT_TRUE(FsstTable::Parse(bytes).ok());
  bytes[8 + 16] = 9;
  EXPECT_TRUE(FsstTable::Parse(bytes).status().IsIOError());
  bytes[8 + 16] = 0;
  EXPECT_TRUE(FsstTable::Parse(bytes).status().IsIOError());
  bytes = Table({"ab"});
  bytes[4] = 'X';
  EXPECT_TRUE(FsstTable::Parse(bytes).status().IsIOError());
  bytes = Table({"ab"});
  bytes.pop_back();
  EXPECT_TRUE(FsstTable::Parse(bytes).status().IsIOError());
  // 255 symbols are the most there can be: the lengths fill the table to its end.
  EXPECT_EQ(FsstTable::Parse(Table(std::vector<std::string>(255, "x")))->num_symbols(), 255);
}

TEST(FsstTest, DecodesManyValuesWithinTheirCapacity) {
  const FsstTable table = Sample();
  const std::vector<uint8_t> data = {9, 1, 1, 255, 'q', 2};
  const std::vector<uint32_t> offsets = {1, 3, 3, 5, 6};
  for (size_t slack : {0, 8, 100}) {
    std::vector<int32_t> ends(5);
    std::vector<uint8_t> out(15 + slack);
    auto used =
        table.DecodeValues<uint32_t, int32_t>(offsets.data(), data.data(), 4, 7, ends.data(),
                                              out.data(), static_cast<int64_t>(out.size()));
    ASSERT_TRUE(used.ok()) << used.status();
    EXPECT_EQ(*used, 15);
    EXPECT_EQ(ends, (std::vector<int32_t>{7, 13, 13, 14, 22}));
    EXPECT_EQ(std::string(out.begin(), out.begin() + 15), "foxfoxq12345678");
  }
  std::vector<int32_t> ends(5);
  std::vector<uint8_t> small(14);
  EXPECT_FALSE((table
                    .DecodeValues<uint32_t, int32_t>(offsets.data(), data.data(), 4, 0, ends.data(),
                                                     small.data(), 14)
                    .ok()));
  std::vector<uint8_t> out(200);
  EXPECT_FALSE((table
                    .DecodeValues<uint32_t, int32_t>(offsets.data(), data.data(), 4, INT32_MAX - 14,
                                                     ends.data(), out.data(), 200)
                    .ok()));
}

}  // namespace
}  // namespace pennon::encoding
