// Makes seeds for the fuzz targets from tables: scripts/make_fuzz_seeds.sh.
//
//   make_seeds OUT FOLDER...
//
// Every file below the folders that is small enough becomes inputs in OUT/<target>/: data files
// whole, and taken apart into metadata and pages; manifests, transactions, deletion files and the
// coverages of overlays. So do columns made at random and files that pennon writes of them, which
// have layouts that the tables have in large pages only. Inputs are named by a hash of their bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include "column_input.h"
#include "page_input.h"
#include "pennon/file/column_owners.h"
#include "pennon/file/container.h"
#include "pennon/file/leaf_field.h"
#include "pennon/file/packed_rows.h"
#include "pennon/file/self_schema.h"
#include "pennon/file/test_file.h"
#include "pennon/file/writer.h"
#include "pennon/schema/field_marks.h"
#include "pennon/table/manifest.h"
#include "pennon/wire/column_metadata.h"
#include "pennon/wire/page_layout.h"

namespace {

using namespace pennon;
namespace fs = std::filesystem;

constexpr uintmax_t kMostFileBytes = 6 << 10;    ///< of a whole file that becomes one seed
constexpr uintmax_t kMostParsedBytes = 1 << 20;  ///< of one that is taken apart
constexpr size_t kMostSeedBytes = 6 << 10;

std::string Number(uint64_t value, int bytes) {
  std::string out;
  for (; bytes > 0; --bytes, value >>= 8) out += static_cast<char>(value & 0xFF);
  return out;
}

std::string Piece(std::string_view bytes) { return Number(bytes.size(), 2) + std::string(bytes); }

class Seeds {
 public:
  explicit Seeds(fs::path out) : out_(std::move(out)) {}

  void Add(const std::string& target, const std::string& input) {
    if (input.size() > kMostSeedBytes) return;
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : input) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    char name[17];
    std::snprintf(name, sizeof(name), "%016llx", static_cast<unsigned long long>(hash));
    fs::create_directories(out_ / target);
    std::ofstream(out_ / target / name, std::ios::binary) << input;
  }

 private:
  fs::path out_;
};

/// Takes one data file apart.
class DataFileSeeds {
 public:
  DataFileSeeds(std::string bytes, Seeds* seeds) : bytes_(std::move(bytes)), seeds_(*seeds) {}

  arrow::Status Run() {
    if (bytes_.size() <= kMostFileBytes) seeds_.Add("file_fuzz", bytes_);
    auto* const pool = arrow::default_memory_pool();
    const auto file = std::make_shared<testing::BytesFile>(bytes_);
    ARROW_ASSIGN_OR_RAISE(const auto container, file::Container::Open(file, pool));
    minor_ = container.footer().minor;
    AddFooter(container.footer());
    ARROW_ASSIGN_OR_RAISE(const auto descriptor, container.ReadGlobalBuffer(0));
    AddMessage(3, descriptor);
    ARROW_ASSIGN_OR_RAISE(const auto schema, file::ReadSelfSchema(file, pool));
    for (size_t i = 0; i < schema.schema.fields.size(); ++i) {
      const Field& top = schema.schema.fields[i];
      int column = schema.first_columns[i];
      for (const int32_t id : file::ColumnOwners(top, {2, minor_})) {
        ARROW_ASSIGN_OR_RAISE(const auto metadata,
                              container.ReadColumnMetadata(static_cast<uint32_t>(column++)));
        ARROW_RETURN_NOT_OK(AddColumn(*schema.schema.FindId(id), metadata));
      }
    }
    return arrow::Status::OK();
  }

 private:
  void AddMessage(int message, std::string_view bytes) {
    const uint64_t pages = std::min<uint64_t>(bytes_.size() / 256 + 1, 0xFFFF);
    seeds_.Add("file_metadata_fuzz", Number(static_cast<uint64_t>(message), 1) + Number(minor_, 1) +
                                         Number(pages, 2) + std::string(bytes));
  }

  void AddFooter(const wire::FileFooter& footer) {
    const auto tables = std::string_view(bytes_).substr(footer.gbo_start);
    AddMessage(0, std::string(tables.substr(tables.size() - wire::kFooterBytes)) +
                      std::string(tables.substr(0, tables.size() - wire::kFooterBytes)));
  }

  arrow::Status AddColumn(const Field& field, const std::string& metadata) {
    AddMessage(1, metadata);
    ARROW_ASSIGN_OR_RAISE(const auto column,
                          wire::ParseColumnMetadata(metadata,
                                                    minor_ == 0 ? "lance.encodings.ArrayEncoding"
                                                                : "lance.encodings21.PageLayout",
                                                    bytes_.size(), minor_ > 0, "seed"));
    for (const wire::PageMetadata& page : column.pages) {
      AddMessage(minor_ == 0 ? 4 : 2, page.encoding);
      AddPage(field, page);
    }
    return arrow::Status::OK();
  }

  encoding::LeafType LeafOf(const Field& field) const {
    if (!file::OwnsOneColumn(field)) return encoding::LeafType::ItemRanges();
    if (minor_ == 0 && schema::IsBlob(field)) return encoding::LeafType::PackedRows(16);
    if (minor_ == 0 && schema::IsPackedStruct(field))
      return encoding::LeafType::PackedRows(file::PackedRowBytes(field).ValueOr(1));
    return file::LeafTypeOf(field).ValueOr({});
  }

  /// The number of the type that the pages of `field` hold, if inputs can name it.
  std::optional<size_t> TypeOf(const Field& field) const {
    const auto& types = fuzz::PageTypes();
    const auto leaf = LeafOf(field);
    for (size_t i = 0; i < types.size(); ++i) {
      encoding::LeafType same = types[i].leaf;
      same.is_dictionary_string = leaf.is_dictionary_string;
      if (same == leaf) return i;
    }
    return std::nullopt;
  }

  std::string TargetOf(const wire::PageMetadata& page, const Field& field) const {
    if (minor_ == 0) return "page_v20_fuzz";
    if (schema::IsBlob(field)) return "page_blob_fuzz";
    const auto layout = wire::ParsePageLayout(page.encoding, "seed");
    static const char* const kTargets[] = {"page_mini_block_fuzz", "page_constant_fuzz",
                                           "page_full_zip_fuzz", "page_blob_fuzz"};
    return kTargets[layout.ValueOrDie().layout.index()];
  }

  void AddPage(const Field& field, const wire::PageMetadata& page) {
    const auto type = TypeOf(field);
    if (!type || page.length == 0 || page.length > 1 << 16) return;
    std::string buffers;
    for (const auto& at : page.buffers) {
      if (at.size > kMostSeedBytes) return;
      buffers += Piece(std::string_view(bytes_).substr(at.position, at.size));
    }
    for (const int rows : {0, 0x40, 0x81}) {  // all, parts, parts as nested ones
      seeds_.Add(TargetOf(page, field),
                 Number(minor_, 1) + Number(*type, 1) + Number(page.length - 1, 2) +
                     Number(static_cast<uint64_t>(rows), 1) + Piece(page.encoding) + buffers);
    }
  }

  std::string bytes_;
  Seeds& seeds_;
  uint16_t minor_ = 0;
};

void AddManifest(const std::string& bytes, Seeds* seeds) {
  seeds->Add("manifest_fuzz", bytes);
  const auto manifest = table::Manifest::Parse(arrow::Buffer::FromString(bytes), "seed");
  if (!manifest.ok()) return;
  seeds->Add("manifest_fuzz", std::string((*manifest)->inline_transaction()));
  for (const table::Fragment& fragment : (*manifest)->fragments()) {
    std::string overlays = Number(3, 1);
    for (const table::OverlayFile& overlay : fragment.overlays) {
      if (overlay.coverage.empty()) continue;
      seeds->Add("coverage_fuzz", Number(0, 1) + std::string(overlay.coverage[0]));
      overlays += Number(1, 1) + Piece(overlay.coverage[0]);
    }
    if (overlays.size() > 1) seeds->Add("coverage_fuzz", overlays);
  }
}

void AddFile(const fs::path& path, Seeds* seeds) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string folder = path.parent_path().filename();
  if (path.extension() == ".lance" && folder == "data") {
    (void)DataFileSeeds(bytes, seeds).Run();  // of a broken file, as far as it goes
  } else if (path.extension() == ".manifest") {
    AddManifest(bytes, seeds);
  } else if (path.extension() == ".txn") {
    seeds->Add("manifest_fuzz", bytes);
  } else if (folder == "_deletions") {
    const bool is_bitmap = path.extension() == ".bin";
    seeds->Add("coverage_fuzz", Number(is_bitmap ? 1 : 2, 1) + Number(0, 3) + bytes);
  }
}

void AddRandomColumns(Seeds* seeds) {
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string input(200, '\0');
    for (char& c : input) c = static_cast<char>(random() % (i % 2 == 0 ? 256 : 16));
    // All versions and types in turn; few rows in most.
    input[0] = static_cast<char>(i % 3);
    if (i % 8 != 0) input[3] = 0;
    input[4] = static_cast<char>(i / 3);
    seeds->Add("round_trip_fuzz", input);
    const auto column =
        fuzz::TakeColumn({reinterpret_cast<const uint8_t*>(input.data()), input.size()});
    auto writer = file::FileWriter::Make({column.field}, {2, column.minor});
    if (!writer.ok() || !(*writer)->Append(0, *column.array).ok()) continue;
    const auto file = (*writer)->Finish();
    if (file.ok()) (void)DataFileSeeds(file->bytes, seeds).Run();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: make_seeds OUT FOLDER...\n";
    return 2;
  }
  Seeds seeds{argv[1]};
  for (int i = 2; i < argc; ++i) {
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file() && entry.file_size() <= kMostParsedBytes)
        AddFile(entry.path(), &seeds);
    }
  }
  AddRandomColumns(&seeds);
  return 0;
}
