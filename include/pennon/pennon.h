// Everything of pennon.
#pragma once

#include "pennon/context.h"    // IWYU pragma: export
#include "pennon/data_file.h"  // IWYU pragma: export
#include "pennon/dataset.h"    // IWYU pragma: export
#include "pennon/error.h"      // IWYU pragma: export
#include "pennon/info.h"       // IWYU pragma: export
#include "pennon/scan.h"       // IWYU pragma: export
#include "pennon/schema.h"     // IWYU pragma: export
#include "pennon/store.h"      // IWYU pragma: export
#include "pennon/write.h"      // IWYU pragma: export
