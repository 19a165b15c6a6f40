#include "pennon/expr/temporal_text.h"

#include <chrono>

namespace pennon::expr {
namespace {

// Takes pieces from the front of a text; every step says whether the piece was there.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : text_(text) {}

  bool Digits(int count, int32_t* value) {
    if (text_.size() < static_cast<size_t>(count)) return false;
    *value = 0;
    for (int i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      *value = *value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return true;
  }
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool done() const { return text_.empty(); }
  char front() const { return text_.empty() ? '\0' : text_.front(); }

 private:
  std::string_view text_;
};

bool TakeTime(Pieces& pieces, TemporalText* out) {
  int32_t hour = 0, minute = 0, second = 0;
  if (!pieces.Digits(2, &hour) || !pieces.Take(':') || !pieces.Digits(2, &minute)) return false;
  if (pieces.Take(':')) {
    if (!pieces.Digits(2, &second)) return false;
    if (pieces.Take('.')) {
      int32_t digit = 0;
      while (out->fraction_digits < 9 && pieces.Digits(1, &digit)) {
        out->nanoseconds = out->nanoseconds * 10 + digit;
        ++out->fraction_digits;
      }
      if (out->fraction_digits == 0) return false;
      for (int i = out->fraction_digits; i < 9; ++i) out->nanoseconds *= 10;
    }
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  out->seconds += hour * 3600 + minute * 60 + second;
  out->has_time = true;
  return true;
}

bool TakeZone(Pieces& pieces, TemporalText* out) {
  if (pieces.Take('Z') || pieces.Take('z')) {
    out->zone_seconds = 0;
    return true;
  }
  const bool is_west = pieces.front() == '-';
  if (!pieces.Take('-') && !pieces.Take('+')) return false;
  int32_t hours = 0, minutes = 0;
  if (!pieces.Digits(2, &hours)) return false;
  if (pieces.Take(':') ? !pieces.Digits(2, &minutes)
                       : (!pieces.done() && !pieces.Digits(2, &minutes)))
    return false;
  if (hours > 23 || minutes > 59) return false;
  out->zone_seconds = (is_west ? -1 : 1) * (hours * 3600 + minutes * 60);
  return true;
}

}  // namespace

std::optional<TemporalText> ParseTimestampText(std::string_view text) {
  Pieces pieces(text);
  TemporalText out;
  int32_t year = 0, month = 0, day = 0;
  const bool is_date = pieces.Digits(4, &year) && pieces.Take('-') && pieces.Digits(2, &month) &&
                       pieces.Take('-') && pieces.Digits(2, &day);
  if (!is_date) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  out.seconds = std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86400};
  if (pieces.done()) return out;
  if (!pieces.Take('T') && !pieces.Take(' ')) return std::nullopt;
  if (!TakeTime(pieces, &out)) return std::nullopt;
  if (pieces.done()) return out;
  if (!TakeZone(pieces, &out) || !pieces.done()) return std::nullopt;
  return out;
}

std::optional<TemporalText> ParseTimeText(std::string_view text) {
  Pieces pieces(text);
  TemporalText out;
  if (!TakeTime(pieces, &out) || !pieces.done()) return std::nullopt;
  return out;
}

}  // namespace pennon::expr
