"""Nested columns that pennon writes, read back by the reference library: value for value.

Every kind of nesting, with no, some and only nulls, in many lengths, for versions 2.0, 2.1 and 2.2, and random
schemas. One file holds the columns of one length, and the writer gets slices of arrays in several chunks.
"""
import subprocess

import numpy as np
import pyarrow as pa
import pytest

from . import nested_writer_cases as cases
from .test_file_reader import check_file
from .test_file_writer import SKIP, TOOL, write, write_ipc

lance_file = pytest.importorskip("lance.file")

LENGTHS = [1, 7, 1000, 5000]
SHARES = {"none": 0, "some": 0.3, "all": 1}


def types_of(version):
    minor = int(version[-1])
    return cases.TYPES + (cases.MAPS if minor >= 2 else [])


def source(version, types, length, share, seed):
    rng = np.random.default_rng([length, seed])
    arrays, fields = [], []
    for i, t in enumerate(types):
        own = 0 if version == "2.0" and cases.without_struct_nulls(t) else share
        arrays.append(cases.make(t, length + 2 * SKIP, own, rng, mean=2 if i % 3 else 5))
        fields.append(pa.field(f"{i}|{t}".replace(".", "_"), t))
    return pa.table(arrays, pa.schema(fields))


def plain(array):
    """`array` in a form whose equality does not see how dictionaries are laid out."""
    return array.to_pylist() if "dictionary" in str(array.type) else array


def equal(a, b):
    if a.type != b.type:
        return False
    a, b = plain(a.combine_chunks()), plain(b.combine_chunks())
    return a == b if isinstance(a, list) else a.equals(b)


def differing(path, want, alone=False):
    """What the reference library reads as something else than `want`: (column, kind of read)."""
    bad = []
    names = want.column_names
    rows = list(range(0, want.num_rows, max(1, want.num_rows // 9)))
    first, count = want.num_rows // 3, max(1, want.num_rows // 4)
    some = pa.concat_tables([want.slice(row, 1) for row in rows])
    for columns in ([[name] for name in names] if alone else [names]):
        reader = lance_file.LanceFileReader(str(path), columns=columns)
        for kind, got, expected in (
            ("all", reader.read_all(batch_size=1 << 17), want),
            ("small batches", reader.read_all(batch_size=700), want),
            ("range", reader.read_range(first, count), want.slice(first, count)),
            ("take", reader.take_rows(rows), some),
        ):
            table = got.to_table()
            for name in columns:
                if not equal(table[name], expected[name]):
                    bad.append((name, kind))
    return bad


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("nulls", SHARES)
@pytest.mark.parametrize("length", LENGTHS)
def test_reference_library_reads_nested_columns(version, nulls, length, tmp_path):
    table = source(version, types_of(version), length, SHARES[nulls], 1)
    path = write(version, [table], tmp_path)
    assert differing(path, table.slice(SKIP, length)) == []


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("nulls", SHARES)
def test_pennon_reads_nested_columns(version, nulls, tmp_path):
    length = 3000
    table = source(version, types_of(version), length, SHARES[nulls], 4)
    path = write(version, [table], tmp_path)
    want = table.slice(SKIP, length)
    check_file(path, table.schema, version, tmp_path, lambda name: want[name])


@pytest.mark.parametrize("nulls", SHARES)
@pytest.mark.parametrize("length", LENGTHS)
def test_fixed_size_lists_of_structs(nulls, length, tmp_path):
    table = source("2.2", cases.STRUCT_LISTS, length, SHARES[nulls], 2)
    for name in table.column_names:
        path = write("2.2", [table.select([name])], tmp_path)
        assert differing(path, table.select([name]).slice(SKIP, length)) == []


@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("nulls", SHARES)
def test_full_zip_pages_on_request(version, nulls, tmp_path):
    table = source(version, types_of(version), 700, SHARES[nulls], 5)
    hint = {"lance-encoding:structural-encoding": "fullzip"}
    table = pa.table(table.columns, pa.schema([field.with_metadata(hint) for field in table.schema]))
    path = write(version, [table], tmp_path)
    assert differing(path, table.slice(SKIP, 700)) == []


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("seed", range(12))
def test_random_schemas(version, seed, tmp_path):
    rng = np.random.default_rng([seed, 77])
    minor = int(version[-1])
    types = [cases.random_type(rng, 4, minor) for _ in range(6)]
    length = int(rng.integers(1, 3000))
    table = source(version, types, length, float(rng.random() * 0.5), seed)
    path = write(version, [table], tmp_path)
    assert differing(path, table.slice(SKIP, length)) == []


def lists(sizes, items, mask=None, t=pa.int32()):
    """A list array of `sizes`, its items counting up, or from `items`."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype("<i4")
    values = pa.array(np.arange(offsets[-1]), t) if items is None else items
    validity = cases.bitmap(mask) if mask is not None else None
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


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("name", LIMIT_CASES)
def test_levels_at_the_limits_of_chunks(version, name, tmp_path):
    table = pa.table({"c": LIMIT_CASES[name]})
    path = write(version, [table], tmp_path, skip=0)
    assert differing(path, table) == []


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_structs_above_lists_state_one_nesting_in_all_pages(version, tmp_path):
    rows = 1_200_000
    valid = lists([3] * rows, None)
    mask = np.zeros(rows, bool)
    mask[-1000::3] = True
    t = pa.struct([("l", valid.type)])
    late_nulls = pa.Array.from_buffers(t, rows, [cases.bitmap(mask)], children=[valid])
    table = pa.table({"c": late_nulls})
    path = write(version, [table], tmp_path, skip=0)
    assert len(lance_file.LanceFileReader(str(path)).metadata().columns[0].pages) > 1
    assert differing(path, table) == []


def packed_table(version, children, nulls, rows=2000):
    rng = np.random.default_rng(rows)
    t = pa.struct([(f"f{i}", child) for i, child in enumerate(children)])
    parts = [cases.leaf(child, rows, 0, rng) for child in children]
    mask = cases.mask_of(rows, SHARES[nulls], rng)
    array = pa.Array.from_buffers(t, rows, [cases.bitmap(mask)], children=parts)
    field = pa.field("p", t, metadata=cases.PACKED)
    if nulls == "none" and version != "2.0":
        listed = pa.ListArray.from_arrays(pa.array([0, 1, 1, *range(3, rows + 1)], pa.int32()), array)
        return pa.table([array.slice(0, len(listed)), listed],
                        pa.schema([field, pa.field("l", pa.list_(field.with_name("item")))]))
    return pa.table([array], pa.schema([field]))


FIXED_CHILDREN = [[pa.uint16(), pa.uint8()], [pa.int64(), pa.float64(), pa.int32()], [pa.int32()], [pa.decimal128(9, 1), pa.date32()]]
LIST_CHILDREN = [[pa.int16(), pa.list_(pa.float32(), 2)]]
VARIABLE_CHILDREN = [[pa.int32(), pa.string()], [pa.string(), pa.large_binary(), pa.int8()], [pa.list_(pa.float32(), 3), pa.binary()]]


@pytest.mark.parametrize("version,children,nulls", [
    *(("2.0", c, "none") for c in FIXED_CHILDREN + LIST_CHILDREN),
    *(("2.1", c, n) for c in FIXED_CHILDREN for n in SHARES),
    *(("2.2", c, n) for c in FIXED_CHILDREN + LIST_CHILDREN + VARIABLE_CHILDREN for n in SHARES),
])
def test_packed_structs(version, children, nulls, tmp_path):
    table = packed_table(version, children, nulls)
    path = write(version, [table], tmp_path)
    assert differing(path, table.slice(SKIP, table.num_rows - 2 * SKIP)) == []


BLOB = {"lance-encoding:blob": "true"}


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("nulls", SHARES)
def test_blobs(version, nulls, tmp_path):
    rng = np.random.default_rng(9)
    values = cases.leaf(pa.large_binary(), 500, SHARES[nulls], rng)
    field = pa.field("b", values.type, metadata=BLOB)
    inner = pa.struct([field, ("x", pa.int32())])
    mask = cases.mask_of(500, 0 if version == "2.0" else SHARES[nulls], rng)
    struct = pa.Array.from_buffers(inner, 500, [cases.bitmap(mask)], children=[values, pa.array(range(500), pa.int32())])
    table = pa.table([values, struct], pa.schema([field, pa.field("s", inner)]))
    path = write(version, [table], tmp_path)
    assert differing(path, table.slice(SKIP, 500 - 2 * SKIP)) == []


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_empty_structs(version, tmp_path):
    empty = pa.struct([])
    array = pa.Array.from_buffers(empty, 20, [None])
    table = pa.table([array, pa.array(range(20))], pa.schema([pa.field("e", empty, False), pa.field("i", pa.int64())]))
    path = write(version, [table], tmp_path)
    # Together the reference library looks for the second in the column of the first, in its own files, too.
    assert differing(path, table.slice(SKIP, 20 - 2 * SKIP), alone=True) == []


def refusal(version, array, tmp_path, **field):
    table = pa.table([array], pa.schema([pa.field("c", array.type, **field)]))
    write_ipc(table, tmp_path / "in.arrow")
    run = subprocess.run([TOOL, version, "0", tmp_path / "out.lance", tmp_path / "in.arrow"], capture_output=True, text=True)
    assert run.returncode == 1
    return run.stderr


@pytest.mark.parametrize("version,values,t,message", [
    ("2.0", [{"x": 1}, None], pa.struct([("x", pa.int32())]), "cannot hold null structs"),
    ("2.0", [[{"x": 1}, None]], pa.list_(pa.struct([("x", pa.int32())])), "cannot hold null structs"),
    ("2.0", [[("a", 1)]], pa.map_(pa.string(), pa.int32()), "Maps need storage version 2.2"),
    ("2.1", [[("a", 1)]], pa.map_(pa.string(), pa.int32()), "Maps need storage version 2.2"),
    ("2.1", [[{"x": 1}]], pa.list_(pa.struct([("x", pa.int32())]), 1), "needs storage version 2.2"),
    ("2.2", [[[{"x": 1}]]], pa.list_(pa.list_(pa.struct([("x", pa.int32())]), 1)), "cannot be read back"),
    ("2.2", [{"e": {}}], pa.struct([("e", pa.struct([]))]), "at top level only"),
    ("2.2", [[["a"]]], pa.list_(pa.list_(pa.string(), 1)), "cannot write this column"),
    ("2.2", [{}, None], pa.struct([]), "not nullable"),
])
def test_what_a_version_cannot_hold_is_refused(version, values, t, message, tmp_path):
    error = refusal(version, pa.array(values, t), tmp_path)
    assert message in error and "column: c" in error


@pytest.mark.parametrize("version,children", [("2.0", [pa.string()]), ("2.1", [pa.string()]), ("2.2", [pa.bool_()])])
def test_packed_structs_a_version_cannot_hold_are_refused(version, children, tmp_path):
    table = packed_table("2.0", children, "none", rows=4)
    error = refusal(version, table["p"].combine_chunks(), tmp_path, metadata=cases.PACKED)
    assert "cannot pack a struct with this child: f0" in error


def dataset_of(path, table, version, owners, uri):
    """A data set whose only file is the one at `path`."""
    import shutil

    import lance

    (uri / "data").mkdir(parents=True)
    shutil.copy(path, uri / "data" / "one.lance")
    file = lance.fragment.DataFile("one.lance", [f for f, _ in owners], [c for _, c in owners], 2, int(version[-1]),
                                   path.stat().st_size)
    fragment = lance.fragment.FragmentMetadata(0, [file], table.num_rows)
    operation = lance.LanceOperation.Overwrite(table.schema, [fragment])
    return lance.LanceDataset.commit(str(uri), operation)


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_data_sets_read_the_files(version, tmp_path):
    table = source(version, types_of(version), 1500, 0.3, 3)
    write_ipc(table, tmp_path / "in.arrow")
    run = subprocess.run([TOOL, version, "0", tmp_path / "out.lance", tmp_path / "in.arrow"], check=True,
                         capture_output=True, text=True)
    owners = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
    dataset = dataset_of(tmp_path / "out.lance", table, version, owners, tmp_path / "set")
    rows = [0, 7, 700, 701, 1499]
    taken = pa.concat_tables([table.slice(row, 1) for row in rows])
    for got, want in ((dataset.to_table(), table), (dataset.take(rows), taken)):
        assert [name for name in table.column_names if not equal(got[name], want[name])] == []


def test_blobs_of_2_2_tables(tmp_path):
    rng = np.random.default_rng(11)
    rows = 300
    data = cases.leaf(pa.large_binary(), rows, 0, rng)
    t = pa.struct([("data", pa.large_binary()), ("uri", pa.string())])
    mask = cases.mask_of(rows, 0.3, rng)
    blobs = pa.Array.from_buffers(t, rows, [cases.bitmap(mask)], children=[data, pa.nulls(rows, pa.string())])
    field = pa.field("b", t, metadata={"ARROW:extension:name": "lance.blob.v2"})
    table = pa.table([blobs, pa.array(range(rows))], pa.schema([field, pa.field("i", pa.int64())]))
    write_ipc(table, tmp_path / "in.arrow")
    run = subprocess.run([TOOL, "2.2", "0", tmp_path / "out.lance", tmp_path / "in.arrow"], check=True,
                         capture_output=True, text=True)
    owners = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
    assert owners == [(0, 0), (3, 1)]
    dataset = dataset_of(tmp_path / "out.lance", table, "2.2", owners, tmp_path / "set")
    assert dataset.to_table(columns=["i"])["i"].to_pylist() == list(range(rows))
    present = [i for i in range(rows) if not mask[i]]
    assert dataset.to_table(columns=["b"])["b"].is_valid().to_pylist() == (~mask).tolist()
    read = [blob.readall() for blob in dataset.take_blobs("b", indices=present)]
    assert read == [data[i].as_py() for i in present]
