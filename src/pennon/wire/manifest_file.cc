#include "pennon/wire/manifest_file.h"

#include "pennon/error.h"

namespace pennon::wire {
namespace {

constexpr std::string_view kMagic = "LANC";
constexpr size_t kLengthBytes = 4;

uint64_t LoadLittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

void AppendLittleEndian(uint64_t value, size_t bytes, std::string* out) {
  for (size_t i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

}  // namespace

arrow::Result<std::string_view> FindManifestMessage(std::string_view file, std::string_view path) {
  if (file.size() < kLengthBytes + kManifestFooterBytes) {
    return Corrupt(path, "The manifest is too short: expected at least ",
                   kLengthBytes + kManifestFooterBytes, " bytes, found ", file.size(), ": ", path);
  }
  if (file.substr(file.size() - kMagic.size()) != kMagic) {
    return Corrupt(
        path, "The manifest does not end in LANC; the file is truncated or is no manifest: ", path);
  }
  const size_t footer = file.size() - kManifestFooterBytes;
  const uint64_t position = LoadLittleEndian(file.substr(footer, 8));
  if (position > footer - kLengthBytes) {
    return Corrupt(path, "The manifest's footer points past its end: position ", position,
                   ", file size ", file.size(), ": ", path);
  }
  const uint64_t length = LoadLittleEndian(file.substr(position, kLengthBytes));
  if (length != footer - kLengthBytes - position) {
    return Corrupt(path, "The manifest message does not end at the footer: expected ",
                   footer - kLengthBytes - position, " bytes, found a length of ", length, ": ",
                   path);
  }
  return file.substr(position + kLengthBytes, length);
}

arrow::Result<std::string_view> SectionAt(std::string_view file, uint64_t offset, const char* what,
                                          std::string_view path) {
  if (file.size() < kLengthBytes || offset > file.size() - kLengthBytes) {
    return Corrupt(path, "The ", what, " lies past the end of the manifest: offset ", offset,
                   ", file size ", file.size(), ": ", path);
  }
  const uint64_t length = LoadLittleEndian(file.substr(offset, kLengthBytes));
  if (length > file.size() - kLengthBytes - offset) {
    return Corrupt(path, "The ", what, " runs past the end of the manifest: offset ", offset,
                   ", length ", length, ", file size ", file.size(), ": ", path);
  }
  return file.substr(offset + kLengthBytes, length);
}

void AppendSection(std::string_view message, std::string* file) {
  AppendLittleEndian(message.size(), kLengthBytes, file);
  file->append(message);
}

void AppendManifestFooter(uint64_t position, std::string* file) {
  AppendLittleEndian(position, 8, file);
  AppendLittleEndian(0, 2, file);
  AppendLittleEndian(2, 2, file);
  file->append(kMagic);
}

}  // namespace pennon::wire
