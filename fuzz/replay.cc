// Runs a fuzz target once on each file of the folders given: the regression test of its corpus,
// without libFuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)),
                                 std::istreambuf_iterator<char>());
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);  // so that a crash names its file
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      // Once more, cut: what the file held of the end must be missed with an error.
      for (size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 64) {
        const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(cut));
        LLVMFuzzerTestOneInput(part.data(), part.size());
      }
      ++files;
    }
  }
  std::printf("replayed %d files\n", files);
  return files == 0 ? 1 : 0;
}
