"""The engines that peers.py compares: the interface, and one class for each table engine."""

from __future__ import annotations

import glob
import json
import os
import subprocess
import tempfile

import numpy as np
import pyarrow as pa

import workload

# --------------------------------------------------------------------------
# the interface


class Unsupported(Exception):
    """Raised by an engine for a call it has no way to answer."""


class Engine:
    """One table engine.  All methods but ``open`` may stay unwritten.

    An engine works on one table at a time, the one last opened.  A call has
    finished when its result is in memory (reads) or committed (writes).
    """

    name = "?"
    format = "own"  # tables of the same format are built once and shared
    hard_links = True  # files are never changed in place, so copies may share them
    movable = True  # a copied folder is a working table
    max_cells = None  # skip larger updates

    # -- not timed ---------------------------------------------------------
    def build(self, spec, uri):
        """Write the table of ``spec`` to the folder ``uri``."""
        raise Unsupported("build")

    def index(self, column, kind):
        """Build a scalar ("btree") or vector ("ivf_flat", "ivf_pq") index."""
        raise Unsupported("index")

    def column_batches(self, column):
        """Yield (ids, values) until the whole column was seen: the check."""
        raise Unsupported("check")

    def state(self):
        """Anything worth a note: number of overlays, fragments, ..."""
        return {}

    # -- timed -------------------------------------------------------------
    def open(self, uri):
        raise NotImplementedError

    def write_overlay(self, change):
        """Apply a ``workload.CellUpdate`` in the engine's best way."""
        raise Unsupported("write_overlay")

    def scan(self, columns=None):
        """Read all rows batch by batch; return the number of rows."""
        raise Unsupported("scan")

    def take(self, rows, columns=None):
        """Rows by position, in the order asked for; return an Arrow table."""
        raise Unsupported("take")

    def filter(self, column, low, high, columns):
        """Rows with low <= column <= high; return an Arrow table."""
        raise Unsupported("filter")

    def nearest(self, column, vector, k):
        """The k nearest rows; return an Arrow table with an id column."""
        raise Unsupported("nearest")

    def compact(self, mode):
        """"fold" overlays into the base, or "merge" them into one overlay."""
        raise Unsupported("compact")


class CommandEngine(Engine):
    """An engine that is a program: one process per call.

    Give ``argv(call, **arguments)``; it returns the command line.  Row lists
    and updates are handed over as Arrow IPC files.  The command prints one
    JSON line; {"rows": n} is all that is asked of it, and for
    ``column_batches`` {"arrow": path} of a file with the columns id, value.
    The time of a call includes the start of the process.
    """

    scratch = tempfile.gettempdir()

    def argv(self, call, **arguments):
        raise NotImplementedError

    def _call(self, call, **arguments):
        done = subprocess.run(self.argv(call, uri=self.uri, **arguments), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-300:])
        lines = done.stdout.strip().splitlines()
        return json.loads(lines[-1]) if lines else {}

    def _arrow(self, name, table):
        path = os.path.join(self.scratch, f"{self.name}-{os.getpid()}-{name}.arrow")
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return path

    def open(self, uri):
        self.uri = uri

    def write_overlay(self, change):
        return self._call("write_overlay", column=change.column, arrow=self._arrow("update", change.table()))

    def scan(self, columns=None):
        return self._call("scan", columns=columns)["rows"]

    def take(self, rows, columns=None):
        rows = self._arrow("rows", pa.table({"row": pa.array(rows, pa.int64())}))
        return self._call("take", arrow=rows, columns=columns)["rows"]

    def filter(self, column, low, high, columns):
        return self._call("filter", column=column, low=low, high=high, columns=columns)["rows"]

    def compact(self, mode):
        return self._call("compact", mode=mode)

    def column_batches(self, column):
        with pa.memory_map(self._call("dump", column=column)["arrow"]) as source:
            file = pa.ipc.open_file(source)
            for index in range(file.num_record_batches):
                batch = file.get_batch(index)
                yield batch["id"], batch["value"]


# --------------------------------------------------------------------------
# Lance


class _Lance(Engine):
    format = "lance"
    separate = False

    def __init__(self):
        self.lance = workload.import_lance()
        self.ds = None

    def build(self, spec, uri):
        workload.write_lance(spec, uri, separate_value_column=self.separate)

    def index(self, column, kind):
        if kind == "btree":
            self.ds.create_scalar_index(column, "BTREE")
        elif kind == "ivf_flat":
            self.ds.create_index(column, "IVF_FLAT", num_partitions=64, metric="l2")
        elif kind == "ivf_pq":
            self.ds.create_index(column, "IVF_PQ", num_partitions=64, num_sub_vectors=16, metric="l2")
        self.ds = self.lance.dataset(self.ds.uri)

    def column_batches(self, column):
        for batch in self.ds.to_batches(columns=["id", column]):
            yield batch["id"], batch[column]

    def state(self):
        fragments = self.ds.get_fragments()
        newest = glob.glob(os.path.join(self.ds.uri, "_versions", "*.manifest"))
        return {
            "fragments": len(fragments),
            "overlays": sum(len(f.metadata.overlays) for f in fragments),
            "manifest_bytes": max((os.path.getmtime(p), os.path.getsize(p)) for p in newest)[1] if newest else 0,
        }

    def open(self, uri):
        self.ds = self.lance.dataset(uri)
        return self.ds.version

    def _refresh(self):
        self.ds = self.lance.dataset(self.ds.uri)

    def scan(self, columns=None):
        return sum(b.num_rows for b in self.ds.to_batches(columns=columns))

    def take(self, rows, columns=None):
        return self.ds.take(np.asarray(rows).tolist(), columns=columns)

    def filter(self, column, low, high, columns):
        text = f"{column} = {low}" if low == high else f"{column} >= {low} AND {column} <= {high}"
        return self.ds.to_table(filter=text, columns=columns)

    def nearest(self, column, vector, k):
        return self.ds.to_table(
            nearest={"column": column, "q": vector, "k": k, "nprobes": 8}, columns=["id"]
        )

    def compact(self, mode):
        if mode != "fold":
            raise Unsupported("pylance cannot merge overlays into an overlay")
        key = "lance.compaction.max_overlays_per_fragment"
        if self.ds.config().get(key) != "0":
            self.ds.update_config({key: "0"})
            self._refresh()
        target = max(f.physical_rows for f in self.ds.get_fragments())
        self.ds.optimize.compact_files(target_rows_per_fragment=target)
        self._refresh()


class LanceOverlay(_Lance):
    """pylance with data overlay files; the writer knows the row positions."""

    name = "lance-overlay"

    def write_overlay(self, change):
        self.ds = workload.write_overlay(self.ds, change)


class LanceOverlayByKey(_Lance):
    """The same, but the positions have to be found from the ids first."""

    name = "lance-overlay-by-key"

    def write_overlay(self, change):
        keys = self.ds.to_table(columns=["id"], with_row_address=True)
        ids = keys["id"].to_numpy()
        order = np.argsort(ids, kind="stable") if np.any(ids[1:] < ids[:-1]) else None
        at = np.searchsorted(ids, change.rows, sorter=order)
        at = at if order is None else order[at]
        address = keys["_rowaddr"].to_numpy()[at]
        fragment, offset = address >> 32, address & 0xFFFFFFFF
        per_fragment = {}
        for f in np.unique(fragment):
            pick = np.flatnonzero(fragment == f)
            pick = pick[np.argsort(offset[pick])]
            per_fragment[int(f)] = (
                offset[pick].tolist(),
                pa.table({change.column: change.values.take(pa.array(pick))}),
            )
        groups = workload.overlay_groups(self.ds, per_fragment)
        operation = self.lance.LanceOperation.DataOverlay(groups=groups)
        self.ds = self.lance.LanceDataset.commit(self.ds.uri, operation, read_version=self.ds.version)


class LanceMergeRows(_Lance):
    """merge_insert that moves the changed rows to a new fragment."""

    name = "lance-move-rows"
    mode = "rewrite_rows"

    def write_overlay(self, change):
        merge = self.ds.merge_insert("id").when_matched_update_all().write_mode(self.mode)
        merge.execute(change.table())
        self._refresh()


class LanceMergeColumns(LanceMergeRows):
    """merge_insert that writes the column anew in each touched fragment."""

    name = "lance-rewrite-column"
    mode = "rewrite_columns"


class LanceReplaceColumn(_Lance):
    """Read the column, patch it, swap the data file (DataReplacement)."""

    name = "lance-replace-file"
    format = "lance-separate"
    separate = True

    def write_overlay(self, change):
        from lance.file import LanceFileWriter
        from lance.fragment import DataFile

        ds, op = self.ds, self.lance.LanceOperation
        field = workload.field_ids(ds)[change.column]
        major, minor = (int(x) for x in ds.data_storage_version.split("."))
        groups, first = [], 0
        for fragment in ds.get_fragments():
            count = fragment.physical_rows
            lo, hi = np.searchsorted(change.rows, [first, first + count])
            if hi > lo:
                old = fragment.to_table(columns=[change.column])[change.column].combine_chunks()
                pick = np.arange(count)
                pick[change.rows[lo:hi] - first] = count + np.arange(hi - lo)
                new = pa.concat_arrays([old, change.values.slice(lo, hi - lo)]).take(pa.array(pick))
                name = f"{os.urandom(16).hex()}.lance"
                path = os.path.join(ds.uri, "data", name)
                table = pa.table({change.column: new})
                with LanceFileWriter(path, table.schema, version=ds.data_storage_version) as writer:
                    for batch in table.to_batches():
                        writer.write_batch(batch)
                file = DataFile(name, [field], [0], major, minor, os.path.getsize(path))
                groups.append(op.DataReplacementGroup(fragment.fragment_id, file))
            first += count
        self.ds = self.lance.LanceDataset.commit(ds.uri, op.DataReplacement(groups), read_version=ds.version)


class DuckLance(Engine):
    """DuckDB with its Lance extension (no overlays: it refuses them)."""

    name = "duckdb-lance"
    format = "lance"

    def __init__(self):
        import duckdb
        import duckdb_extension_lance

        found = glob.glob(
            os.path.join(os.path.dirname(duckdb_extension_lance.__file__), "extensions", "*", "lance.duckdb_extension")
        )
        self.con = duckdb.connect(config={"allow_unsigned_extensions": "true", "memory_limit": "4GB"})
        self.con.execute(f"LOAD '{found[0]}'")
        self.count = 0

    def open(self, uri):
        self.uri = uri
        self.count += 1
        self.con.execute(f"ATTACH '{os.path.dirname(uri)}' AS l{self.count} (TYPE lance)")
        name = os.path.basename(uri).removesuffix(".lance")
        self.table = f'l{self.count}.main."{name}"'

    def write_overlay(self, change):
        updates = change.table()  # noqa: F841  (found by name by the engine)
        self.con.execute(
            f"MERGE INTO {self.table} t USING updates u ON t.id = u.id "
            f"WHEN MATCHED THEN UPDATE SET {change.column} = u.{change.column}"
        )

    def scan(self, columns=None):
        text = ", ".join(columns or ["*"])
        return _drain(self.con.sql(f"SELECT {text} FROM {self.table}"))

    def filter(self, column, low, high, columns):
        return _arrow_table(
            self.con.sql(
                f"SELECT {', '.join(columns)} FROM {self.table} WHERE {column} BETWEEN {low} AND {high}"
            )
        )

    def column_batches(self, column):
        for batch in _reader(self.con.sql(f"SELECT id, {column} FROM {self.table}")):
            yield batch["id"], batch[column]


def _reader(relation):
    if hasattr(relation, "to_arrow_reader"):
        return relation.to_arrow_reader(20_000)
    return relation.fetch_arrow_reader(20_000)


def _drain(relation):
    return sum(b.num_rows for b in _reader(relation))


def _arrow_table(relation):
    if hasattr(relation, "to_arrow_table"):
        return relation.to_arrow_table()
    return relation.fetch_arrow_table()


# --------------------------------------------------------------------------
# other engines


class DuckDB(Engine):
    """A native DuckDB table: UPDATE ... FROM, then CHECKPOINT."""

    name = "duckdb"
    format = "duckdb"
    hard_links = False

    def __init__(self):
        import duckdb

        self.duckdb = duckdb
        self.con = None

    def _connect(self, uri):
        if self.con is not None:
            self.con.close()
        os.makedirs(uri, exist_ok=True)
        self.con = self.duckdb.connect(os.path.join(uri, "table.duckdb"), config={"memory_limit": "4GB"})

    def build(self, spec, uri):
        self._connect(uri)
        source = workload.reader(spec)  # noqa: F841
        self.con.execute("CREATE TABLE t AS SELECT * FROM source")
        self.con.execute("CHECKPOINT")
        self.con.close()
        self.con = None

    def open(self, uri):
        self._connect(uri)

    def write_overlay(self, change):
        updates = change.table()  # noqa: F841
        self.con.execute(f"UPDATE t SET {change.column} = u.{change.column} FROM updates u WHERE t.id = u.id")
        self.con.execute("CHECKPOINT")

    def scan(self, columns=None):
        return _drain(self.con.sql(f"SELECT {', '.join(columns or ['*'])} FROM t"))

    def take(self, rows, columns=None):
        wanted = pa.table({"row": pa.array(rows, pa.int64())})  # noqa: F841
        text = ", ".join("t." + c for c in columns) if columns else "t.*"
        return _arrow_table(self.con.sql(f"SELECT {text} FROM t JOIN wanted w ON t.rowid = w.row"))

    def filter(self, column, low, high, columns):
        return _arrow_table(
            self.con.sql(f"SELECT {', '.join(columns)} FROM t WHERE {column} BETWEEN {low} AND {high}")
        )

    def column_batches(self, column):
        for batch in _reader(self.con.sql(f"SELECT id, {column} FROM t")):
            yield batch["id"], batch[column]


class Parquet(Engine):
    """A folder of Parquet files; a touched file is read, patched, rewritten."""

    name = "parquet-rewrite"
    format = "parquet"

    def __init__(self):
        import pyarrow.dataset
        import pyarrow.parquet

        self.pq, self.pads = pyarrow.parquet, pyarrow.dataset

    def build(self, spec, uri):
        os.makedirs(uri, exist_ok=True)
        pending, number = [], 0
        for batch in workload.batches(spec):
            pending.append(batch)
            if sum(len(b) for b in pending) >= spec.fragment_rows:
                self._write(pa.Table.from_batches(pending), os.path.join(uri, f"{number:05}.parquet"))
                pending, number = [], number + 1
        if pending:
            self._write(pa.Table.from_batches(pending), os.path.join(uri, f"{number:05}.parquet"))

    def _write(self, table, path):
        self.pq.write_table(table, path, compression="zstd", row_group_size=100_000)

    def open(self, uri):
        self.uri = uri
        self.files = sorted(glob.glob(os.path.join(uri, "*.parquet")))
        self.counts = [self.pq.read_metadata(f).num_rows for f in self.files]
        self.ds = self.pads.dataset(self.files)

    def write_overlay(self, change):
        first = 0
        for path, count in zip(self.files, self.counts):
            lo, hi = np.searchsorted(change.rows, [first, first + count])
            if hi > lo:
                table = self.pq.read_table(path)
                at = table.schema.get_field_index(change.column)
                old = table.column(at).combine_chunks()
                old = old.cast(change.values.type) if old.type != change.values.type else old
                pick = np.arange(count)
                pick[change.rows[lo:hi] - first] = count + np.arange(hi - lo)
                new = pa.concat_arrays([old, change.values.slice(lo, hi - lo)]).take(pa.array(pick))
                self._write(table.set_column(at, table.schema.field(at), new), path + ".new")
                os.replace(path + ".new", path)
            first += count

    def scan(self, columns=None):
        return sum(b.num_rows for b in self.ds.to_batches(columns=columns))

    def take(self, rows, columns=None):
        return self.ds.take(pa.array(rows), columns=columns)

    def filter(self, column, low, high, columns):
        field = self.pads.field(column)
        return self.ds.to_table(columns=columns, filter=(field >= low) & (field <= high))

    def column_batches(self, column):
        for batch in self.ds.to_batches(columns=["id", column]):
            yield batch["id"], batch[column]


class Delta(Engine):
    """deltalake: MERGE, which rewrites the touched files."""

    name = "deltalake"
    format = "delta"

    def __init__(self):
        import deltalake

        self.deltalake = deltalake

    def build(self, spec, uri):
        pending = []
        for batch in workload.batches(spec):
            pending.append(batch)
            if sum(len(b) for b in pending) >= spec.fragment_rows:
                self.deltalake.write_deltalake(uri, pa.Table.from_batches(pending), mode="append")
                pending = []
        if pending:
            self.deltalake.write_deltalake(uri, pa.Table.from_batches(pending), mode="append")

    def open(self, uri):
        self.table = self.deltalake.DeltaTable(uri)

    def write_overlay(self, change):
        (
            self.table.merge(
                source=change.table(), predicate="t.id = s.id", source_alias="s", target_alias="t"
            )
            .when_matched_update({change.column: f"s.{change.column}"})
            .execute()
        )

    def _query(self, text):
        builder = self.deltalake.QueryBuilder().register("t", self.table)
        return builder.execute(text)

    def scan(self, columns=None):
        reader = self._query(f"SELECT {', '.join(columns or ['*'])} FROM t")
        return sum(b.num_rows for b in reader)

    def filter(self, column, low, high, columns):
        return pa.table(
            self._query(f"SELECT {', '.join(columns)} FROM t WHERE {column} BETWEEN {low} AND {high}").read_all()
        )

    def column_batches(self, column):
        for batch in self._query(f"SELECT id, {column} FROM t"):
            batch = pa.record_batch(batch)
            yield batch["id"], batch[column]


class Iceberg(Engine):
    """pyiceberg: read the rows, patch them, overwrite them by filter."""

    name = "pyiceberg"
    format = "iceberg"
    movable = False  # the metadata names its files by absolute path
    max_cells = 25_000  # the filter is a list of literals

    def _catalog(self, uri):
        from pyiceberg.catalog.sql import SqlCatalog

        os.makedirs(uri, exist_ok=True)
        return SqlCatalog("bench", uri=f"sqlite:///{uri}/catalog.db", warehouse=f"file://{uri}")

    def build(self, spec, uri):
        catalog = self._catalog(uri)
        catalog.create_namespace("b")
        schema = spec.schema()
        if spec.kind != "narrow":
            at = schema.get_field_index("embedding")
            schema = schema.set(at, pa.field("embedding", pa.list_(pa.float32())))
        table = catalog.create_table("b.t", schema=schema)
        pending = []
        for batch in workload.batches(spec):
            pending.append(batch)
            if sum(len(b) for b in pending) >= spec.fragment_rows:
                table.append(self._plain(pa.Table.from_batches(pending), schema))
                pending = []
        if pending:
            table.append(self._plain(pa.Table.from_batches(pending), schema))

    @staticmethod
    def _plain(table, schema):
        return table.cast(schema)

    def open(self, uri):
        self.table = self._catalog(uri).load_table("b.t")

    def write_overlay(self, change):
        from pyiceberg.expressions import In

        wanted = In("id", change.rows.tolist())
        old = self.table.scan(row_filter=wanted).to_arrow()
        order = np.searchsorted(change.rows, old["id"].to_numpy())
        at = old.schema.get_field_index(change.column)
        new = change.values.take(pa.array(order)).cast(old.schema.field(at).type)
        self.table.overwrite(old.set_column(at, old.schema.field(at), new), overwrite_filter=wanted)

    def scan(self, columns=None):
        scan = self.table.scan(selected_fields=tuple(columns) if columns else ("*",))
        return sum(b.num_rows for b in scan.to_arrow_batch_reader())

    def filter(self, column, low, high, columns):
        from pyiceberg.expressions import And, GreaterThanOrEqual, LessThanOrEqual

        where = And(GreaterThanOrEqual(column, low), LessThanOrEqual(column, high))
        return self.table.scan(row_filter=where, selected_fields=tuple(columns)).to_arrow()

    def column_batches(self, column):
        for batch in self.table.scan(selected_fields=("id", column)).to_arrow_batch_reader():
            yield batch["id"], batch[column]


ENGINES = {
    cls.name: cls
    for cls in (
        LanceOverlay,
        LanceOverlayByKey,
        LanceMergeRows,
        LanceMergeColumns,
        LanceReplaceColumn,
        DuckDB,
        Parquet,
        Delta,
        Iceberg,
        DuckLance,
    )
}
