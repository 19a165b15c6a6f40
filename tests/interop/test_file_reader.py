"""Data files that the reference library writes, read by pennon: what the matrix (test_matrix.py) does not have.

The tables of the fixtures, columns that the file lacks, and how many requests a read takes. The judge is the
reference library's own file reader.
"""

import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from .columns import NULLS, make
from .data_files import (VERSIONS, differing, first_columns, is_blob, lance_file, random_reads, read_by_pylance, run_jobs,
                         without_offsets)


def check_column(path, schema, index, column, expected, folder):
    """Reads a column whole and in part."""
    reads = random_reads(random.Random(index), len(expected), ranges=4, rows=4)
    results, _ = run_jobs(path, schema, [(index, column, *read) for read in reads], folder)
    want = pa.table({schema.field(index).name: expected})
    for read, (verdict, table) in zip(reads, results):
        assert verdict == "ok", f"{schema.field(index)}: {verdict}"
        assert differing(table, want, read) == [], f"{schema.field(index)}: {read}"


def check_file(path, schema, version, folder, read_expected):
    """Reads every column of a file."""
    for index, (field, column) in enumerate(zip(schema, first_columns(schema, version))):
        if is_blob(field) and version != "2.0":
            continue  # the reference library gives descriptors here: test_leaf_reader.py compares the bytes
        check_column(path, schema, index, column, read_expected(field.name), folder)


def read_column(path, schema, job, folder):
    """Runs one job; gives its verdict, its array or None, and the requests it took."""
    [(verdict, table)], requests = run_jobs(path, schema, [job], folder)
    return verdict, table.column(0).combine_chunks() if table else None, requests


def fixture_files():
    """Data files whose own schema says all: (id, path, version)."""
    import unpack_fixtures

    root = Path(unpack_fixtures.unpack())
    files = []
    for case in sorted(root.iterdir()):
        if not case.name.startswith(("types_", "layout_", "overlay_every_type")) or not case.is_dir():
            continue
        version = json.loads((case / "case.json").read_text())["storage_version"]
        # The schema in a file with blobs of 2.2 does not say what it holds; test_leaf_reader.py reads it.
        if version not in VERSIONS or case.name == "layout_blob_column_2_2":
            continue
        for path in sorted((case / "dataset.lance").rglob("*.lance")):
            files.append((f"{case.name}-{path.name[:6]}", path, version))
    return files


@pytest.mark.parametrize("path, version", [pytest.param(p, v, id=i) for i, p, v in fixture_files()])
def test_fixture_file(path, version, tmp_path):
    """Column by column, for the reference library does not read columns of different lengths together."""
    schema = lance_file.LanceFileReader(str(path)).metadata().schema
    check_file(path, schema, version, tmp_path, lambda name: read_by_pylance(path, "all", columns=[name])[name])


DEEP = pa.struct([("a", pa.large_list(pa.list_(pa.int64()))), ("b", pa.struct([("x", pa.int32()), ("y", pa.string())])),
                  ("c", pa.int16())])


def test_columns_that_the_file_lacks(tmp_path):
    """A missing child is null, its siblings and the structs and lists around it are as they are."""
    deeps = make(pa.list_(DEEP), None, NULLS["some"], 500, np.random.default_rng(7))
    table = without_offsets(pa.table({"deeps": deeps}))
    path = tmp_path / "l.lance"
    with lance_file.LanceFileWriter(str(path), table.schema, version="2.2") as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)

    def without(row, gone):
        if row is None:
            return None
        keep = []
        for value in row:
            if value is not None:
                value = dict(value)
                if "a" in gone:
                    value["a"] = None
                if "b" in gone:
                    value["b"] = None
                elif value["b"] is not None:
                    value["b"] = {k: None if k in gone else v for k, v in value["b"].items()}
                if "c" in gone:
                    value["c"] = None
            keep.append(value)
        return keep

    # The columns: a, b.x, b.y, c.
    cases = {"-1,1,2,3": "a", "0,-1,2,3": "x", "0,-1,-1,3": "b", "0,1,-1,-1": "yc", "-1,-1,2,3": "ax"}
    results, _ = run_jobs(path, table.schema, [(0, columns, "all", []) for columns in cases], tmp_path)
    for gone, (verdict, read) in zip(cases.values(), results):
        assert verdict == "ok", verdict
        assert read.column(0).to_pylist() == [without(row, gone) for row in table.column(0).to_pylist()], gone
    verdict, array, _ = read_column(path, table.schema, (0, "-1,-1,-1,-1", 5, [(0, 5, 0)]), tmp_path)
    assert verdict == "ok" and array.null_count == 5


def test_requests_of_a_struct(tmp_path):
    """All columns of a nested field are fetched together: as many dependent requests as one column needs."""
    rows = 200_000
    values = np.random.default_rng(2).integers(0, 1 << 30, rows)
    children = {name: pa.array(values, pa.int32()) for name in "abcdef"}
    column = pa.StructArray.from_arrays(list(children.values()), list(children))
    table = pa.table({"s": column})
    path = tmp_path / "s.lance"
    with lance_file.LanceFileWriter(str(path), table.schema, version="2.2") as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    verdict, array, requests = read_column(path, table.schema, (0, 0, 1, [(rows // 2, 1, 0)]), tmp_path)
    assert verdict == "ok" and array[0] == column[rows // 2]
    assert requests <= 1 + 2 * len(children)


def test_requests_of_scan_and_take(tmp_path):
    """A scan takes no more requests than the file has pages; a take of one row at most two after the footer."""
    path = tmp_path / "r.lance"
    rows = 3_000_000
    column = pa.array(np.random.default_rng(1).integers(0, 1 << 30, rows), pa.int32())
    table = pa.table({"c": column})
    with lance_file.LanceFileWriter(str(path), table.schema, version="2.2") as writer:
        for batch in table.to_batches(max_chunksize=100_000):
            writer.write_batch(batch)
    metadata = lance_file.LanceFileReader(str(path)).metadata()
    pages = len(metadata.columns[0].pages)
    verdict, array, requests = read_column(path, table.schema, (0, 0, "all", []), tmp_path)
    assert verdict == "ok" and array.equals(column)
    assert requests <= 1 + pages
    verdict, array, requests = read_column(path, table.schema, (0, 0, 1, [(rows // 2, 1, 0)]), tmp_path)
    assert verdict == "ok" and array[0] == column[rows // 2]
    assert requests <= 3
