#include <gtest/gtest.h>

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "pennon/error.h"
#include "pennon/schema.h"
#include "pennon/schema/field_tree.h"
#include "pennon/schema/logical_type.h"

namespace pennon::schema {
namespace {

wire::FieldMessage Node(std::string name, int32_t id, int32_t parent, std::string type) {
  wire::FieldMessage node;
  node.name = std::move(name);
  node.id = id;
  node.parent_id = parent;
  node.logical_type = std::move(type);
  node.nullable = true;
  return node;
}

arrow::Result<Schema> Build(std::vector<wire::FieldMessage> nodes) {
  return BuildSchema(std::move(nodes), {}, "m");
}

ErrorKind KindOf(const arrow::Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  EXPECT_NE(detail, nullptr) << status.ToString();
  return detail == nullptr ? ErrorKind::kIo : detail->kind();
}

TEST(LogicalType, LeavesReadAndWriteTheSameSpelling) {
  const std::pair<const char*, std::shared_ptr<arrow::DataType>> kCases[] = {
      {"null", arrow::null()},
      {"bool", arrow::boolean()},
      {"int8", arrow::int8()},
      {"uint64", arrow::uint64()},
      {"halffloat", arrow::float16()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"string", arrow::utf8()},
      {"large_string", arrow::large_utf8()},
      {"binary", arrow::binary()},
      {"large_binary", arrow::large_binary()},
      {"fixed_size_binary:16", arrow::fixed_size_binary(16)},
      {"date32:day", arrow::date32()},
      {"date64:ms", arrow::date64()},
      {"time32:ms", arrow::time32(arrow::TimeUnit::MILLI)},
      {"time64:ns", arrow::time64(arrow::TimeUnit::NANO)},
      {"timestamp:us:-", arrow::timestamp(arrow::TimeUnit::MICRO)},
      {"timestamp:us:UTC", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")},
      {"timestamp:ns:+08:00", arrow::timestamp(arrow::TimeUnit::NANO, "+08:00")},
      {"duration:s", arrow::duration(arrow::TimeUnit::SECOND)},
      {"decimal:128:38:4", arrow::decimal128(38, 4)},
      {"decimal:256:60:-6", arrow::decimal256(60, -6)},
      {"fixed_size_list:float:8", arrow::fixed_size_list(arrow::float32(), 8)},
      {"fixed_size_list:fixed_size_list:int8:2:3",
       arrow::fixed_size_list(arrow::fixed_size_list(arrow::int8(), 2), 3)},
      {"fixed_size_list:timestamp:us:UTC:2",
       arrow::fixed_size_list(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"), 2)},
      {"fixed_size_list:lance.bfloat16:4",
       arrow::fixed_size_list(
           arrow::field("item", arrow::fixed_size_binary(2), true,
                        arrow::key_value_metadata({"ARROW:extension:name"}, {"lance.bfloat16"})),
           4)},
      {"dict:string:int8:false", arrow::dictionary(arrow::int8(), arrow::utf8())},
  };
  for (const auto& [text, type] : kCases) {
    const auto read = LeafType(text);
    ASSERT_NE(read, nullptr) << text;
    EXPECT_TRUE(read->Equals(*type, /*check_metadata=*/true))
        << text << " gave " << read->ToString();
    EXPECT_EQ(LogicalTypeOf(*type), text);
  }
}

TEST(LogicalType, NonsenseIsUnknown) {
  for (const char* text : {"",
                           "wibble",
                           "int128",
                           "time32:us",
                           "time64:s",
                           "timestamp:us",
                           "timestamp:us:",
                           "timestamp:x:UTC",
                           "duration:",
                           "decimal:128:39:0",
                           "decimal:128:5:9",
                           "decimal:64:5:1",
                           "decimal:128:5",
                           "decimal:128:5:99999999999",
                           "fixed_size_binary:-1",
                           "fixed_size_binary:x",
                           "fixed_size_list:float:0",
                           "fixed_size_list:float:-4",
                           "fixed_size_list:float",
                           "fixed_size_list:list:3",
                           "fixed_size_list:fixed_size_list:int8:100000:100000",
                           "dict:string:float:false",
                           "dict:string",
                           "dict:decimal:128:5:1:int8:false"}) {
    EXPECT_EQ(LeafType(text), nullptr) << text;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "fixed_size_list:";
  EXPECT_EQ(LeafType(deep + "int8:1"), nullptr);
}

TEST(LogicalType, ViewsAndExtensionsSpellTheirStorage) {
  EXPECT_EQ(LogicalTypeOf(*arrow::utf8_view()), "string");
  EXPECT_EQ(LogicalTypeOf(*arrow::binary_view()), "binary");
  EXPECT_EQ(LogicalTypeOf(*arrow::list_view(arrow::int8())), "");
  EXPECT_EQ(LogicalTypeOf(*arrow::run_end_encoded(arrow::int32(), arrow::int8())), "");
  EXPECT_EQ(LogicalTypeOf(*arrow::fixed_size_list(arrow::list(arrow::int8()), 2)), "");
  EXPECT_EQ(LeafType("json")->id(), arrow::Type::LARGE_BINARY);
  EXPECT_EQ(LeafType("blob")->id(), arrow::Type::LARGE_BINARY);
}

TEST(FieldTree, BuildsNestedTypes) {
  const auto schema =
      Build({Node("id", 0, -1, "int64"), Node("s", 1, -1, "struct"), Node("a", 2, 1, "int32"),
             Node("l", 3, 1, "list.struct"), Node("item", 4, 3, "struct"),
             Node("x", 5, 4, "string"), Node("m", 6, -1, "map"),
             [] {
               auto entries = Node("entries", 7, 6, "struct");
               entries.nullable = false;
               return entries;
             }(),
             [] {
               auto key = Node("key", 8, 7, "string");
               key.nullable = false;
               return key;
             }(),
             Node("value", 9, 7, "int32"), Node("f", 10, -1, "fixed_size_list:struct:2"),
             Node("item", 11, 10, "struct"), Node("y", 12, 11, "double")});
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  const auto arrow = schema->ToArrow();
  EXPECT_TRUE(arrow->field(1)->type()->Equals(arrow::struct_(
      {arrow::field("a", arrow::int32()),
       arrow::field("l", arrow::list(arrow::struct_({arrow::field("x", arrow::utf8())})))})));
  EXPECT_TRUE(arrow->field(2)->type()->Equals(arrow::map(arrow::utf8(), arrow::int32())));
  EXPECT_TRUE(arrow->field(3)->type()->Equals(
      arrow::fixed_size_list(arrow::struct_({arrow::field("y", arrow::float64())}), 2)));

  EXPECT_EQ(schema->FindId(5)->name, "x");
  EXPECT_EQ(schema->FindId(13), nullptr);
  EXPECT_EQ(schema->TopLevelOf(5)->name, "s");
  EXPECT_EQ(schema->FindName("m")->id, 6);
  EXPECT_EQ(schema->FindName("x"), nullptr);
  std::vector<int32_t> leaves;
  AppendLeafIds(*schema->FindName("s"), &leaves);
  EXPECT_EQ(leaves, (std::vector<int32_t>{2, 5}));

  const auto nodes = FlattenFields(schema->fields);
  ASSERT_EQ(nodes.size(), 13u);
  EXPECT_EQ(nodes[5].name, "x");
  EXPECT_EQ(nodes[5].parent_id, 4);
  EXPECT_EQ(nodes[0].parent_id, -1);
  const auto again = Build(nodes);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->ToArrow()->Equals(*arrow, true));
}

TEST(FieldTree, RefusesBrokenTrees) {
  EXPECT_EQ(KindOf(Build({Node("a", 1, -1, "int8"), Node("b", 1, -1, "int8")}).status()),
            ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 1, 2, "struct"), Node("b", 2, 1, "struct")}).status()),
            ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 1, 1, "struct")}).status()), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 1, 77, "int8")}).status()), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", -1, -1, "int8")}).status()), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 0, -1, "int8"), Node("a", 1, -1, "int8")}).status()),
            ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 0, -1, "int8"), Node("b", 1, 0, "int8")}).status()),
            ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 0, -1, "list")}).status()), ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 0, -1, "map"), Node("b", 1, 0, "int8")}).status()),
            ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(Build({Node("a", 0, -1, "wibble")}).status()), ErrorKind::kUnsupported);
  std::vector<wire::FieldMessage> deep = {Node("a", 0, -1, "list")};
  for (int i = 1; i < 100000; ++i) deep.push_back(Node("item", i, i - 1, "list"));
  EXPECT_EQ(KindOf(Build(deep).status()), ErrorKind::kCorrupt);
}

TEST(FieldTree, NumbersAnArrowSchemaInPreOrder) {
  const auto arrow = arrow::schema(
      {arrow::field("id", arrow::int64(), false),
       arrow::field("s", arrow::struct_({arrow::field("a", arrow::int32()),
                                         arrow::field("l", arrow::list(arrow::utf8()))})),
       arrow::field("v", arrow::fixed_size_list(arrow::float32(), 4), true,
                    arrow::key_value_metadata({"unit", "lance:field_id"}, {"m", "9"}))},
      arrow::key_value_metadata({"k"}, {"v"}));
  const auto schema = FromArrow(*arrow, 3);
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(schema->FindName("id")->id, 3);
  EXPECT_EQ(schema->FindName("s")->children[1].children[0].id, 7);
  EXPECT_EQ(schema->FindName("v")->id, 8);
  EXPECT_EQ(schema->FindName("v")->logical_type, "fixed_size_list:float:4");
  EXPECT_EQ(schema->FindName("v")->metadata, (std::map<std::string, std::string>{{"unit", "m"}}));
  EXPECT_EQ(schema->metadata.at("k"), "v");
  EXPECT_TRUE(schema->ToArrow()->Equals(*arrow, false));

  const auto refuse = [](std::shared_ptr<arrow::Field> field) {
    return KindOf(FromArrow(*arrow::schema({std::move(field)})).status());
  };
  EXPECT_EQ(refuse(arrow::field("a", arrow::list_view(arrow::int8()))), ErrorKind::kUnsupported);
  EXPECT_EQ(refuse(arrow::field("_rowid", arrow::int8())), ErrorKind::kInvalidInput);
  EXPECT_EQ(refuse(arrow::field("a.b", arrow::int8())), ErrorKind::kInvalidInput);
}

TEST(FieldMessage, RoundTripsAndRefusesBadUtf8) {
  wire::FieldMessage node = Node("näme", 7, -1, "string");
  node.metadata = {{"k", std::string("\0x", 2)}};
  node.primary_key_position = 2;
  const auto read = wire::ParseFieldMessage(wire::EncodeFieldMessage(node), "m");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->name, "näme");
  EXPECT_EQ(read->id, 7);
  EXPECT_EQ(read->parent_id, -1);
  EXPECT_EQ(read->metadata, node.metadata);
  EXPECT_EQ(read->primary_key_position, 2u);
  node.name = "\xff";
  EXPECT_EQ(KindOf(wire::ParseFieldMessage(wire::EncodeFieldMessage(node), "m").status()),
            ErrorKind::kCorrupt);
  EXPECT_EQ(KindOf(wire::ParseFieldMessage("\x0a\xff", "m").status()), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace pennon::schema
