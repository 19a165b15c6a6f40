// Dates, times of day and timestamps as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pennon::expr {

/// A point in time by the proleptic Gregorian calendar.
struct TemporalText {
  int64_t seconds =
      0;  ///< since 1970-01-01 00:00:00 as written, or since midnight for a time of day
  int32_t nanoseconds = 0;              ///< 0 to 999,999,999
  int fraction_digits = 0;              ///< digits written after the second
  bool has_time = false;                ///< a time of day was written
  std::optional<int32_t> zone_seconds;  ///< offset east of UTC, where one was written (Z is 0)
};

/// Reads YYYY-MM-DD, optionally followed by T or a space, HH:MM[:SS[.fraction]] and Z or ±HH[:MM].
/// Nothing if `text` is not that or names no real date.
std::optional<TemporalText> ParseTimestampText(std::string_view text);

/// Reads HH:MM[:SS[.fraction]].
std::optional<TemporalText> ParseTimeText(std::string_view text);

}  // namespace pennon::expr
