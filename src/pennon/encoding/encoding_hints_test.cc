#include "pennon/encoding/encoding_hints.h"

#include <gtest/gtest.h>

namespace pennon::encoding {
namespace {

TEST(EncodingHintsTest, ReadsEveryHint) {
  const EncodingHints hints =
      EncodingHints::FromMetadata({{"lance-encoding:compression", "zstd"},
                                   {"lance-encoding:compression-level", "9"},
                                   {"lance-encoding:bss", "on"},
                                   {"lance-encoding:rle-threshold", "0.25"},
                                   {"lance-encoding:minichunk-size", "16384"},
                                   {"lance-encoding:dict-divisor", "4"},
                                   {"lance-encoding:dict-size-ratio", "0.5"},
                                   {"lance-encoding:dict-max-size", "1000"},
                                   {"lance-encoding:dict-values-compression", "none"},
                                   {"lance-encoding:dict-values-compression-level", "2"},
                                   {"lance-encoding:structural-encoding", "miniblock"}},
                                  {{"lance-encoding:structural-encoding", "fullzip"}});
  EXPECT_EQ(hints.compression, CompressionHint::kZstd);
  EXPECT_EQ(hints.compression_level, 9);
  EXPECT_EQ(hints.byte_stream_split, SwitchHint::kOn);
  EXPECT_EQ(hints.rle_threshold, 0.25);
  EXPECT_EQ(hints.minichunk_bytes, 16384u);
  EXPECT_EQ(hints.dictionary_divisor, 4u);
  EXPECT_EQ(hints.dictionary_size_ratio, 0.5);
  EXPECT_EQ(hints.dictionary_max_bytes, 1000u);
  EXPECT_EQ(hints.dictionary_compression, CompressionHint::kNone);
  EXPECT_EQ(hints.dictionary_compression_level, 2);
  EXPECT_EQ(hints.layout, LayoutHint::kFullZip);  // the top-level field says so
}

TEST(EncodingHintsTest, WhatIsNotUnderstoodIsLeftOut) {
  const EncodingHints hints = EncodingHints::FromMetadata({{"lance-encoding:compression", "brotli"},
                                                           {"lance-encoding:compression-level", ""},
                                                           {"lance-encoding:bss", "maybe"},
                                                           {"lance-encoding:rle-threshold", "half"},
                                                           {"lance-encoding:minichunk-size", "0"},
                                                           {"lance-encoding:dict-divisor", "0"},
                                                           {"lance-encoding:dict-max-size", "-1"},
                                                           {"unrelated", "zstd"}},
                                                          {});
  EXPECT_EQ(hints, EncodingHints{});
}

}  // namespace
}  // namespace pennon::encoding
