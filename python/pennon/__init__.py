"""pennon: a native engine for Lance tables, built around data overlay files."""

import pyarrow as _pyarrow  # noqa: F401  loads the libarrow that the extension shares; must come first

from pennon._pennon import StagedOverlay
from pennon.dataset import Dataset, IoStats, dataset
from pennon.errors import CommitConflict, Corrupt, InvalidInput, NotFound, StorageError, Unsupported

__version__ = "0.1.0"

__all__ = [
    "CommitConflict",
    "Corrupt",
    "Dataset",
    "InvalidInput",
    "IoStats",
    "NotFound",
    "StagedOverlay",
    "StorageError",
    "Unsupported",
    "dataset",
]
