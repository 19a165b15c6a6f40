#include "pennon/expr/from_arrow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/chunked_array.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/expression.h>
#include <arrow/compute/registry.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "pennon/error.h"
#include "pennon/expr/stack_thread.h"

namespace pennon::expr {
namespace {

namespace cp = arrow::compute;

// Calls may nest this deep in the bytes; AND and OR of many terms nest once a term.
constexpr int kMaxSerializedDepth = 100000;
constexpr size_t kStackPerCall = 4096;

// Checks what arrow::compute::Deserialize takes on trust: the nesting of calls and the arrays of
// literals.
arrow::Result<int> CheckBytes(const std::shared_ptr<arrow::Buffer>& bytes) {
  arrow::io::BufferReader file(bytes);
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(&file));
  if (reader->num_record_batches() != 1)
    return InvalidInput("a serialized expression holds one record batch");
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatch> batch, reader->ReadRecordBatch(0));
  ARROW_RETURN_NOT_OK(batch->ValidateFull());
  const auto metadata = reader->schema()->metadata();
  int depth = 0, deepest = 0;
  for (int64_t i = 0; metadata && i < metadata->size(); ++i) {
    if (metadata->key(i) == "call") deepest = std::max(deepest, ++depth);
    if (metadata->key(i) == "end") --depth;
  }
  return deepest;
}

Ast Make(AstKind kind, std::string text = "") { return Ast{.kind = kind, .text = std::move(text)}; }

Ast Wrap(AstKind kind, Ast arg) {
  Ast ast = Make(kind);
  ast.args.push_back(std::move(arg));
  return ast;
}

// Kernels trust the class of their options, so that is checked here.
arrow::Status CheckFunction(const cp::Expression::Call& call) {
  auto found = cp::GetFunctionRegistry()->GetFunction(call.function_name);
  // Some functions over rows, cast among them, pick their kernels in a function of kind META.
  const bool is_known =
      found.ok() && ((*found)->kind() == cp::Function::SCALAR || call.function_name == "cast");
  if (!is_known) {
    return InvalidInput("invalid expression: there is no function over single rows of this name: ",
                        call.function_name);
  }
  if (call.options && (*found)->doc().options_class != call.options->type_name()) {
    return InvalidInput("invalid expression: the options are not of this function: ",
                        call.function_name, ", ", call.options->type_name());
  }
  return arrow::Status::OK();
}

class ArrowReader {
 public:
  explicit ArrowReader(const arrow::Schema& input) : input_(input) {}

  arrow::Result<Ast> Read(const cp::Expression& expression, int depth) {
    if (depth > kMaxDepth)
      return InvalidInput("invalid expression: it is nested deeper than ", kMaxDepth);
    if (const arrow::Datum* literal = expression.literal()) return ReadLiteral(*literal);
    if (const arrow::FieldRef* ref = expression.field_ref()) return ReadField(*ref);
    const cp::Expression::Call* call = expression.call();
    if (!call) return InvalidInput("invalid expression: it is empty");
    return ReadCall(*call, depth);
  }

 private:
  static arrow::Result<Ast> ReadLiteral(const arrow::Datum& literal) {
    if (!literal.is_scalar())
      return InvalidInput("invalid expression: a literal must be one value");
    std::shared_ptr<arrow::Scalar> scalar = literal.scalar();
    if (scalar->is_valid && scalar->type->id() == arrow::Type::DICTIONARY) {
      ARROW_ASSIGN_OR_RAISE(scalar,
                            static_cast<const arrow::DictionaryScalar&>(*scalar).GetEncodedValue());
    }
    Ast ast = Make(scalar->is_valid ? AstKind::kScalar : AstKind::kNull);
    ast.scalar = std::move(scalar);
    return ast;
  }

  arrow::Result<Ast> ReadField(const arrow::FieldRef& ref) {
    Ast ast = Make(AstKind::kColumn);
    if (const std::string* name = ref.name()) {
      ast.path.push_back(*name);
      return ast;
    }
    if (const arrow::FieldPath* path = ref.field_path()) return ReadPath(*path);
    for (const arrow::FieldRef& part : *ref.nested_refs()) {
      const std::string* name = part.name();
      if (!name)
        return InvalidInput("invalid expression: a nested reference must be of names: ",
                            ref.ToString());
      ast.path.push_back(*name);
    }
    if (ast.path.empty()) return InvalidInput("invalid expression: a reference is empty");
    return ast;
  }

  arrow::Result<Ast> ReadPath(const arrow::FieldPath& path) {
    Ast ast = Make(AstKind::kColumn);
    const arrow::FieldVector* fields = &input_.fields();
    for (int index : path.indices()) {
      if (index < 0 || index >= static_cast<int>(fields->size())) {
        return InvalidInput("invalid expression: there is no field of index ", index);
      }
      ast.path.push_back((*fields)[index]->name());
      fields = &(*fields)[index]->type()->fields();
    }
    if (ast.path.empty()) return InvalidInput("invalid expression: a reference is empty");
    return ast;
  }

  arrow::Result<Ast> ReadCall(const cp::Expression::Call& call, int depth);
  arrow::Result<Ast> ReadIn(const cp::Expression::Call& call, int depth);
  arrow::Result<Ast> ReadMatch(const cp::Expression::Call& call, int depth);

  // Takes the terms of a chain of ANDs (ORs) one after the other, however deep it nests.
  arrow::Status ReadTerms(const cp::Expression::Call& root, Ast& ast, int depth) {
    std::vector<const cp::Expression*> open(root.arguments.size());
    for (size_t i = 0; i < open.size(); ++i) open[i] = &root.arguments[open.size() - 1 - i];
    while (!open.empty()) {
      const cp::Expression* term = open.back();
      open.pop_back();
      const cp::Expression::Call* call = term->call();
      if (call && Stem(call->function_name) == Stem(root.function_name)) {
        for (size_t i = call->arguments.size(); i-- > 0;) open.push_back(&call->arguments[i]);
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(Ast arg, Read(*term, depth + 1));
      ast.args.push_back(std::move(arg));
    }
    return arrow::Status::OK();
  }

  static std::string Stem(const std::string& function) {
    for (const char* ending : {"_kleene", "_checked"}) {
      const std::string_view end(ending);
      if (function.ends_with(end)) return function.substr(0, function.size() - end.size());
    }
    return function;
  }

  const arrow::Schema& input_;
};

arrow::Result<Ast> ArrowReader::ReadCall(const cp::Expression::Call& call, int depth) {
  static const std::unordered_map<std::string, const char*> kCompare = {
      {"equal", "="},       {"not_equal", "<>"}, {"less", "<"},
      {"less_equal", "<="}, {"greater", ">"},    {"greater_equal", ">="}};
  static const std::unordered_map<std::string, const char*> kArithmetic = {
      {"add", "+"}, {"subtract", "-"}, {"multiply", "*"}, {"divide", "/"}};
  static const std::unordered_map<std::string, size_t> kArguments = {
      {"and", 2},        {"or", 2},          {"invert", 1},    {"is_null", 1},
      {"is_valid", 1},   {"is_in", 1},       {"negate", 1},    {"is_nan", 1},
      {"match_like", 1}, {"starts_with", 1}, {"ends_with", 1}, {"match_substring", 1}};
  const std::string stem = Stem(call.function_name);
  const auto compare = kCompare.find(stem);
  const auto arithmetic = kArithmetic.find(stem);
  const auto expected = kArguments.find(stem);
  const size_t count = compare != kCompare.end() || arithmetic != kArithmetic.end() ? 2
                       : expected != kArguments.end() ? expected->second
                                                      : call.arguments.size();
  if (call.arguments.size() != count) {
    return InvalidInput("invalid expression: the function ", call.function_name, " does not take ",
                        call.arguments.size(), " arguments");
  }
  if (stem == "and" || stem == "or") {
    Ast ast = Make(stem == "and" ? AstKind::kAnd : AstKind::kOr);
    ARROW_RETURN_NOT_OK(ReadTerms(call, ast, depth));
    return ast;
  }
  if (stem == "is_in") return ReadIn(call, depth);
  const bool is_match = stem == "match_like" || stem == "starts_with" || stem == "ends_with" ||
                        stem == "match_substring";
  if (is_match) return ReadMatch(call, depth);
  Ast ast = Make(AstKind::kArrowCall, call.function_name);
  for (const cp::Expression& argument : call.arguments) {
    ARROW_ASSIGN_OR_RAISE(Ast arg, Read(argument, depth + 1));
    ast.args.push_back(std::move(arg));
  }
  ast.options = call.options;
  if (compare != kCompare.end()) {
    ast.kind = AstKind::kCompare;
    ast.text = compare->second;
  } else if (arithmetic != kArithmetic.end()) {
    ast.kind = AstKind::kArithmetic;
    ast.text = arithmetic->second;
  } else if (stem == "invert") {
    ast.kind = AstKind::kNot;
  } else if (stem == "negate") {
    ast.kind = AstKind::kNegate;
  } else if (stem == "is_nan") {
    ast.kind = AstKind::kCall;
    ast.text = "isnan";
  } else if (stem == "is_valid") {
    ast.kind = AstKind::kIsNull;
    ast.text.clear();
    return Wrap(AstKind::kNot, std::move(ast));
  } else if (stem == "is_null") {
    const auto* options = dynamic_cast<const cp::NullOptions*>(call.options.get());
    ast.kind = AstKind::kIsNull;
    ast.text.clear();
    if (options && options->nan_is_null) {
      Ast is_nan = Make(AstKind::kCall, "isnan");
      is_nan.args = ast.args;
      Ast either = Wrap(AstKind::kOr, std::move(ast));
      either.args.push_back(std::move(is_nan));
      return either;
    }
  } else {
    ARROW_RETURN_NOT_OK(CheckFunction(call));
  }
  return ast;
}

arrow::Result<Ast> ArrowReader::ReadIn(const cp::Expression::Call& call, int depth) {
  const auto* options = dynamic_cast<const cp::SetLookupOptions*>(call.options.get());
  if (!options) return InvalidInput("invalid expression: is_in has no value set");
  Ast ast = Make(AstKind::kInValues);
  ARROW_ASSIGN_OR_RAISE(Ast value, Read(call.arguments[0], depth + 1));
  ast.args.push_back(std::move(value));
  if (options->value_set.is_array()) {
    ast.values = options->value_set.make_array();
  } else if (options->value_set.is_chunked_array()) {
    const arrow::ChunkedArray& chunks = *options->value_set.chunked_array();
    if (chunks.num_chunks() == 0) {
      ARROW_ASSIGN_OR_RAISE(ast.values, arrow::MakeEmptyArray(chunks.type()));
    } else {
      ARROW_ASSIGN_OR_RAISE(ast.values, arrow::Concatenate(chunks.chunks()));
    }
  } else {
    return InvalidInput("invalid expression: the value set of is_in must be an array");
  }
  ast.options = call.options;
  return ast;
}

// match_like and its kin carry the pattern in their options.
arrow::Result<Ast> ArrowReader::ReadMatch(const cp::Expression::Call& call, int depth) {
  const auto* options = dynamic_cast<const cp::MatchSubstringOptions*>(call.options.get());
  if (!options)
    return InvalidInput("invalid expression: this function has no pattern: ", call.function_name);
  if (call.function_name == "match_like" || !options->ignore_case) {
    const bool is_like = call.function_name == "match_like";
    Ast ast = Make(is_like ? AstKind::kLike : AstKind::kCall,
                   call.function_name == "match_substring" ? "contains" : call.function_name);
    ast.flag = is_like && options->ignore_case;
    ARROW_ASSIGN_OR_RAISE(Ast value, Read(call.arguments[0], depth + 1));
    ast.args.push_back(std::move(value));
    ast.args.push_back(Make(AstKind::kString, options->pattern));
    return ast;
  }
  Ast ast = Make(AstKind::kArrowCall, call.function_name);
  ast.options = call.options;
  ARROW_ASSIGN_OR_RAISE(Ast value, Read(call.arguments[0], depth + 1));
  ast.args.push_back(std::move(value));
  return ast;
}

}  // namespace

arrow::Result<Ast> ReadArrowExpression(const std::shared_ptr<arrow::Buffer>& bytes,
                                       const arrow::Schema& input) {
  auto depth = CheckBytes(bytes);
  if (!depth.ok())
    return InvalidInput("invalid expression: the bytes are no serialized expression: ",
                        depth.status().message());
  if (*depth > kMaxSerializedDepth)
    return InvalidInput("invalid expression: its calls nest deeper than ", kMaxSerializedDepth);
  std::optional<arrow::Result<Ast>> read;
  ARROW_RETURN_NOT_OK(RunOnLargeStack((size_t{8} << 20) + *depth * kStackPerCall, [&] {
    arrow::Result<cp::Expression> expression = cp::Deserialize(bytes);
    if (expression.ok()) {
      read.emplace(ArrowReader(input).Read(*expression, 0));
    } else {
      read.emplace(InvalidInput("invalid expression: the bytes are no serialized expression: ",
                                expression.status().message()));
    }
  }));
  return std::move(*read);
}

}  // namespace pennon::expr
