#include "pennon/error.h"

#include <cstring>

namespace pennon {
namespace {

constexpr char kTypeId[] = "pennon::ErrorDetail";

arrow::StatusCode CodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidInput:
      return arrow::StatusCode::Invalid;
    case ErrorKind::kUnsupported:
      return arrow::StatusCode::NotImplemented;
    case ErrorKind::kAlreadyExists:
      return arrow::StatusCode::AlreadyExists;
    case ErrorKind::kCommitConflict:
      return arrow::StatusCode::Cancelled;
    case ErrorKind::kNotFound:
    case ErrorKind::kCorrupt:
    case ErrorKind::kIo:
      return arrow::StatusCode::IOError;
  }
  return arrow::StatusCode::UnknownError;
}

}  // namespace

const char* ErrorDetail::type_id() const { return kTypeId; }

std::string ErrorDetail::ToString() const {
  std::string text;
  auto add = [&text](std::string_view name, const std::string& value) {
    if (!text.empty()) text += ", ";
    text.append(name).append(" ").append(value);
  };
  if (!place_.path.empty()) add("file", place_.path);
  if (place_.fragment) add("fragment", std::to_string(*place_.fragment));
  if (place_.field) add("field", std::to_string(*place_.field));
  if (place_.offset) add("offset", std::to_string(*place_.offset));
  return text;
}

const ErrorDetail* GetErrorDetail(const arrow::Status& status) {
  const auto& detail = status.detail();
  if (detail == nullptr || std::strcmp(detail->type_id(), kTypeId) != 0) return nullptr;
  return static_cast<const ErrorDetail*>(detail.get());
}

arrow::Status MakeError(ErrorKind kind, ErrorPlace place, std::string message, bool retry_helps) {
  return arrow::Status(CodeOf(kind), std::move(message),
                       std::make_shared<ErrorDetail>(kind, std::move(place), retry_helps));
}

}  // namespace pennon
