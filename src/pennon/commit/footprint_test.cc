// Footprints of hand-made transactions.
#include "pennon/commit/footprint.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "pennon/error.h"

namespace pennon::commit {
namespace {

using protozero::pbf_writer;

std::string Message(const std::function<void(pbf_writer&)>& fill) {
  std::string bytes;
  pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

// A DataFragment as transactions carry it; id 0 is not written, an unknown field is.
std::string Fragment(uint64_t id) {
  return Message([id](pbf_writer& w) {
    w.add_string(99, "future");
    if (id != 0) w.add_uint64(1, id);
    w.add_uint64(4, 10);
  });
}

std::string DataFile(const std::vector<int32_t>& fields) {
  return Message([&fields](pbf_writer& w) {
    w.add_string(1, "x.lance");
    w.add_packed_int32(2, fields.begin(), fields.end());
  });
}

Footprint Read(OperationKind kind, std::string operation) {
  Transaction transaction;
  transaction.kind = kind;
  transaction.uuid = "u";
  transaction.operation = std::move(operation);
  // Through the wire and back, as a foreign transaction comes.
  const Transaction parsed = ParseTransaction(EncodeTransaction(transaction), "t").ValueOrDie();
  EXPECT_EQ(parsed.kind, kind);
  return ReadFootprint(parsed, "t").ValueOrDie();
}

using Ids = std::vector<uint64_t>;

TEST(FootprintTest, Delete) {
  const Footprint f = Read(OperationKind::kDelete, Message([](pbf_writer& w) {
                             w.add_message(1, Fragment(0));
                             w.add_message(1, Fragment(3));
                             const Ids gone = {4, 5};
                             w.add_packed_uint64(2, gone.begin(), gone.end());
                             w.add_string(3, "id > 3");
                           }));
  EXPECT_EQ(f.updated_fragments, (Ids{0, 3}));
  EXPECT_EQ(f.removed_fragments, (Ids{4, 5}));
}

TEST(FootprintTest, RewriteGroupsAndTheOldForm) {
  const std::string group = Message([](pbf_writer& w) {
    w.add_message(1, Fragment(1));
    w.add_message(1, Fragment(2));
    w.add_message(2, Fragment(8));
  });
  EXPECT_EQ(Read(OperationKind::kRewrite, Message([&](pbf_writer& w) { w.add_message(3, group); }))
                .removed_fragments,
            (Ids{1, 2}));
  EXPECT_EQ(Read(OperationKind::kRewrite, group).removed_fragments, (Ids{1, 2}));
}

TEST(FootprintTest, UpdateThatMovesRows) {
  const Footprint f = Read(OperationKind::kUpdate, Message([](pbf_writer& w) {
                             w.add_uint64(1, 6);  // not packed
                             w.add_message(2, Fragment(2));
                             w.add_message(3, Fragment(0));
                           }));
  EXPECT_TRUE(f.moves_rows);
  EXPECT_EQ(f.removed_fragments, (Ids{6}));
  EXPECT_EQ(f.updated_fragments, (Ids{2}));
  EXPECT_TRUE(f.cells.empty());
}

TEST(FootprintTest, UpdateInPlace) {
  const Footprint f = Read(OperationKind::kUpdate, Message([](pbf_writer& w) {
                             w.add_message(2, Fragment(2));
                             const std::vector<uint32_t> fields = {3, 4};
                             w.add_packed_uint32(4, fields.begin(), fields.end());
                             w.add_enum(7, 1);
                           }));
  EXPECT_FALSE(f.moves_rows);
  ASSERT_EQ(f.cells.size(), 1u);
  EXPECT_EQ(f.cells[0].fragment_id, 2u);
  EXPECT_EQ(f.cells[0].fields, (std::vector<int32_t>{3, 4}));
  EXPECT_FALSE(f.cells[0].offsets.has_value());
}

TEST(FootprintTest, NullabilityIsLostUnlessStated) {
  EXPECT_FALSE(Read(OperationKind::kProject, "").preserves_nullability);
  EXPECT_TRUE(Read(OperationKind::kProject, Message([](pbf_writer& w) { w.add_bool(2, true); }))
                  .preserves_nullability);
  EXPECT_TRUE(Read(OperationKind::kMerge, Message([](pbf_writer& w) { w.add_bool(4, true); }))
                  .preserves_nullability);
  EXPECT_TRUE(Read(OperationKind::kAppend, "").preserves_nullability);
}

TEST(FootprintTest, DataReplacement) {
  const Footprint f = Read(OperationKind::kDataReplacement, Message([](pbf_writer& w) {
                             w.add_message(1, Message([](pbf_writer& group) {
                                             group.add_uint64(1, 9);
                                             group.add_message(2, DataFile({7}));
                                           }));
                           }));
  ASSERT_EQ(f.cells.size(), 1u);
  EXPECT_EQ(f.cells[0].fragment_id, 9u);
  EXPECT_EQ(f.cells[0].fields, (std::vector<int32_t>{7}));
}

TEST(FootprintTest, DataOverlayDenseAndSparse) {
  const std::vector<uint32_t> odd = {1, 3};
  const std::vector<uint32_t> two = {2};
  const std::string dense = Message([&](pbf_writer& w) {
    w.add_message(1, DataFile({3, 4}));
    w.add_bytes(2, Bitmap::Of(odd).Serialize());
  });
  const std::string sparse = Message([&](pbf_writer& w) {
    w.add_message(1, DataFile({3, 5}));
    w.add_message(4, Message([&](pbf_writer& bitmaps) {
                    bitmaps.add_bytes(1, Bitmap::Of(two).Serialize());
                    bitmaps.add_bytes(1, Bitmap::Of(odd).Serialize());
                  }));
  });
  const Footprint f =
      Read(OperationKind::kDataOverlay, Message([&](pbf_writer& w) {
             w.add_message(1, Message([&](pbf_writer& group) {
                             group.add_message(2, dense);
                             group.add_message(2, sparse);
                             group.add_uint64(1, 12);  // after the overlays: field order is free
                           }));
           }));
  ASSERT_EQ(f.cells.size(), 3u);
  for (const ChangedCells& cells : f.cells) EXPECT_EQ(cells.fragment_id, 12u);
  EXPECT_EQ(f.cells[0].fields, (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(*f.cells[0].offsets, Bitmap::Of(odd));
  EXPECT_EQ(f.cells[1].fields, (std::vector<int32_t>{3}));
  EXPECT_EQ(*f.cells[1].offsets, Bitmap::Of(two));
  EXPECT_EQ(f.cells[2].fields, (std::vector<int32_t>{5}));
  EXPECT_EQ(*f.cells[2].offsets, Bitmap::Of(odd));
}

TEST(FootprintTest, AnUnknownOperationIsUnknown) {
  const std::string bytes = Message([](pbf_writer& w) {
    w.add_string(2, "u");
    w.add_message(150, std::string());
  });
  EXPECT_EQ(ParseTransaction(bytes, "t").ValueOrDie().kind, OperationKind::kUnknown);
}

TEST(FootprintTest, BrokenBytesAreErrors) {
  Transaction transaction;
  transaction.kind = OperationKind::kUpdate;
  transaction.operation = "\x12\x7f";  // a fragment longer than the message
  const arrow::Status status = ReadFootprint(transaction, "t").status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(GetErrorDetail(status)->kind(), ErrorKind::kCorrupt);
  EXPECT_FALSE(ParseTransaction("\x12\x7f", "t").ok());
}

}  // namespace
}  // namespace pennon::commit
