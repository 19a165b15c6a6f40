#include "pennon/io/fault_store.h"

#include <mutex>

#include "pennon/error.h"

namespace pennon::io {

struct FaultStore::Plan {
  enum class Verdict { kPass, kFailBefore, kFailAfter };

  Verdict Next() {
    std::lock_guard lock(mutex);
    const uint64_t call = ++calls;
    if (fail_at == 0 || call < fail_at) return Verdict::kPass;
    if (fault == Fault::kCrash) return Verdict::kFailBefore;
    if (call != fail_at) return Verdict::kPass;
    return fault == Fault::kBefore ? Verdict::kFailBefore : Verdict::kFailAfter;
  }

  /// Runs `call`, a function that gives an arrow::Status, as planned.
  template <typename Call>
  arrow::Status Run(const std::string& path, const char* what, Call&& call) {
    const Verdict verdict = Next();
    if (verdict != Verdict::kFailBefore) {
      arrow::Status done = call();
      if (verdict == Verdict::kPass || !done.ok()) return done;
    }
    return MakeError(ErrorKind::kIo, {.path = path},
                     JoinParts("A fault was injected in ", what, ": ", path));
  }

  std::mutex mutex;
  uint64_t calls = 0;
  uint64_t fail_at = 0;  // 0 = never
  Fault fault = Fault::kBefore;
};

namespace {

class FaultFile : public ReadableFile {
 public:
  FaultFile(std::shared_ptr<ReadableFile> inner, std::shared_ptr<FaultStore::Plan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)) {}
  const std::string& path() const override { return inner_->path(); }
  uint64_t size() const override { return inner_->size(); }
  arrow::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    return plan_->Run(inner_->path(), "ReadAt", [&] { return inner_->ReadAt(offset, out); });
  }

 private:
  std::shared_ptr<ReadableFile> inner_;
  std::shared_ptr<FaultStore::Plan> plan_;
};

}  // namespace

FaultStore::FaultStore(std::shared_ptr<ObjectStore> inner)
    : inner_(std::move(inner)), plan_(std::make_shared<Plan>()) {}

void FaultStore::FailCall(uint64_t call, Fault fault) {
  std::lock_guard lock(plan_->mutex);
  plan_->fail_at = plan_->calls + call;
  plan_->fault = fault;
}

void FaultStore::Heal() {
  std::lock_guard lock(plan_->mutex);
  plan_->fail_at = 0;
}

uint64_t FaultStore::calls() const {
  std::lock_guard lock(plan_->mutex);
  return plan_->calls;
}

arrow::Result<std::shared_ptr<ReadableFile>> FaultStore::Open(const std::string& path,
                                                              std::optional<uint64_t> known_size,
                                                              std::shared_ptr<IoCounter> counter) {
  std::shared_ptr<ReadableFile> file;
  ARROW_RETURN_NOT_OK(plan_->Run(path, "Open", [&] {
    return inner_->Open(path, known_size, std::move(counter)).Value(&file);
  }));
  return std::make_shared<FaultFile>(std::move(file), plan_);
}

arrow::Result<std::vector<std::string>> FaultStore::List(const std::string& folder) {
  std::vector<std::string> names;
  ARROW_RETURN_NOT_OK(
      plan_->Run(folder, "List", [&] { return inner_->List(folder).Value(&names); }));
  return names;
}

arrow::Status FaultStore::Put(const std::string& path, std::string_view bytes) {
  return plan_->Run(path, "Put", [&] { return inner_->Put(path, bytes); });
}

arrow::Status FaultStore::PutIfAbsent(const std::string& path, std::string_view bytes) {
  return plan_->Run(path, "PutIfAbsent", [&] { return inner_->PutIfAbsent(path, bytes); });
}

arrow::Status FaultStore::Delete(const std::string& path) {
  return plan_->Run(path, "Delete", [&] { return inner_->Delete(path); });
}

}  // namespace pennon::io
