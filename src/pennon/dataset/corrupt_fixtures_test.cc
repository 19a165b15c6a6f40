// Tables with one defect each: an error of the right kind at the latest where the case says, never
// a crash, and never other values than those of the sound table.
#include <algorithm>

#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include "pennon/dataset/fixture_case.h"
#include "pennon/pennon.h"

namespace pennon {
namespace {

using nlohmann::json;

std::filesystem::path CorruptDir() { return testing::FixturesDir() / "corrupt"; }

// Opens, describes and reads all that can be read.
arrow::Result<std::shared_ptr<arrow::Table>> ReadAll(const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(auto dataset,
                        Dataset::Open((CorruptDir() / name / "dataset.lance").string()));
  ARROW_RETURN_NOT_OK(dataset.Overlays().status());
  ARROW_RETURN_NOT_OK(dataset.CountRows().status());
  ScanOptions options;
  options.with_row_id = true;
  options.with_row_address = true;
  ARROW_ASSIGN_OR_RAISE(auto table, dataset.ToTable(options));
  std::vector<int64_t> positions;
  for (int64_t i = table->num_rows() - 1; i >= 0; --i) positions.push_back(i);
  ARROW_RETURN_NOT_OK(dataset.Take(positions).status());
  return table;
}

// Cases whose defect is nowhere near the data: the rows must be those of the sound table.
bool HasSoundRows(const std::string& name) {
  return name.starts_with("index_") || name == "flag_unknown_writer" ||
         name == "data_file_cmo_beyond_end" || name.starts_with("overlay_version_");
}

// Cases where a lenient reader is right, too.
bool MayBeRead(const std::string& name) {
  return name == "flag_unknown_writer" || name == "overlay_unknown_field" ||
         name == "page_bytes_garbage" || name == "overlay_version_future" ||
         name == "overlay_version_zero" || name == "data_file_cmo_beyond_end" ||
         name.starts_with("index_");
}

class CorruptTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CorruptTest, GivesAnErrorOrTheSoundValues) {
  json c = testing::ReadCase(CorruptDir() / GetParam());
  auto read = ReadAll(GetParam());
  if (!c.contains("expected_error") || c["expected_error"].is_null()) {
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    return;
  }
  if (read.ok()) {
    ASSERT_TRUE(MayBeRead(GetParam())) << c["shows"] << "\nread " << (*read)->ToString();
    if (HasSoundRows(GetParam())) {
      EXPECT_TRUE((*read)->Equals(*ReadAll("sound").ValueOrDie())) << (*read)->ToString();
    }
    return;
  }
  std::cout << GetParam() << ": " << read.status().message() << "\n";
  const ErrorDetail* detail = GetErrorDetail(read.status());
  ASSERT_NE(detail, nullptr) << read.status().ToString();
  std::string kind = c["expected_error"]["kind"];
  if (kind == "not found") {
    EXPECT_EQ(detail->kind(), ErrorKind::kNotFound) << read.status().ToString();
  } else if (kind == "unsupported") {
    EXPECT_EQ(detail->kind(), ErrorKind::kUnsupported) << read.status().ToString();
  } else {
    EXPECT_TRUE(detail->kind() == ErrorKind::kCorrupt ||
                detail->kind() == ErrorKind::kInvalidInput ||
                detail->kind() == ErrorKind::kUnsupported)
        << read.status().ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CorruptTest, ::testing::ValuesIn(testing::CaseNames(CorruptDir())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace pennon
