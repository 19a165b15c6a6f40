// The schema that a data file states of itself, in its file descriptor, and which columns hold its
// fields. Tools and tests read files by it; a table's reads go by the manifest, which may call
// fields otherwise.
//
//   global buffer 0: FileDescriptor { schema { fields[] in pre-order }, length }
//
// Source: docs/format-notes.md, "File descriptor" and "Which schema field owns a column".
#pragma once

#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "pennon/schema.h"
#include "pennon/store.h"

namespace pennon::file {

struct SelfSchema {
  Schema schema;
  std::vector<int> first_columns;  ///< of each top-level field, the first column that holds it
};

/// Reads the descriptor of `file`. A defect is a kCorrupt error, a type that pennon does not know a
/// kUnsupported one.
arrow::Result<SelfSchema> ReadSelfSchema(std::shared_ptr<ReadableFile> file,
                                         arrow::MemoryPool* pool);

}  // namespace pennon::file
