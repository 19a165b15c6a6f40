"""A Lance table at one version. Names follow pylance; all data is pyarrow."""

import dataclasses
import datetime
import os
import re

import pyarrow as pa
import pyarrow.compute as pc

from pennon import _pennon
from pennon.errors import InvalidInput


class IoStats(dict):
    """Bytes and requests read of data files, as counted at the I/O layer."""

    @property
    def bytes(self):
        return self["bytes"]

    @property
    def requests(self):
        return self["requests"]


def dataset(uri, version=None, storage_options=None, memory_map=False):
    """Opens a table by path or URI; ``version`` is a number, a tag, or None for the newest.

    ``memory_map`` maps the table's files: flat pages are handed out without a copy. Only for local tables
    whose files nobody cuts short meanwhile; touching bytes that are gone ends the process.

    >>> pennon.dataset("users.lance", version=3).to_table(columns=["id", "age"], filter="age >= 26")
    """
    if storage_options:
        raise InvalidInput(f"storage_options are for object stores, which pennon does not open yet: {uri}")
    if isinstance(version, str) and version:
        return Dataset(_pennon.Dataset.open(os.fspath(uri), None, version, memory_map))
    if version is not None and (isinstance(version, bool) or not isinstance(version, int) or version < 0):
        raise InvalidInput(f"version: expected a number >= 0, a tag or None, found {version!r}")
    return Dataset(_pennon.Dataset.open(os.fspath(uri), version, "", memory_map))


@dataclasses.dataclass(frozen=True)
class Fragment:
    """One fragment as the manifest lists it; ``data_files`` are dicts with path, fields, version, bytes."""

    fragment_id: int
    physical_rows: int
    num_deletions: int
    num_overlays: int
    data_files: list


class Dataset:
    """A table at one version. Writes move the handle on to the version they made."""

    def __init__(self, native):
        self._native = native

    def __repr__(self):
        fragments = self._native.fragments()
        overlays = sum(f["overlays"] for f in fragments)
        return (
            f"<pennon.Dataset {self.uri!r} version {self.version}: {len(fragments)} fragments, "
            f"{overlays} overlays, columns {', '.join(self.schema.names)}>"
        )

    def __len__(self):
        return self.count_rows()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.to_reader().__arrow_c_stream__(requested_schema)

    # -- facts -------------------------------------------------------------
    @property
    def uri(self):
        return self._native.uri

    @property
    def version(self):
        return self._native.version

    @property
    def schema(self):
        return self._native.schema

    def versions(self):
        """All versions, oldest first: dicts with version, timestamp (UTC) and metadata."""
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return [
            {
                "version": version,
                "timestamp": epoch + datetime.timedelta(microseconds=nanoseconds // 1000),
                "metadata": dict(metadata),
            }
            for version, nanoseconds, metadata in self._native.versions()
        ]

    def checkout_version(self, version):
        """The table at another version, as a new handle."""
        return Dataset(self._native.checkout(version))

    def get_fragments(self):
        """The fragments in list order."""
        return [
            Fragment(f["id"], f["physical_rows"], f["deleted_rows"], f["overlays"], f["files"])
            for f in self._native.fragments()
        ]

    def overlays(self):
        """One dict an overlay file: fragment, position, committed_version, fields, cells, winning, bytes."""
        return self._native.overlays()

    def explain_cell(self, row, column):
        """Where the cell of ``column`` in the row at position ``row`` (among live rows) comes from."""
        return self._native.explain_cell(row, column)

    def io_stats(self):
        """Bytes and requests read of data files since the last call."""
        read, requests = self._native.io_stats()
        return IoStats(bytes=read, requests=requests)

    # -- reading -----------------------------------------------------------
    def to_reader(self, columns=None, filter=None, limit=None, offset=None, with_row_id=False,
                  with_row_address=False, batch_size=None):
        """A ``pyarrow.RecordBatchReader`` over the rows; see ``to_table``."""
        return self._native.scan(_columns(columns), _filter(filter), limit, offset or 0, with_row_id,
                                 with_row_address, batch_size)

    def to_table(self, columns=None, filter=None, limit=None, offset=None, with_row_id=False,
                 with_row_address=False, batch_size=None):
        """The rows as a ``pyarrow.Table``: fragments in order, rows by offset.

        ``columns``: a list of names (``s.a`` for a field inside a struct), or a dict name -> SQL. ``filter``:
        SQL text or a pyarrow Expression.
        """
        return self._native.to_table(_columns(columns), _filter(filter), limit, offset or 0, with_row_id,
                                     with_row_address, batch_size)

    def to_batches(self, columns=None, filter=None, limit=None, offset=None, with_row_id=False,
                   with_row_address=False, batch_size=None):
        """Yields record batches of at most ``batch_size`` rows."""
        yield from self.to_reader(columns, filter, limit, offset, with_row_id, with_row_address, batch_size)

    def count_rows(self, filter=None):
        return self._native.count_rows(_filter(filter))

    def head(self, num_rows, columns=None):
        return self.to_table(columns=columns, limit=num_rows)

    def take(self, indices, columns=None, with_row_id=False, with_row_address=False):
        """Rows by position among live rows, in the order asked, repeats kept."""
        return self._native.take(_integers(indices, pa.int64(), "indices"), _columns(columns), with_row_id,
                                 with_row_address)

    def take_addresses(self, addresses, columns=None, with_row_id=False, with_row_address=False):
        """Rows by address: fragment id << 32 | physical row offset."""
        return self._native.take_addresses(_integers(addresses, pa.uint64(), "addresses"), _columns(columns),
                                           with_row_id, with_row_address)

    def take_row_ids(self, ids, columns=None, with_row_id=False, with_row_address=False):
        """Rows by row id, in the order asked; ids that are gone give nothing."""
        return self._native.take_row_ids(_integers(ids, pa.uint64(), "ids"), _columns(columns), with_row_id,
                                         with_row_address)

    # -- writing -----------------------------------------------------------
    def update(self, updates, where=None, strategy="auto", dry_run=False):
        """Sets cells of the rows that match ``where``; ``updates`` maps a column to the SQL of its new value.

        Returns a dict: version, num_rows_updated, rows, cells, files, bytes_written, attempts.

        >>> users.update({"age": "age + 1"}, where="id IN (2, 4)")
        """
        pairs = [(name, str(sql)) for name, sql in dict(updates).items()]
        info, native = self._native.update(pairs, _filter(where), strategy, dry_run)
        self._native = native
        return {"num_rows_updated": info["rows"], **info}

    def write_overlay(self, fragment_id, columns):
        """Writes one overlay file for a fragment and commits it.

        ``columns`` maps a name (``s.a`` for a field inside a struct) to (physical row offsets, values); dense
        when all offsets are the same, sparse otherwise. A None among the values overrides the cell to NULL.
        """
        info, native = self._native.write_overlay(fragment_id, self._cells(columns))
        self._native = native
        return info

    def stage_overlay(self, fragment_id, columns):
        """Writes one overlay file as ``write_overlay`` does and leaves the commit to ``commit_overlays``.

        Returns a ``StagedOverlay`` (``to_json`` and ``from_json`` carry it to another process), or None where
        ``columns`` has no cell.
        """
        return self._native.stage_overlay(fragment_id, self._cells(columns))

    def commit_overlays(self, staged):
        """Commits staged overlays of any fragments as one version; of two for one cell the later in the list wins.

        When it fails, the files stay and may be committed again.
        """
        info, native = self._native.commit_overlays([one for one in staged if one is not None])
        self._native = native
        return info

    def _cells(self, columns):
        schema = self.schema
        return [
            (name, _integers(offsets, pa.uint32(), f"offsets of {name!r}"), _values(values, schema, name))
            for name, (offsets, values) in dict(columns).items()
        ]


def _columns(columns):
    if columns is None:
        return None
    if isinstance(columns, dict):
        return [(name, str(sql)) for name, sql in columns.items()]
    if isinstance(columns, str):
        raise InvalidInput(f"columns: expected a list of names, found the text {columns!r}")
    return [(name, "") for name in columns]


def _filter(condition):
    if condition is None or isinstance(condition, str):
        return condition
    if isinstance(condition, pc.Expression):
        # The serialized form of the expression, which Arrow C++ reads back.
        return condition.__reduce__()[1][0].to_pybytes()
    raise InvalidInput(f"filter: expected SQL text or a pyarrow Expression, found {type(condition).__name__}")


def _integers(values, type_, what):
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    try:
        array = pa.array(values, type=type_) if not isinstance(values, pa.Array) else values.cast(type_)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError) as error:
        raise InvalidInput(f"{what}: expected integers that fit {type_}: {error}") from None
    if array.null_count:
        raise InvalidInput(f"{what}: expected integers, found None")
    return array


def _type_of(schema, name):
    """The type of a column, or of a field inside structs such as ``s.a``; None where there is none."""
    index = schema.get_field_index(name)
    if index >= 0:
        return schema.field(index).type
    type_ = pa.struct(schema)
    for step in re.findall(r"`((?:[^`]|``)*)`|([^.`]+)", name):
        step = step[0].replace("``", "`") or step[1]
        index = type_.get_field_index(step) if pa.types.is_struct(type_) else -1
        if index < 0:
            return None
        type_ = type_.field(index).type
    return type_


def _values(values, schema, name):
    """Values as one Arrow array; plain Python values take the column's own type."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if hasattr(values, "__arrow_c_array__"):
        return values
    type_ = _type_of(schema, name)
    try:
        return pa.array(values, type=type_)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError) as error:
        raise InvalidInput(f"values of {name!r}: expected {type_}: {error}") from None
