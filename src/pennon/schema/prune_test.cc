#include "pennon/schema/prune.h"

#include <gtest/gtest.h>

#include <arrow/type.h>

#include "pennon/schema/field_tree.h"

namespace pennon::schema {
namespace {

// s{a, b{c, d}, l[x{y, z}]} with ids 0..8.
Field Tree() {
  auto inner = arrow::struct_({arrow::field("c", arrow::utf8()), arrow::field("d", arrow::int8())});
  auto item = arrow::struct_({arrow::field("y", arrow::int8()), arrow::field("z", arrow::int8())});
  auto s = arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", inner),
                           arrow::field("l", arrow::list(arrow::field("x", item)))});
  return FromArrow(*arrow::schema({arrow::field("s", s)})).ValueOrDie().fields[0];
}

TEST(Prune, KeepsTheAskedFieldsAndWhatLiesAbove) {
  Field tree = Tree();
  ASSERT_EQ(tree.children[1].children[1].name, "d");
  const int32_t d[] = {tree.children[1].children[1].id};
  Field pruned = Prune(tree, d);
  EXPECT_EQ(pruned.type->ToString(), "struct<b: struct<d: int8>>");
  EXPECT_EQ(pruned.id, tree.id);
  EXPECT_EQ(pruned.children[0].id, tree.children[1].id);
  EXPECT_EQ(pruned.children[0].children[0].id, d[0]);
}

TEST(Prune, KeepsAStructThatIsAskedWholeAndCutsNoList) {
  Field tree = Tree();
  const int32_t b_and_y[] = {tree.children[1].id, tree.children[2].children[0].children[0].id};
  EXPECT_EQ(Prune(tree, b_and_y).type->ToString(),
            "struct<b: struct<c: string, d: int8>, l: list<x: struct<y: int8, z: int8>>>");
  const int32_t top[] = {tree.id};
  EXPECT_TRUE(Prune(tree, top).type->Equals(*tree.type));
}

TEST(Prune, APackedStructStaysWhole) {
  Field tree = Tree();
  tree.metadata["packed"] = "true";
  const int32_t a[] = {tree.children[0].id};
  EXPECT_FALSE(IsPlainStruct(tree));
  EXPECT_TRUE(Prune(tree, a).type->Equals(*tree.type));
  EXPECT_TRUE(IsPlainStruct(tree.children[1]));
  EXPECT_FALSE(IsPlainStruct(tree.children[2]));
}

}  // namespace
}  // namespace pennon::schema
