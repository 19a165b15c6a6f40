// A column of any type, nulls and values (column_input.h), written and read: what comes back is
// what was given, whole and in part, whatever encodings the writer chose.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/compare.h>
#include <arrow/memory_pool.h>

#include "column_input.h"
#include "pennon/error.h"
#include "pennon/file/test_file.h"
#include "pennon/file/writer.h"
#include "taker.h"

namespace {

using namespace pennon;
using fuzz::Require;

bool IsRefused(const arrow::Status& status) {
  const auto* const detail = GetErrorDetail(status);
  return detail != nullptr && detail->kind() == ErrorKind::kUnsupported;
}

void RoundTrip(const Field& field, uint16_t minor, const arrow::Array& array) {
  auto writer = file::FileWriter::Make({field}, {2, minor});
  if (!writer.ok()) return Require(IsRefused(writer.status()));
  const int64_t half = array.length() / 2;
  for (const auto& part : {array.Slice(0, half), array.Slice(half)}) {
    const arrow::Status status = (*writer)->Append(0, *part);
    if (!status.ok()) return Require(IsRefused(status));
  }
  const auto written = (*writer)->Finish();
  if (!written.ok()) return Require(IsRefused(written.status()));
  auto* const pool = arrow::default_memory_pool();
  const auto reader =
      file::FileReader::Open(std::make_shared<testing::BytesFile>(written->bytes), pool)
          .ValueOrDie();
  const auto rows = static_cast<uint64_t>(array.length());
  const file::RowRange whole[] = {{.first = 0, .count = rows, .out = 0}};
  const file::RowRange parts[] = {
      {.first = rows / 7, .count = rows / 3, .out = 1},
      {.first = rows - rows / 4, .count = rows / 4, .out = 2 + rows / 3}};
  std::vector<int> columns = written->column_indices;
  for (const auto& ranges :
       {std::span<const file::RowRange>(whole), std::span<const file::RowRange>(parts)}) {
    const auto read = arrow::MakeArray(
        reader->Read(field, columns, ranges, rows + (ranges.size() > 1 ? 3 : 0)).ValueOrDie());
    Require(read->ValidateFull().ok());
    for (const file::RowRange& range : ranges) {
      const auto out = static_cast<int64_t>(range.out);
      Require(read->RangeEquals(array, out, out + static_cast<int64_t>(range.count),
                                static_cast<int64_t>(range.first),
                                arrow::EqualOptions::Defaults().nans_equal(true)));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::ColumnInput column = fuzz::TakeColumn({data, size});
  RoundTrip(column.field, column.minor, *column.array);
  return 0;
}
