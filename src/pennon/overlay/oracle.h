// Resolves one cell by walking the list of overlays, for tests only: what every faster way must
// agree with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace pennon::overlay {

/// An overlay of one field as the specification describes it.
struct OracleOverlay {
  uint64_t committed_version = 0;
  std::vector<uint32_t> offsets;  ///< ascending
};

struct OracleAnswer {
  size_t overlay = 0;  ///< position in the list
  uint64_t rank = 0;   ///< offsets covered below
  bool operator==(const OracleAnswer&) const = default;
};

/// The overlay that gives the cell at `offset`, or nullopt if the base does.
inline std::optional<OracleAnswer> ResolveCell(const std::vector<OracleOverlay>& overlays,
                                               uint32_t offset) {
  std::optional<OracleAnswer> winner;
  for (size_t i = 0; i < overlays.size(); ++i) {
    uint64_t rank = 0;
    bool covers = false;
    for (uint32_t covered : overlays[i].offsets) {
      rank += covered < offset ? 1 : 0;
      covers |= covered == offset;
    }
    bool newer =
        !winner || overlays[i].committed_version >= overlays[winner->overlay].committed_version;
    if (covers && newer) winner = OracleAnswer{i, rank};
  }
  return winner;
}

}  // namespace pennon::overlay
