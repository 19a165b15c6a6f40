#include "convert.h"

#include <arrow/api.h>
#include <arrow/c/abi.h>
#include <arrow/c/bridge.h>

#include <nanobind/stl/string.h>

#include "pennon/error.h"

namespace pennon::python {
namespace {

const char* ExceptionName(const arrow::Status& status) {
  if (const ErrorDetail* detail = GetErrorDetail(status)) {
    switch (detail->kind()) {
      case ErrorKind::kInvalidInput:
        return "InvalidInput";
      case ErrorKind::kNotFound:
        return "NotFound";
      case ErrorKind::kCorrupt:
        return "Corrupt";
      case ErrorKind::kUnsupported:
        return "Unsupported";
      case ErrorKind::kCommitConflict:
        return "CommitConflict";
      case ErrorKind::kAlreadyExists:
      case ErrorKind::kIo:
        return "StorageError";
    }
  }
  if (status.IsNotImplemented()) return "Unsupported";
  if (status.IsIOError()) return "StorageError";
  return "InvalidInput";
}

// Capsule names and the release rule are those of the Arrow PyCapsule interface.
template <typename CStruct>
void ReleaseCapsule(PyObject* capsule, const char* name) {
  auto* held = static_cast<CStruct*>(PyCapsule_GetPointer(capsule, name));
  if (held->release != nullptr) held->release(held);
  delete held;
}

nb::object StreamCapsule(ArrowArrayStream* stream) {
  return nb::steal(PyCapsule_New(stream, "arrow_array_stream", [](PyObject* capsule) {
    ReleaseCapsule<ArrowArrayStream>(capsule, "arrow_array_stream");
  }));
}

nb::object PyArrow() { return nb::module_::import_("pyarrow"); }

}  // namespace

void Raise(const arrow::Status& status) {
  if (status.IsOutOfMemory()) {
    PyErr_SetString(PyExc_MemoryError, status.message().c_str());
    throw nb::python_error();
  }
  std::string text = status.message();
  nb::object detail = nb::none();
  bool retry_helps = false;
  if (const ErrorDetail* found = GetErrorDetail(status)) {
    std::string place = found->ToString();
    // Most messages name the file themselves.
    const std::string& path = found->place().path;
    bool told = !path.empty() && text.find(path) != std::string::npos;
    if (!place.empty() && !told) text += " (" + place + ")";
    retry_helps = found->retry_helps();
  }
  nb::object type = nb::module_::import_("pennon.errors").attr(ExceptionName(status));
  nb::object value = type(text);
  if (status.IsCancelled()) value.attr("retry_helps") = retry_helps;
  PyErr_SetObject(type.ptr(), value.ptr());
  throw nb::python_error();
}

nb::object StreamToPython(std::shared_ptr<arrow::RecordBatchReader> reader) {
  auto stream = std::make_unique<ArrowArrayStream>();
  arrow::Status status = arrow::ExportRecordBatchReader(std::move(reader), stream.get());
  if (!status.ok()) Raise(status);
  return PyArrow()
      .attr("RecordBatchReader")
      .attr("_import_from_c_capsule")(StreamCapsule(stream.release()));
}

nb::object TableToPython(std::shared_ptr<arrow::Table> table) {
  auto reader = std::make_shared<arrow::TableBatchReader>(std::move(table));
  return StreamToPython(std::move(reader)).attr("read_all")();
}

nb::object SchemaToPython(const arrow::Schema& schema) {
  auto exported = std::make_unique<ArrowSchema>();
  arrow::Status status = arrow::ExportSchema(schema, exported.get());
  if (!status.ok()) Raise(status);
  nb::object capsule =
      nb::steal(PyCapsule_New(exported.release(), "arrow_schema", [](PyObject* held) {
        ReleaseCapsule<ArrowSchema>(held, "arrow_schema");
      }));
  return PyArrow().attr("Schema").attr("_import_from_c_capsule")(capsule);
}

nb::object ScalarToPython(const std::shared_ptr<arrow::Scalar>& scalar) {
  if (scalar == nullptr) return nb::none();
  auto array = arrow::MakeArrayFromScalar(*scalar, 1);
  if (!array.ok()) Raise(array.status());
  auto schema = arrow::schema({arrow::field("value", scalar->type)});
  auto table = arrow::Table::Make(schema, {std::move(array).ValueUnsafe()});
  return TableToPython(table).attr("column")(0).attr("to_pylist")()[0];
}

std::shared_ptr<arrow::Array> ArrayFromPython(nb::handle object) {
  nb::tuple pair = nb::cast<nb::tuple>(object.attr("__arrow_c_array__")());
  auto* schema = static_cast<ArrowSchema*>(PyCapsule_GetPointer(pair[0].ptr(), "arrow_schema"));
  auto* array = static_cast<ArrowArray*>(PyCapsule_GetPointer(pair[1].ptr(), "arrow_array"));
  if (schema == nullptr || array == nullptr) throw nb::python_error();
  auto imported = arrow::ImportArray(array, schema);
  if (!imported.ok()) Raise(imported.status());
  return std::move(imported).ValueUnsafe();
}

Columns ColumnsFromPython(nb::handle columns) {
  if (columns.is_none()) return {};
  std::vector<Projection> list;
  for (nb::handle item : columns) {
    auto pair = nb::cast<nb::tuple>(item);
    list.emplace_back(nb::cast<std::string>(pair[0]), nb::cast<std::string>(pair[1]));
  }
  return Columns(std::move(list));
}

Filter FilterFromPython(nb::handle filter) {
  Filter out;
  if (filter.is_none()) return out;
  if (nb::isinstance<nb::bytes>(filter)) {
    auto bytes = nb::cast<nb::bytes>(filter);
    out.expression = arrow::Buffer::FromString(std::string(bytes.c_str(), bytes.size()));
  } else {
    out.sql = nb::cast<std::string>(filter);
    // An empty text is a mistake, not "every row": let the parser say so.
    if (out.sql.empty()) out.sql = " ";
  }
  return out;
}

}  // namespace pennon::python
