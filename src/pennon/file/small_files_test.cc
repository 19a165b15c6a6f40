// A small file for each page layout, encoding and version: cut short at every byte, and every byte
// changed. Reading gives an error or a valid array, within kMemoryLimit; never a crash
// (AddressSanitizer and UBSan watch in `make asan`). defects_test.cc does it to files of the
// reference writer.
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/json/from_string.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "pennon/encoding/encoding_text.h"
#include "pennon/error.h"
#include "pennon/file/container.h"
#include "pennon/file/test_file.h"
#include "pennon/file/writer.h"
#include "pennon/schema/field_tree.h"
#include "pennon/wire/column_metadata.h"

// What is not allocated from the pool is bounded where AddressSanitizer watches, one by one.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();   // NOLINT
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=256"; }  // NOLINT

namespace pennon::file {
namespace {

/// Bytes that reading one of these files may hold at a time. Each is below 6 KiB; a broken length
/// can claim many GiB.
constexpr int64_t kMemoryLimit = 16 << 20;
constexpr uint64_t kMostRows = 1 << 12;

using TypePtr = std::shared_ptr<arrow::DataType>;

struct SmallFile {
  std::string name;
  std::vector<uint16_t> minors;
  TypePtr type;
  std::string rows;  ///< JSON
  std::unordered_map<std::string, std::string> metadata;
  std::string layout;    ///< what the page of the last column says of itself
  std::string encoding;  ///< part of it
};

struct Case {
  SmallFile file;
  uint16_t minor;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.file.name << " in 2." << c.minor; }

std::string Rows(int count, const std::function<std::string(int)>& value) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + value(i);
  return text + "]";
}

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

std::string SparseInt(int i) { return i % 5 == 3 ? "null" : std::to_string(i * 7 - 20); }
std::string Word(int i) {
  return i % 7 == 2 ? "null" : Quoted(std::string("word ") + static_cast<char>('a' + i));
}
std::string List(int i) {
  if (i % 4 == 1) return "[]";
  return i % 4 == 2 ? "null" : "[" + std::to_string(i) + ", null, 3]";
}

using Metadata = std::unordered_map<std::string, std::string>;

Metadata Hint(const std::string& name, const std::string& value) {
  return {{"lance-encoding:" + name, value}};
}

// Plain pages of every version.
std::vector<SmallFile> PlainFiles() {
  const auto pair =
      arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8())});
  return {
      {"ints", {1, 2}, arrow::int32(), Rows(20, SparseInt), {}, "mini-block", "Flat32"},
      {"ints", {0}, arrow::int32(), Rows(20, SparseInt), {}, "array", "Flat32"},
      {"packed_ints",
       {1, 2},
       arrow::int64(),
       Rows(200, [](int i) { return std::to_string(i % 8); }),
       {},
       "mini-block",
       "InlineBitpacking64"},
      {"booleans",
       {1, 2},
       arrow::boolean(),
       Rows(19, [](int i) { return i % 3 == 0   ? "true"
                                   : i % 3 == 1 ? "null"
                                                : "false"; }),
       {},
       "mini-block",
       "Flat1"},
      {"strings", {1, 2}, arrow::utf8(), Rows(12, Word), {}, "mini-block", "Variable"},
      {"strings", {0}, arrow::utf8(), Rows(12, Word), {}, "array", "Binary"},
      {"vectors",
       {1, 2},
       arrow::fixed_size_list(arrow::int16(), 3),
       Rows(9, [](int i) { return i % 4 == 2 ? "null" : "[1, null, " + std::to_string(i) + "]"; }),
       {},
       "mini-block",
       "FixedSizeList"},
      {"vectors",
       {0},
       arrow::fixed_size_list(arrow::int16(), 3),
       Rows(9, [](int i) { return i % 4 == 2 ? "null" : "[1, null, " + std::to_string(i) + "]"; }),
       {},
       "array",
       "FixedSizeList"},
      {"all_null", {1, 2}, arrow::int32(), "[null, null, null]", {}, "constant", "all null"},
      {"all_null", {0}, arrow::int32(), "[null, null, null]", {}, "array", "AllNulls"},
      {"all_equal", {2}, arrow::utf8(), R"(["x", "x", "x"])", {}, "constant", "one value"},
      {"structs",
       {0, 1, 2},
       pair,
       Rows(6, [](int i) { return R"({"a": )" + SparseInt(i) + R"(, "b": )" + Word(i) + "}"; }),
       {},
       "",
       ""},
      {"lists", {1, 2}, arrow::list(arrow::int32()), Rows(12, List), {}, "mini-block", "Flat32"},
      {"lists", {0}, arrow::list(arrow::int32()), Rows(12, List), {}, "array", "Flat32"},
      {"empty_lists", {1, 2}, arrow::list(arrow::int32()), "[[], null, []]", {}, "constant", ""},
      {"lists_of_structs",
       {1, 2},
       arrow::list(pair),
       Rows(6, [](int i) { return R"([null, {"a": 1, "b": )" + Word(i) + "}]"; }),
       {},
       "mini-block",
       "Variable"},
      {"maps",
       {2},
       arrow::map(arrow::utf8(), arrow::int32()),
       Rows(5, [](int i) { return R"([["k", )" + SparseInt(i) + "]]"; }),
       {},
       "mini-block",
       "Flat32"},
  };
}

// Compressed values.
std::vector<SmallFile> CompressedFiles() {
  // Long enough to be compressed, and so well that the file stays small.
  const auto sentence = [](int i) {
    return Quoted("the quiet river and the quiet harbour " + std::to_string(i));
  };
  const auto text = Rows(120, sentence);
  const auto short_text = Rows(24, sentence);  // 2.0 makes a dictionary of more
  const auto numbers = Rows(600, [](int i) { return std::to_string(i % 350 * 977777777777777); });
  const auto floats = Rows(600, [](int i) { return std::to_string(i * 0.5); });
  const auto few = Rows(150, [](int i) { return Quoted("value " + std::to_string(i * 5 % 3)); });
  const auto runs = Rows(150, [](int i) { return std::to_string(i / 50 * 100000); });
  const Metadata zstd = Hint("compression", "zstd"), lz4 = Hint("compression", "lz4");
  Metadata split = zstd;
  split["lance-encoding:bss"] = "on";
  return {
      {"zstd_text", {1, 2}, arrow::utf8(), text, zstd, "mini-block", "zstd"},
      {"zstd_text", {0}, arrow::utf8(), short_text, zstd, "array", "zstd"},
      {"lz4_text", {1, 2}, arrow::utf8(), text, lz4, "mini-block", "lz4"},
      {"lz4_numbers", {1}, arrow::int64(), numbers, lz4, "mini-block", "lz4"},
      {"zstd_numbers", {2}, arrow::int64(), numbers, zstd, "mini-block", "zstd"},
      {"split_floats", {1, 2}, arrow::float64(), floats, split, "mini-block", "ByteStreamSplit"},
      {"runs", {1, 2}, arrow::int32(), runs, {}, "mini-block", "Rle"},
      {"few_strings", {1, 2}, arrow::utf8(), few, {}, "mini-block", "3 items"},
      {"few_strings", {0}, arrow::utf8(), few, {}, "array", "Dictionary"},
      {"fsst_text", {0}, arrow::utf8(), short_text, Hint("compression", "fsst"), "array", "Fsst"},
      {"fsst_text",
       {1, 2},
       arrow::utf8(),
       short_text,
       Hint("compression", "fsst"),
       "mini-block",
       "Fsst"},
  };
}

// Full-zip pages, packed structs and blobs.
std::vector<SmallFile> ZippedFiles() {
  const Metadata zip = Hint("structural-encoding", "fullzip");
  Metadata zip_zstd = zip;
  zip_zstd["lance-encoding:compression"] = "zstd";
  const auto wide = Rows(40, [](int i) {
    return i == 2 ? std::string("null") : Quoted(std::string(900, static_cast<char>('A' + i)));
  });
  const auto fixed =
      arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::int16())});
  const auto mixed =
      arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8())});
  const auto fixed_rows =
      Rows(9, [](int i) { return R"({"a": )" + std::to_string(i) + R"(, "b": 4})"; });
  const auto mixed_rows =
      Rows(9, [](int i) { return R"({"a": 1, "b": "b)" + std::to_string(i) + "\"}"; });
  const Metadata packed = {{"packed", "true"}};
  const Metadata blob = {{"lance-encoding:blob", "true"}};
  const auto blobs = R"(["first", null, "", "the fourth"])";
  return {
      {"zipped_ints", {1, 2}, arrow::int32(), Rows(20, SparseInt), zip, "full-zip", "Flat32"},
      {"zipped_strings", {1, 2}, arrow::utf8(), Rows(12, Word), zip, "full-zip", "Variable"},
      {"zipped_zstd", {1, 2}, arrow::utf8(), wide, zip_zstd, "full-zip", "zstd"},
      {"zipped_lists",
       {1, 2},
       arrow::list(arrow::utf8()),
       Rows(6, [](int i) { return "[" + Word(i) + ", " + Word(i + 1) + "]"; }),
       zip,
       "full-zip",
       "Variable"},
      {"zipped_number_lists",
       {1, 2},
       arrow::list(arrow::int32()),
       Rows(8, List),
       zip,
       "full-zip",
       "Flat32"},
      {"packed_structs", {1, 2}, fixed, fixed_rows, packed, "mini-block", "PackedStruct"},
      {"packed_structs", {0}, fixed, fixed_rows, packed, "array", "PackedStruct"},
      {"packed_text", {2}, mixed, mixed_rows, packed, "full-zip", "VariablePackedStruct"},
      {"blobs", {1}, arrow::large_binary(), blobs, blob, "blob, located by mini-block", ""},
      {"blobs", {0}, arrow::large_binary(), blobs, blob, "array", ""},
  };
}

class WrittenFiles : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto& [file, minor] = GetParam();
    const auto field = arrow::field("c", file.type, true, arrow::key_value_metadata(file.metadata));
    schema_.schema = schema::FromArrow(*arrow::schema({field})).ValueOrDie();
    schema_.first_columns = {0};
    auto writer = FileWriter::Make(schema_.schema.fields, {2, minor}).ValueOrDie();
    values_ = arrow::json::ArrayFromJSONString(file.type, file.rows).ValueOrDie();
    ASSERT_TRUE(writer->Append(0, *values_).ok());
    bytes_ = writer->Finish().ValueOrDie().bytes;
    ASSERT_LT(bytes_.size(), 6U << 10);
    std::vector<std::shared_ptr<arrow::Array>> read;
    ASSERT_TRUE(
        testing::ReadAll(bytes_, schema_, kMostRows, arrow::default_memory_pool(), &read).ok());
    ASSERT_EQ(read.size(), 1U);
    ASSERT_TRUE(read[0]->Equals(*values_)) << read[0]->ToString();
  }

  /// Reads all of `bytes`: whether that gives values, which are checked to be a valid array.
  bool GivesValues(const std::string& bytes) const {
    arrow::CappedMemoryPool pool(arrow::default_memory_pool(), kMemoryLimit);
    std::vector<std::shared_ptr<arrow::Array>> read;
    const arrow::Status status = testing::ReadAll(bytes, schema_, kMostRows, &pool, &read);
    EXPECT_FALSE(status.IsOutOfMemory()) << status.ToString();
    EXPECT_TRUE(status.ok() || GetErrorDetail(status) != nullptr) << status.ToString();
    for (const auto& array : read) {
      if (array != nullptr) {
        EXPECT_TRUE(array->ValidateFull().ok()) << array->ValidateFull().ToString();
      }
    }
    return status.ok();
  }

  SelfSchema schema_;
  std::shared_ptr<arrow::Array> values_;
  std::string bytes_;
};

TEST_P(WrittenFiles, HasTheEncodingThatItsNameSays) {
  const auto& [file, minor] = GetParam();
  const auto container =
      Container::Open(std::make_shared<testing::BytesFile>(bytes_), arrow::default_memory_pool())
          .ValueOrDie();
  const auto metadata =
      container.ReadColumnMetadata(container.footer().num_columns - 1).ValueOrDie();
  const auto column =
      wire::ParseColumnMetadata(
          metadata, minor == 0 ? "lance.encodings.ArrayEncoding" : "lance.encodings21.PageLayout",
          bytes_.size(), minor > 0, "small")
          .ValueOrDie();
  ASSERT_EQ(column.pages.size(), 1U);
  const auto& page = column.pages[0];
  const auto text =
      encoding::DescribePage(page.encoding, page.buffers.size(), minor, "small").ValueOrDie();
  EXPECT_TRUE(file.layout.empty() || text.layout == file.layout) << text.layout;
  const std::string encodings = text.encoding + ", dictionary " + text.dictionary;
  EXPECT_NE(encodings.find(file.encoding), std::string::npos) << encodings;
}

TEST_P(WrittenFiles, CutAtEveryByteIsAnError) {
  for (size_t size = 0; size < bytes_.size(); ++size)
    ASSERT_FALSE(GivesValues(bytes_.substr(0, size))) << "cut to " << size;
}

TEST_P(WrittenFiles, EveryByteChangedGivesValuesOrAnError) {
  int errors = 0;
  for (size_t at = 0; at < bytes_.size(); ++at) {
    // One bit, all bits.
    for (const unsigned mask : {0x01U << at % 8, 0xFFU}) {
      std::string broken = bytes_;
      broken[at] = static_cast<char>(static_cast<unsigned char>(broken[at]) ^ mask);
      errors += GivesValues(broken) ? 0 : 1;
      if (HasFailure()) FAIL() << "byte " << at << " changed by " << mask;
    }
  }
  EXPECT_GT(errors, 100);  // of the footer's and tables' bytes alone
}

std::vector<Case> AllFiles() {
  std::vector<Case> all;
  for (const auto& files : {PlainFiles(), CompressedFiles(), ZippedFiles()}) {
    for (const SmallFile& file : files) {
      for (const uint16_t minor : file.minors) all.push_back({file, minor});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, WrittenFiles, ::testing::ValuesIn(AllFiles()), [](const auto& info) {
  return info.param.file.name + "_2_" + std::to_string(info.param.minor);
});

}  // namespace
}  // namespace pennon::file
