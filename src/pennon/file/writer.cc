#include "pennon/file/writer.h"

#include <algorithm>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/type.h>

#include "pennon/error.h"
#include "pennon/file/blob_v2_writer.h"
#include "pennon/file/column_plan.h"
#include "pennon/file/column_writer.h"
#include "pennon/file/container_writer.h"

namespace pennon::file {
namespace {

class Writer final : public FileWriter {
 public:
  Writer(std::vector<Field> fields, std::vector<ColumnPlan> plans, FileVersion version,
         WritableFile* file)
      : fields_(std::move(fields)), version_(version), container_(plans.size(), version, file) {
    for (ColumnPlan& plan : plans)
      columns_.emplace_back(std::move(plan), columns_.size(), &container_);
  }

  arrow::Status Append(int index, const arrow::Array& values) override {
    if (index < 0 || static_cast<size_t>(index) >= fields_.size()) {
      return InvalidInput("There is no field to append to at this position: expected 0 to ",
                          static_cast<int64_t>(fields_.size()) - 1, ", found ", index);
    }
    const Field& field = fields_[static_cast<size_t>(index)];
    if (!values.type()->Equals(*field.type)) {
      return InvalidInput("Values to write have not the type of their column ", field.name,
                          ": expected ", field.type->ToString(), ", found ",
                          values.type()->ToString());
    }
    ARROW_RETURN_NOT_OK(values.Validate());
    if (!field.nullable && values.null_count() > 0) {
      return InvalidInput("Values to write have nulls, but their column is not nullable, column: ",
                          field.name, ", nulls: ", values.null_count());
    }
    if (values.length() == 0) return arrow::Status::OK();
    for (ColumnWriter& column : columns_) {
      if (column.plan().top == static_cast<size_t>(index)) {
        ARROW_RETURN_NOT_OK(column.Append(values));
      }
    }
    return container_.status();
  }

  arrow::Result<WrittenFile> Finish() override {
    WrittenFile out;
    uint64_t length = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      ARROW_RETURN_NOT_OK(columns_[i].Finish());
      length = std::max(length, columns_[i].rows());
      out.fields.push_back(columns_[i].plan().field_id);
      out.column_indices.push_back(static_cast<int32_t>(i));
    }
    out.version = version_;
    ARROW_RETURN_NOT_OK(container_.Finish(DescribeBlobs(fields_), length));
    out.size = container_.size();
    out.bytes = container_.TakeBytes();
    return out;
  }

 private:
  std::vector<Field> fields_;
  FileVersion version_;
  ContainerWriter container_;
  std::vector<ColumnWriter> columns_;
};

}  // namespace

arrow::Result<std::unique_ptr<FileWriter>> FileWriter::Make(std::vector<Field> fields,
                                                            FileVersion version,
                                                            WritableFile* out) {
  if (version.major != 2 || version.minor > 2) {
    return Unsupported("", "pennon writes data files of versions 2.0, 2.1 and 2.2; asked for ",
                       version.major, ".", version.minor);
  }
  ARROW_ASSIGN_OR_RAISE(std::vector<ColumnPlan> plans, PlanColumns(fields, version));
  return std::make_unique<Writer>(std::move(fields), std::move(plans), version, out);
}

}  // namespace pennon::file
