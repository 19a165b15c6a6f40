#include "pennon/table/deletions.h"

#include <gtest/gtest.h>

#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"
#include "pennon/table/fragment_wire.h"
#include "pennon/wire/manifest_fields.h"
#include "pennon/wire/manifest_file.h"

namespace pennon::table {
namespace {

std::string ArrowFile(const std::vector<uint32_t>& offsets, const char* name,
                      bool with_null = false) {
  arrow::UInt32Builder builder;
  EXPECT_TRUE(builder.AppendValues(offsets).ok());
  if (with_null) {
    EXPECT_TRUE(builder.AppendNull().ok());
  }
  const auto schema = arrow::schema({arrow::field(name, arrow::uint32(), with_null)});
  const auto column = *builder.Finish();
  const auto sink = *arrow::io::BufferOutputStream::Create();
  const auto writer = *arrow::ipc::MakeFileWriter(sink, schema);
  EXPECT_TRUE(
      writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, column->length(), {column})).ok());
  EXPECT_TRUE(writer->Close().ok());
  return (*sink->Finish())->ToString();
}

class Deletions : public ::testing::Test {
 protected:
  Deletions() {
    std::string message;
    protozero::pbf_writer writer(message);
    writer.add_uint64(wire::manifest::kVersion, 1);
    writer.add_uint64(wire::manifest::kWriterFlags, kOldFilesHintFlag);
    std::string file;
    wire::AppendSection(message, &file);
    wire::AppendManifestFooter(0, &file);
    manifest_ = *Manifest::Parse(arrow::Buffer::FromString(file), "m");
    fragment_.id = 3;
    fragment_.physical_rows = 50;
  }

  arrow::Result<Bitmap> Read(const std::string& bytes, DeletionFile::Kind kind, uint64_t count) {
    fragment_.deletion_file =
        DeletionFile{.kind = kind, .read_version = 2, .id = 77, .num_deleted_rows = count};
    const char* suffix = kind == DeletionFile::Kind::kBitmap ? ".bin" : ".arrow";
    EXPECT_TRUE(table_.store->Put(std::string("/t/_deletions/3-2-77") + suffix, bytes).ok());
    return ReadDeletions(table_, *manifest_, fragment_);
  }
  void ExpectCorrupt(const arrow::Status& status) {
    ASSERT_NE(GetErrorDetail(status), nullptr) << status.ToString();
    EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kCorrupt) << status.ToString();
  }

  TableLocation table_{MakeMemoryStore(), "/t"};
  std::shared_ptr<const Manifest> manifest_;
  Fragment fragment_;
};

constexpr auto kArrow = DeletionFile::Kind::kArrowArray;
constexpr auto kBitmap = DeletionFile::Kind::kBitmap;

TEST_F(Deletions, ReadsBothKinds) {
  // What the rest of the process holds does not count against the file.
  const auto held = arrow::AllocateBuffer(8 << 20);
  EXPECT_EQ(Read(ArrowFile({9, 2, 9, 49}, "row_id"), kArrow, 3)->ToVector(),
            (std::vector<uint32_t>{2, 9, 49}));
  const std::vector<uint32_t> offsets = {1, 2, 3, 40};
  EXPECT_EQ(Read(Bitmap::Of(offsets).Serialize(), kBitmap, 4)->ToVector(), offsets);
  EXPECT_EQ(Read(Bitmap::Of(offsets).Serialize(false), kBitmap, 0)->ToVector(), offsets);
}

TEST_F(Deletions, NoFileIsNoDeletion) {
  EXPECT_TRUE(ReadDeletions(table_, *manifest_, fragment_)->empty());
  fragment_.deletion_file = DeletionFile{.read_version = 9};
  const auto status = ReadDeletions(table_, *manifest_, fragment_).status();
  EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kNotFound);
}

TEST_F(Deletions, RefusesWhatContradictsTheManifest) {
  ExpectCorrupt(Read(ArrowFile({50}, "row_id"), kArrow, 1).status());
  ExpectCorrupt(Read(ArrowFile({1, 2}, "row_id"), kArrow, 3).status());
  ExpectCorrupt(Read(ArrowFile({1}, "id"), kArrow, 1).status());
  ExpectCorrupt(Read(ArrowFile({1}, "row_id", /*with_null=*/true), kArrow, 2).status());
  const std::vector<uint32_t> far = {1000};
  ExpectCorrupt(Read(Bitmap::Of(far).Serialize(), kBitmap, 1).status());
}

TEST_F(Deletions, SurvivesTruncationAndGarbage) {
  const std::string arrow = ArrowFile({1, 2, 3, 4, 5}, "row_id");
  for (size_t length = 0; length < arrow.size(); ++length) {
    ExpectCorrupt(Read(arrow.substr(0, length), kArrow, 5).status());
  }
  for (size_t at = 0; at < arrow.size(); ++at) {
    std::string broken = arrow;
    broken[at] = static_cast<char>(broken[at] ^ 0xFF);
    (void)Read(broken, kArrow, 5);  // an error or not, but no crash
  }
  const std::vector<uint32_t> offsets = {1, 2, 3, 40};
  const std::string bitmap = Bitmap::Of(offsets).Serialize();
  for (size_t length = 0; length < bitmap.size(); ++length) {
    ExpectCorrupt(Read(bitmap.substr(0, length), kBitmap, 4).status());
  }
}

}  // namespace
}  // namespace pennon::table
