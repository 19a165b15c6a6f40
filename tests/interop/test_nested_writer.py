"""Nested columns that pennon writes: what the matrix (test_matrix.py) does not have.

Levels at the limits of chunks and pages, what is refused and how, and data sets whose files pennon wrote.
"""

import random
import shutil

import lance
import numpy as np
import pyarrow as pa
import pytest

from . import matrix_cases as cases
from .columns import NULLS, bitmap, make
from .data_files import VERSIONS, Refused, lance_file, same, write_by_pennon, wrong_for_pylance


def write(version, table, folder):
    path = folder / "out.lance"
    return path, write_by_pennon(path, [table], version, folder)


def lists(sizes, items, mask=None, t=pa.int32()):
    """A list array of `sizes`, its items counting up, or from `items`."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype("<i4")
    values = pa.array(np.arange(offsets[-1]), t) if items is None else items
    validity = bitmap(mask) if mask is not None else None
    return pa.Array.from_buffers(pa.list_(values.type), len(sizes), [validity, pa.py_buffer(offsets.tobytes())], children=[values])


def limit_cases():
    """Columns whose levels are at the limits of chunks and pages."""
    rng = np.random.default_rng(4)
    n = 200_000
    yield "one value among nulls", lists([0] * n + [1] + [0] * n, None, np.arange(2 * n + 1) != n)
    yield "two values far apart", lists([1] + [0] * n + [1], None)
    yield "a value every 3000 rows", lists([1 if i % 3000 == 0 else 0 for i in range(n)], None)
    yield "far apart, lists of booleans", lists([1] + [0] * n + [1], pa.array([[True] * 9] * 2, pa.list_(pa.bool_(), 9)))
    yield "far apart, booleans", lists([1] + [0] * n + [1], pa.array([True, None]))
    yield "far apart, dictionary", lists([1] + [0] * n + [1], pa.array(["a", "b"]).dictionary_encode())
    yield "far apart, wide", lists([1] + [0] * n + [1], pa.array(["a" * 500, None]))
    yield "one row of many", lists([150_000], None)
    yield "one row of many empty lists", lists([n], lists([0] * (n - 1) + [1], None))
    yield "one row of empty lists between values", lists([n], lists([1] + [0] * (n - 2) + [1], None))
    yield "long and short rows", lists(rng.integers(0, 2, 3000) * rng.integers(0, 3000, 3000), None)
    yield "all empty", lists([0] * n, None)
    yield "all null", lists([0] * n, None, np.ones(n, bool))
    yield "items all null", lists([3] * 5000, pa.nulls(15000, pa.int32()))
    yield "constant items", lists([3] * 5000, pa.array([7] * 15000))
    yield "constant strings", lists([3] * 5000, pa.array(["same"] * 15000))


LIMIT_CASES = dict(limit_cases())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", LIMIT_CASES)
def test_levels_at_the_limits_of_chunks(version, name, tmp_path):
    table = pa.table({"c": LIMIT_CASES[name]})
    path, _ = write(version, table, tmp_path)
    assert wrong_for_pylance(path, table, random.Random(name)) == []


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_structs_above_lists_state_one_nesting_in_all_pages(version, tmp_path):
    rows = 1_200_000
    valid = lists([3] * rows, None)
    mask = np.zeros(rows, bool)
    mask[-1000::3] = True
    t = pa.struct([("l", valid.type)])
    late_nulls = pa.Array.from_buffers(t, rows, [bitmap(mask)], children=[valid])
    table = pa.table({"c": late_nulls})
    path, _ = write(version, table, tmp_path)
    assert len(lance_file.LanceFileReader(str(path)).metadata().columns[0].pages) > 1
    assert wrong_for_pylance(path, table, random.Random(1)) == []


def refusal(version, array, tmp_path, **field):
    table = pa.table([array], pa.schema([pa.field("c", array.type, **field)]))
    with pytest.raises(Refused) as error:
        write(version, table, tmp_path)
    return str(error.value)


@pytest.mark.parametrize("version,values,t,message", [
    ("2.0", [{"x": 1}, None], pa.struct([("x", pa.int32())]), "cannot hold null structs"),
    ("2.0", [[{"x": 1}, None]], pa.list_(pa.struct([("x", pa.int32())])), "cannot hold null structs"),
    ("2.0", [[("a", 1)]], pa.map_(pa.string(), pa.int32()), "Maps need storage version 2.2"),
    ("2.1", [[("a", 1)]], pa.map_(pa.string(), pa.int32()), "Maps need storage version 2.2"),
    ("2.1", [[{"x": 1}]], pa.list_(pa.struct([("x", pa.int32())]), 1), "needs storage version 2.2"),
    ("2.2", [[[{"x": 1}]]], pa.list_(pa.list_(pa.struct([("x", pa.int32())]), 1)), "cannot be read back"),
    ("2.2", [[{}]], pa.list_(pa.struct([])), "at top level and in structs only"),
    ("2.2", [{"e": {}}, None], pa.struct([("e", pa.struct([]))]), "not nullable"),
    ("2.2", [[["a"]]], pa.list_(pa.list_(pa.string(), 1)), "cannot write this column"),
    ("2.2", [{}, None], pa.struct([]), "not nullable"),
])
def test_what_a_version_cannot_hold_is_refused(version, values, t, message, tmp_path):
    error = refusal(version, pa.array(values, t), tmp_path)
    assert message in error and "column: c" in error


@pytest.mark.parametrize("version,child", [("2.0", pa.string()), ("2.1", pa.string()), ("2.2", pa.bool_())])
def test_packed_structs_a_version_cannot_hold_are_refused(version, child, tmp_path):
    array = make(pa.struct([("f0", child)]), None, NULLS["none"], 4, np.random.default_rng(1))
    error = refusal(version, array, tmp_path, metadata=cases.PACKED)
    assert "cannot pack a struct with this child: f0" in error


def dataset_of(path, table, version, owners, uri):
    """A data set whose only file is the one at `path`."""
    (uri / "data").mkdir(parents=True)
    shutil.copy(path, uri / "data" / "one.lance")
    file = lance.fragment.DataFile("one.lance", [f for f, _ in owners], [c for _, c in owners], 2, int(version[-1]),
                                   path.stat().st_size)
    fragment = lance.fragment.FragmentMetadata(0, [file], table.num_rows)
    operation = lance.LanceOperation.Overwrite(table.schema, [fragment])
    return lance.LanceDataset.commit(str(uri), operation)


@pytest.mark.parametrize("version", VERSIONS)
def test_data_sets_read_the_files(version, tmp_path):
    types = cases.LISTS + cases.STRUCTS + (cases.MAPS if version == "2.2" else [])
    nulls = NULLS["none" if version == "2.0" else "some"]
    rng = np.random.default_rng(3)
    table = pa.table({f"{i}": make(t, None, nulls, 1500, rng) for i, t in enumerate(types)})
    path, owners = write(version, table, tmp_path)
    dataset = dataset_of(path, table, version, owners, tmp_path / "set")
    rows = [0, 7, 700, 701, 1499]
    taken = pa.concat_tables([table.slice(row, 1) for row in rows])
    for got, want in ((dataset.to_table(), table), (dataset.take(rows), taken)):
        assert [name for name in table.column_names if not same(got[name], want[name])] == []


def test_blobs_of_2_2_tables(tmp_path):
    rng = np.random.default_rng(11)
    rows = 300
    data = make(pa.large_binary(), "short", NULLS["none"], rows, rng)
    t = pa.struct([("data", pa.large_binary()), ("uri", pa.string())])
    mask = rng.random(rows) < 0.3
    blobs = pa.Array.from_buffers(t, rows, [bitmap(mask)], children=[data, pa.nulls(rows, pa.string())])
    field = pa.field("b", t, metadata={"ARROW:extension:name": "lance.blob.v2"})
    table = pa.table([blobs, pa.array(range(rows))], pa.schema([field, pa.field("i", pa.int64())]))
    path, owners = write("2.2", table, tmp_path)
    assert owners == [(0, 0), (3, 1)]
    dataset = dataset_of(path, table, "2.2", owners, tmp_path / "set")
    assert dataset.to_table(columns=["i"])["i"].to_pylist() == list(range(rows))
    present = [i for i in range(rows) if not mask[i]]
    assert dataset.to_table(columns=["b"])["b"].is_valid().to_pylist() == (~mask).tolist()
    read = [blob.readall() for blob in dataset.take_blobs("b", indices=present)]
    assert read == [data[i].as_py() for i in present]
