// Byte counts for people.
#pragma once

#include <cstdint>
#include <string>

namespace pennon::cli {

/// `bytes` with a decimal unit and three digits: "12 B", "3.07 MB".
std::string SizeText(uint64_t bytes);

}  // namespace pennon::cli
