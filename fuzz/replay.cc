// Runs a fuzz target once on each file of the folders given: the regression test of its corpus,
// without libFuzzer.
//
//   replay [--uncut] FOLDER...
//
// and, unless --uncut says that it means nothing to the target, on the file cut short.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Bytes that one allocation may take, whatever the input claims, where AddressSanitizer watches.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();   // NOLINT
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=256"; }  // NOLINT

int main(int argc, char** argv) {
  int files = 0;
  const bool uncut = argc > 1 && std::string_view(argv[1]) == "--uncut";
  for (int i = uncut ? 2 : 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)),
                                 std::istreambuf_iterator<char>());
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);  // so that a crash names its file
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      // Once more, cut: what the file held of the end must be missed with an error.
      for (size_t cut = 0; !uncut && cut < bytes.size(); cut += 1 + bytes.size() / 8) {
        const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(cut));
        LLVMFuzzerTestOneInput(part.data(), part.size());
      }
      ++files;
    }
  }
  std::printf("replayed %d files\n", files);
  return files == 0 ? 1 : 0;
}
