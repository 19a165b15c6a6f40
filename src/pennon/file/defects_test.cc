// Broken data files: cut short, with single bytes or many changed. Reading gives values or an
// error, within a small bound of memory; never a crash (AddressSanitizer and UBSan watch in `make
// asan`).
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <gtest/gtest.h>

#include "pennon/error.h"
#include "pennon/file/test_file.h"

namespace pennon::file {
namespace {

/// More than any of these files needs, far less than what a broken length can claim.
constexpr int64_t kMemoryLimit = 64 << 20;
constexpr uint64_t kMostRows = 1 << 16;

std::filesystem::path Fixtures() {
  const char* const folder = std::getenv("PENNON_FIXTURES");
  return folder != nullptr ? folder : "build/fixtures";
}

std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The data files of a fixture table, in order of size.
std::vector<std::string> DataFiles(const std::string& name) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(Fixtures() / name / "dataset.lance/data", error)) {
    files.push_back(ReadBytes(entry.path()));
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return files;
}

SelfSchema SchemaOf(const std::string& bytes) {
  auto schema =
      ReadSelfSchema(std::make_shared<testing::BytesFile>(bytes), arrow::default_memory_pool());
  EXPECT_TRUE(schema.ok()) << schema.status().ToString();
  return schema.ok() ? *std::move(schema) : SelfSchema{};
}

/// Reads all of `bytes`; an error must be one of pennon's own, and not of memory.
arrow::Status ReadBroken(const std::string& bytes, const SelfSchema& schema) {
  arrow::CappedMemoryPool pool(arrow::default_memory_pool(), kMemoryLimit);
  arrow::Status status = testing::ReadAll(bytes, schema, kMostRows, &pool);
  EXPECT_FALSE(status.IsOutOfMemory()) << status.ToString();
  EXPECT_TRUE(status.ok() || GetErrorDetail(status) != nullptr) << status.ToString();
  return status;
}

class SmallFiles : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Fixtures() / GetParam()))
      FAIL() << "no fixtures at " << Fixtures();
    const auto files = DataFiles(GetParam());
    ASSERT_FALSE(files.empty());
    bytes_ = files.back();
    schema_ = SchemaOf(bytes_);
    ASSERT_TRUE(ReadBroken(bytes_, schema_).ok());
  }
  std::string bytes_;
  SelfSchema schema_;
};

TEST_P(SmallFiles, CutAtEveryByteIsAnError) {
  for (size_t size = 0; size < bytes_.size(); ++size) {
    const arrow::Status status = ReadBroken(bytes_.substr(0, size), schema_);
    ASSERT_FALSE(status.ok()) << "cut to " << size;
  }
}

TEST_P(SmallFiles, EveryByteChangedGivesValuesOrAnError) {
  int errors = 0;
  for (size_t at = 0; at < bytes_.size(); ++at) {
    for (const unsigned mask : {0x01U, 0x80U, 0xffU}) {
      std::string broken = bytes_;
      broken[at] = static_cast<char>(static_cast<unsigned char>(broken[at]) ^ mask);
      errors += ReadBroken(broken, schema_).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(errors, 300);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, SmallFiles,
                         ::testing::Values("layout_tiny_2_0", "layout_tiny_2_1",
                                           "layout_tiny_2_2"));

class LargeFiles : public ::testing::TestWithParam<const char*> {};

TEST_P(LargeFiles, SomeBytesChangedGiveValuesOrAnError) {
  const auto files = DataFiles(GetParam());
  if (files.empty()) FAIL() << "no fixtures at " << Fixtures();
  const std::string& bytes = files.back();
  const SelfSchema schema = SchemaOf(bytes);
  std::mt19937 random(11);
  for (int round = 0; round < 24; ++round) {
    std::string broken = bytes;
    const int changes = round % 4 == 0 ? 200 : 3;
    for (int i = 0; i < changes; ++i) {
      // The footer's magic stays, so that the rest is reached.
      broken[random() % (broken.size() - 8)] = static_cast<char>(round % 3 == 0 ? 0xff : random());
    }
    (void)ReadBroken(broken, schema);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, LargeFiles,
                         ::testing::Values("types_fixed_2_0", "types_fixed_2_1", "types_fixed_2_2",
                                           "types_variable_2_0", "types_variable_2_1",
                                           "types_variable_2_2", "layout_strings_2_2",
                                           "layout_integers_2_2", "layout_wide_values_2_1",
                                           "layout_compression_hints_2_2", "types_nested_2_0",
                                           "layout_lists_2_0", "layout_blob_column_2_0",
                                           "layout_packed_struct_2_1", "layout_packed_struct_2_2",
                                           "corrupt/sound_compressed"));

struct Defect {
  const char* name;
  bool may_give_values;  ///< nothing in the file tells wrong bytes from right ones
};

TEST(Defects, BrokenFixturesAreErrors) {
  const auto sound = DataFiles("corrupt/sound");
  if (sound.empty()) FAIL() << "no fixtures at " << Fixtures();
  for (const Defect& defect : std::vector<Defect>{{"data_file_truncated", false},
                                                  {"data_file_ten_bytes", false},
                                                  {"data_file_bad_magic", false},
                                                  {"data_file_future_version", false},
                                                  {"data_file_column_count", false},
                                                  {"data_file_buffer_count", false},
                                                  {"data_file_cmo_beyond_end", false},
                                                  {"data_file_gbo_beyond_end", false},
                                                  {"data_file_metadata_beyond_end", false},
                                                  {"page_buffer_beyond_end", false},
                                                  {"page_buffer_huge", false},
                                                  {"page_without_buffers", false},
                                                  {"page_absurd_length", false},
                                                  {"page_encoding_garbage", false},
                                                  {"page_bytes_garbage", true},
                                                  {"lz4_page_garbage", false},
                                                  {"zstd_page_garbage", false},
                                                  {"zstd_zipped_garbage", false}}) {
    const bool compressed = std::string(defect.name).find("4_page") != std::string::npos ||
                            std::string(defect.name).find("zstd") != std::string::npos;
    const SelfSchema schema =
        SchemaOf(DataFiles(compressed ? "corrupt/sound_compressed" : "corrupt/sound").back());
    int errors = 0;
    for (const std::string& bytes : DataFiles(std::string("corrupt/") + defect.name)) {
      errors += ReadBroken(bytes, schema).ok() ? 0 : 1;
    }
    EXPECT_TRUE(errors > 0 || defect.may_give_values) << defect.name;
  }
}

}  // namespace
}  // namespace pennon::file
