#include "pennon/error.h"

#include <gtest/gtest.h>

namespace pennon {
namespace {

TEST(ErrorTest, CarriesKindPlaceAndText) {
  arrow::Status status = Corrupt("data/a.lance", "footer too short: expected 40 bytes, found ", 10);
  EXPECT_TRUE(status.IsIOError());
  EXPECT_EQ(status.message(), "footer too short: expected 40 bytes, found 10");
  const ErrorDetail* detail = GetErrorDetail(status);
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(detail->place().path, "data/a.lance");
  EXPECT_EQ(detail->ToString(), "file data/a.lance");
}

TEST(ErrorTest, ForeignStatusHasNoDetail) {
  EXPECT_EQ(GetErrorDetail(arrow::Status::Invalid("x")), nullptr);
  EXPECT_EQ(GetErrorDetail(arrow::Status::OK()), nullptr);
}

TEST(ErrorTest, ConflictSaysWhetherARetryHelps) {
  EXPECT_TRUE(GetErrorDetail(CommitConflict(true, "x"))->retry_helps());
  EXPECT_FALSE(GetErrorDetail(CommitConflict(false, "x"))->retry_helps());
}

}  // namespace
}  // namespace pennon
