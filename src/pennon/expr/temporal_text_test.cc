#include "pennon/expr/temporal_text.h"

#include <gtest/gtest.h>

namespace pennon::expr {
namespace {

TEST(TemporalText, ReadsDatesAndTimestamps) {
  EXPECT_EQ(ParseTimestampText("1970-01-02")->seconds, 86400);
  EXPECT_FALSE(ParseTimestampText("1970-01-02")->has_time);
  EXPECT_EQ(ParseTimestampText("1969-12-31")->seconds, -86400);
  EXPECT_EQ(ParseTimestampText("2021-01-01 12:30:00")->seconds, 1609504200);
  EXPECT_EQ(ParseTimestampText("2021-01-01T12:30")->seconds, 1609504200);
  EXPECT_EQ(ParseTimestampText("2021-01-01 00:00:00.25")->nanoseconds, 250000000);
  EXPECT_EQ(ParseTimestampText("2021-01-01 00:00:00Z")->zone_seconds, 0);
  EXPECT_EQ(ParseTimestampText("2021-01-01 00:00:00-05:30")->zone_seconds, -19800);
  EXPECT_EQ(ParseTimestampText("2021-01-01 00:00:00+02")->zone_seconds, 7200);
  EXPECT_EQ(ParseTimestampText("0001-01-01")->seconds, -62135596800);
}

TEST(TemporalText, RefusesWhatIsNoRealDate) {
  for (const char* text :
       {"", "2021", "2021-13-01", "2021-02-29", "2021-1-1", "2021-01-01x", "2021-01-01 24:00:00",
        "2021-01-01 12:60:00", "2021-01-01 12:00:00.", "2021-01-01 12:00:00.1234567890",
        "2021-01-01 12:00:00+99", "21-01-01", "2021-01-01 "}) {
    EXPECT_FALSE(ParseTimestampText(text).has_value()) << text;
  }
}

TEST(TemporalText, ReadsTimesOfDay) {
  EXPECT_EQ(ParseTimeText("01:02:03")->seconds, 3723);
  EXPECT_EQ(ParseTimeText("23:59:59.999999999")->nanoseconds, 999999999);
  EXPECT_FALSE(ParseTimeText("24:00:00").has_value());
  EXPECT_FALSE(ParseTimeText("1:2").has_value());
}

}  // namespace
}  // namespace pennon::expr
