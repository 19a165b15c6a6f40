#include "pennon/file/side_files.h"

#include <utility>
#include <vector>

#include "pennon/error.h"

namespace pennon::file {

namespace {

class StoredSideFiles : public encoding::SideFiles {
 public:
  StoredSideFiles(std::string data_path, FileOpener open)
      : data_path_(std::move(data_path)), open_(std::move(open)) {}

  arrow::Result<io::RangeBuffers> Read(uint32_t blob_id, std::span<io::RangeRead> reads,
                                       arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(const auto file, open_(SideFilePath(data_path_, blob_id)));
    uint64_t left = file->size();
    std::vector<io::RangeRead*> wanted;
    wanted.reserve(reads.size());
    for (io::RangeRead& read : reads) {
      // Values share no bytes, so more than the file holds is a lie that would cost memory.
      if (read.size > left) {
        return Corrupt(file->path(),
                       "the blobs of a side file are more bytes than it has: ", file->size());
      }
      left -= read.size;
      wanted.push_back(&read);
    }
    return io::ReadRanges(*file, wanted, pool);
  }

 private:
  std::string data_path_;
  FileOpener open_;
};

}  // namespace

std::string SideFilePath(std::string_view data_path, uint32_t blob_id) {
  constexpr std::string_view kSuffix = ".lance";
  if (data_path.ends_with(kSuffix)) data_path.remove_suffix(kSuffix.size());
  std::string path(data_path);
  path += '/';
  for (int bit = 0; bit < 32; ++bit) path += (blob_id >> bit & 1) != 0 ? '1' : '0';
  return path + ".blob";
}

std::shared_ptr<const encoding::SideFiles> MakeSideFiles(std::string data_path, FileOpener open) {
  return std::make_shared<const StoredSideFiles>(std::move(data_path), std::move(open));
}

}  // namespace pennon::file
