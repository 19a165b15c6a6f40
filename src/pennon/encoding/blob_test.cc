#include "pennon/encoding/blob.h"

#include <cstring>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_binary.h>
#include <arrow/array/util.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "pennon/encoding/mini_block/mini_block.h"
#include "pennon/error.h"

namespace pennon::encoding {
namespace {

bool IsCorrupt(const arrow::Status& status) {
  const ErrorDetail* const detail = GetErrorDetail(status);
  return detail != nullptr && detail->kind() == ErrorKind::kCorrupt;
}

/// A file of version 2.1 with one page of descriptors; the blobs stand at its start.
class BlobFile {
 public:
  BlobFile(const std::string& blobs, const std::vector<uint64_t>& descriptors) {
    bytes_ = blobs;
    bytes_.resize((bytes_.size() + 63) / 64 * 64);
    const auto values = static_cast<uint16_t>(descriptors.size() * 8);
    std::string chunk(8, '\0');
    std::memcpy(chunk.data() + 2, &values, 2);
    chunk.append(reinterpret_cast<const char*>(descriptors.data()), values);
    const auto word = static_cast<uint16_t>((chunk.size() / 8 - 1) << 4);
    page_.path = "blobs.lance";
    page_.minor = 1;
    page_.length = descriptors.size() / 2;
    page_.buffers = {{bytes_.size(), 2}, {bytes_.size() + 64, chunk.size()}};
    bytes_.append(reinterpret_cast<const char*>(&word), 2);
    bytes_.resize((bytes_.size() + 63) / 64 * 64);
    bytes_ += chunk;
    page_.file_size = bytes_.size();
  }

  /// Reads `count` rows from `first`.
  arrow::Result<std::shared_ptr<arrow::Array>> Read(uint64_t first, uint64_t count) {
    wire::MiniBlockLayout layout;
    layout.layers = {wire::LayerKind::kAllValidItem};
    layout.num_buffers = 1;
    layout.num_items = page_.length;
    layout.values.kind = wire::CompressionKind::kPackedStruct;
    layout.values.child_bits = {64, 64};
    layout.values.children.emplace_back();
    layout.values.children[0].bits = 128;
    ARROW_ASSIGN_OR_RAISE(
        auto descriptors,
        MakeMiniBlockDecoder(page_, layout, DescriptorType(BlobForm::kPositions)));
    ARROW_ASSIGN_OR_RAISE(auto decoder, MakeBlobDecoder(page_, descriptors, BlobForm::kPositions,
                                                        {wire::LayerKind::kNullableItem}));
    ARROW_ASSIGN_OR_RAISE(
        auto out, ColumnOutput::Make(LeafType::Blob(), count + 1, arrow::default_memory_pool()));
    const PageRows rows[] = {{first, count, 1}};
    ARROW_ASSIGN_OR_RAISE(auto read, decoder->Start(rows, out.get()));
    for (;;) {
      ARROW_ASSIGN_OR_RAISE(const auto wanted, read->Next());
      if (wanted.empty()) break;
      ++rounds;
      for (io::RangeRead& range : wanted) {
        EXPECT_LE(range.offset + range.size, bytes_.size());
        range.data = reinterpret_cast<const uint8_t*>(bytes_.data()) + range.offset;
      }
    }
    ARROW_RETURN_NOT_OK(read->Decode());
    ARROW_ASSIGN_OR_RAISE(auto data, out->Finish(arrow::large_binary()));
    return arrow::MakeArray(data);
  }

  int rounds = 0;

 private:
  std::string bytes_;
  PageDescription page_;
};

constexpr uint64_t kNull = uint64_t{1} << 16;

TEST(BlobTest, ReadsValuesNullsAndEmptyOnes) {
  BlobFile file("abcdefgh", {0, 3, 0, 0, kNull, 0, 5, 2, 3, 1});
  const auto read = file.Read(0, 5);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_TRUE((*read)->ValidateFull().ok());
  const auto& blobs = static_cast<const arrow::LargeBinaryArray&>(**read);
  EXPECT_EQ(blobs.GetView(0), "");
  EXPECT_EQ(blobs.GetView(1), "abc");
  EXPECT_EQ(blobs.GetView(2), "");
  EXPECT_FALSE(blobs.IsNull(2));
  EXPECT_TRUE(blobs.IsNull(3));
  EXPECT_EQ(blobs.GetView(4), "fg");
  EXPECT_EQ(blobs.GetView(5), "d");
  EXPECT_EQ(blobs.null_count(), 1);
  EXPECT_LE(file.rounds, 3);
}

TEST(BlobTest, OnlyTheRowsAskedForMatter) {
  BlobFile file("abcdefgh", {0, 3, ~uint64_t{0}, 7, kNull, 0, 5, 2});
  const auto read = file.Read(2, 2);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const auto& blobs = static_cast<const arrow::LargeBinaryArray&>(**read);
  EXPECT_TRUE(blobs.IsNull(1));
  EXPECT_EQ(blobs.GetView(2), "fg");
  EXPECT_TRUE(IsCorrupt(file.Read(0, 2).status()));
}

TEST(BlobTest, PlacesOutsideOfTheFileAreCorrupt) {
  const std::vector<std::vector<uint64_t>> bad = {
      {0, 1 << 20}, {1 << 20, 1}, {~uint64_t{0}, 1}, {0, ~uint64_t{0}}, {uint64_t{9} << 16, 0}};
  for (const auto& descriptors : bad) {
    BlobFile file("abcdefgh", descriptors);
    EXPECT_TRUE(IsCorrupt(file.Read(0, 1).status())) << descriptors[0] << " " << descriptors[1];
  }
}

TEST(BlobTest, BlobsThatClaimMoreThanTheFileAreCorrupt) {
  std::vector<uint64_t> descriptors;
  for (int i = 0; i < 200; ++i) {
    descriptors.push_back(0);
    descriptors.push_back(64);
  }
  BlobFile file(std::string(64, 'x'), descriptors);
  EXPECT_TRUE(IsCorrupt(file.Read(0, 200).status()));
}

}  // namespace
}  // namespace pennon::encoding
