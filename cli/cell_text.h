// One value of an Arrow array as JSON or as text for people.
#pragma once

#include <cstdint>
#include <string>

#include <arrow/type_fwd.h>
#include <nlohmann/json.hpp>

namespace pennon::cli {

using Json = nlohmann::ordered_json;

/// JSON form: numbers as numbers (NaN and infinities as the strings "NaN", "Infinity",
/// "-Infinity"), dates, times and decimals as text, binary in base64, lists as arrays, structs as
/// objects, NULL as null.
Json CellToJson(const arrow::Array& array, int64_t index);

/// Text form: strings as they are, binary as X'hex', all else as in JSON; `null_text` for NULL.
std::string CellToText(const arrow::Array& array, int64_t index, const std::string& null_text);

/// JSON and text of a scalar (a null pointer is NULL).
Json ScalarToJson(const std::shared_ptr<arrow::Scalar>& scalar);
std::string ScalarToText(const std::shared_ptr<arrow::Scalar>& scalar);

/// JSON text that is valid UTF-8 whatever the strings hold.
std::string DumpJson(const Json& json, int indent = -1);

}  // namespace pennon::cli
