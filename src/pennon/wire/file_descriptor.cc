#include "pennon/wire/file_descriptor.h"

#include <utility>

#include "pennon/error.h"
#include "pennon/wire/message_reader.h"

namespace pennon::wire {

namespace {

arrow::Status ParseSchema(std::string_view bytes, std::string_view path, FileDescriptor* out) {
  pbf_reader message = ReaderOf(bytes);
  while (message.next()) {
    if (static_cast<uint32_t>(message.tag_and_type()) != Tag(1, kBytes)) {
      message.skip();
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto field, ParseFieldMessage(ViewOf(message), path));
    out->fields.push_back(std::move(field));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<FileDescriptor> ParseFileDescriptor(std::string_view bytes, std::string_view path) {
  FileDescriptor out;
  try {
    pbf_reader message = ReaderOf(bytes);
    while (message.next()) {
      switch (static_cast<uint32_t>(message.tag_and_type())) {
        case Tag(1, kBytes):
          ARROW_RETURN_NOT_OK(ParseSchema(ViewOf(message), path, &out));
          break;
        case Tag(2, kVarint):
          out.length = message.get_uint64();
          break;
        default:
          message.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return Corrupt(path, "cannot parse a file descriptor: ", error.what());
  }
  return out;
}

}  // namespace pennon::wire
