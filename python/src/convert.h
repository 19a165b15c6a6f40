// Crossing from Arrow C++ and arrow::Status to Python: capsules and exceptions. The only place that
// throws.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type_fwd.h>

#include <nanobind/nanobind.h>

#include "pennon/scan.h"

namespace pennon::python {

namespace nb = nanobind;

/// Raises the Python exception of `status` (pennon/errors.py says which); needs the GIL.
[[noreturn]] void Raise(const arrow::Status& status);

/// Runs `call` without the GIL and gives its value, or raises.
template <typename Call>
auto Run(Call&& call) {
  auto result = [&] {
    nb::gil_scoped_release released;
    return call();
  }();
  if (!result.ok()) Raise(result.status());
  return std::move(result).ValueUnsafe();
}

/// An object with `__arrow_c_stream__` over `reader`.
nb::object StreamToPython(std::shared_ptr<arrow::RecordBatchReader> reader);
/// The same over a table's own chunks.
nb::object TableToPython(std::shared_ptr<arrow::Table> table);
/// A pyarrow schema.
nb::object SchemaToPython(const arrow::Schema& schema);
/// The Python value of a scalar, as pyarrow gives it; None for a null pointer.
nb::object ScalarToPython(const std::shared_ptr<arrow::Scalar>& scalar);
/// Takes an object with `__arrow_c_array__`.
std::shared_ptr<arrow::Array> ArrayFromPython(nb::handle object);

/// None = all columns; else a sequence of (name, sql) pairs.
Columns ColumnsFromPython(nb::handle columns);
/// None, SQL text, or bytes of a serialized Arrow expression.
Filter FilterFromPython(nb::handle filter);

}  // namespace pennon::python
