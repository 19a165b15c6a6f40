"""Data files that the reference library writes, read by pennon: value for value, whole, in ranges, row by row.

The tables of the fixtures and a matrix of types, nulls and encodings, for versions 2.0, 2.1 and 2.2. The judge is
the reference library's own file reader.
"""

import json
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from . import file_cases

lance_file = pytest.importorskip("lance.file")

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("PENNON_READ_FILE", ROOT / "build/release/bin/read_file"))



def is_truthy(metadata, key):
    return metadata.get(key, b"").lower() in (b"1", b"true", b"on", b"yes", b"y")


def is_packed(field):
    metadata = field.metadata or {}
    return pa.types.is_struct(field.type) and any(is_truthy(metadata, k) for k in (b"packed", b"lance-encoding:packed"))


def is_blob(field):
    return b"lance-encoding:blob" in (field.metadata or {})


def child_fields(t):
    if pa.types.is_struct(t):
        return list(t)
    if pa.types.is_map(t):
        return [t.key_field, t.item_field]
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return [t.value_field]
    return []


def is_plain_fixed_size_list(t):
    """A fixed-size list whose items are in its own column."""
    return pa.types.is_fixed_size_list(t) and not pa.types.is_struct(t.value_type)


def count_columns(field, version):
    """How many columns of the file the field owns."""
    children = child_fields(field.type)
    if is_packed(field) or is_blob(field) or is_plain_fixed_size_list(field.type) or not children:
        return 1
    own = 1 if version == "2.0" and not pa.types.is_fixed_size_list(field.type) else 0
    return own + sum(count_columns(child, version) for child in children)


def first_columns(schema, version):
    first, out = 0, []
    for field in schema:
        out.append(first)
        first += count_columns(field, version)
    return out


def run_tool(path, schema, jobs, folder):
    """Runs read_file; returns one (verdict, array or None) a job, and the requests it took."""
    schema_path, out = folder / "schema.arrow", folder / "out"
    with pa.ipc.new_file(str(schema_path), schema):
        pass
    lines = "".join(
        f"{field} {column} {length} " + " ".join(f"{a}:{n}:{slot}" for a, n, slot in ranges) + "\n"
        for field, column, length, ranges in jobs
    )
    done = subprocess.run(
        [str(TOOL), str(path), str(schema_path), str(out)], input=lines, capture_output=True, text=True, timeout=300
    )
    assert done.returncode >= 0, f"killed by signal {-done.returncode}: {done.stderr[-2000:]}"
    text = done.stdout.splitlines()
    if done.returncode != 0:
        return [(text[-1] if text else done.stderr, None)] * len(jobs), 0
    results = []
    for i in range(len(jobs)):
        verdict = text[i].split(" ", 1)[1]
        array = None
        if verdict == "ok":
            with pa.OSFile(f"{out}.{i}") as source, pa.ipc.open_file(source) as reader:
                array = reader.read_all().column(0).combine_chunks()
            os.remove(f"{out}.{i}")
        results.append((verdict, array))
    return results, int(text[len(jobs)].split()[1])


def same(a, b):
    """Equality where NaN equals NaN, bit for bit otherwise."""
    if isinstance(b, pa.ChunkedArray):
        b = b.combine_chunks()
    if a.type != b.type or len(a) != len(b):
        return False
    return a.equals(b) or a.to_pylist() == b.to_pylist() or repr(a.to_pylist()) == repr(b.to_pylist())


def random_jobs(rng, field, column, length):
    """Ranges of rows with gaps, some with slots left free; and single rows."""
    jobs = []
    for _ in range(4):
        ranges, row, slot = [], 0, 0
        while row < length and len(ranges) < 12:
            row += rng.choice([0, 1, 3, rng.randrange(length)])
            if row >= length:
                break
            count = min(length - row, rng.choice([1, 2, 7, 64, rng.randrange(1, length + 1)]))
            slot += rng.choice([0, 0, 0, 5])
            ranges.append((row, count, slot))
            row, slot = row + count, slot + count
        jobs.append((field, column, slot + rng.choice([0, 3]), ranges))
    for _ in range(4):
        jobs.append((field, column, 1, [(rng.randrange(length), 1, 0)]))
    rows = sorted(rng.sample(range(length), min(length, 20)))
    jobs.append((field, column, len(rows), [(r, 1, i) for i, r in enumerate(rows)]))
    return jobs


def check_ranges(array, expected, job):
    _, _, length, ranges = job
    assert len(array) == length
    named = np.zeros(length, bool)
    for first, count, slot in ranges:
        assert same(array.slice(slot, count), expected.slice(first, count)), f"rows {first} + {count}"
        named[slot : slot + count] = True
    if not pa.types.is_null(array.type):
        assert np.asarray(array.is_valid())[~named].all(), "slots that no range names must be valid"


def check_column(path, schema, index, column, expected, folder):
    rng = random.Random(index)
    jobs = [(index, column, "all", [])]
    if len(expected) > 0:
        jobs += random_jobs(rng, index, column, len(expected))
    results, _ = run_tool(path, schema, jobs, folder)
    for job, (verdict, array) in zip(jobs, results):
        assert verdict == "ok", f"{schema.field(index)}: {verdict}"
        if job[2] == "all":
            assert same(array, expected), f"{schema.field(index)}: whole column"
        else:
            check_ranges(array, expected, job)


def check_file(path, schema, version, folder, read_expected):
    """Reads every column of a file."""
    for index, (field, column) in enumerate(zip(schema, first_columns(schema, version))):
        if is_blob(field) and version != "2.0":
            continue  # the reference library gives descriptors here: test_leaf_reader.py compares the bytes
        check_column(path, schema, index, column, read_expected(field.name), folder)


def fixture_files():
    """Data files whose own schema says all: (id, path, version)."""
    import unpack_fixtures

    root = Path(unpack_fixtures.unpack())
    files = []
    for case in sorted(root.iterdir()):
        if not case.name.startswith(("types_", "layout_", "overlay_every_type")) or not case.is_dir():
            continue
        version = json.loads((case / "case.json").read_text())["storage_version"]
        if version not in ("2.0", "2.1", "2.2"):
            continue
        for path in sorted((case / "dataset.lance").rglob("*.lance")):
            files.append((f"{case.name}-{path.name[:6]}", path, version))
    return files


@pytest.mark.parametrize("path, version", [pytest.param(p, v, id=i) for i, p, v in fixture_files()])
def test_fixture_file(path, version, tmp_path):
    try:
        reader = lance_file.LanceFileReader(str(path))
        table = reader.read_all().to_table()
    except (Exception, BaseException) as error:  # noqa: B014 (the reference library panics on some)
        pytest.skip(f"the reference library cannot read it alone: {str(error)[:80]}")
    check_file(path, table.schema, version, tmp_path, table.column)


def matrix():
    full = os.environ.get("PENNON_FULL_MATRIX") == "1"
    return [
        (name, version)
        for name in file_cases.NAMES
        for version in ("2.0", "2.1", "2.2")
        if full or file_cases.is_quick(name, version)
    ]


@pytest.mark.parametrize("name, version", matrix())
def test_matrix(name, version, tmp_path):
    field, array = file_cases.make(name)
    path = tmp_path / "m.lance"
    table = pa.Table.from_arrays([array], schema=pa.schema([field]))
    try:
        with lance_file.LanceFileWriter(str(path), table.schema, version=version) as writer:
            for batch in table.to_batches(max_chunksize=file_cases.BATCH):
                writer.write_batch(batch)
        expected = lance_file.LanceFileReader(str(path)).read_all().to_table().column(0)
    except (Exception, BaseException) as error:  # noqa: B014
        # There is no file to read: the version cannot hold the type (maps and NULL structs in 2.0, for instance).
        pytest.skip(f"the reference library refuses it: {str(error)[:80]}")
    check_file(path, table.schema, version, tmp_path, lambda _: expected)


def nested_table(rng, rows, holes):
    """Random rows of many shapes; `holes` is the share of nulls and of empty lists."""

    def maybe(make):
        return None if rng.random() < holes else make()

    def some(make):
        return [] if rng.random() < holes else [make() for _ in range(rng.randrange(1, 5))]

    def number():
        return maybe(lambda: rng.randrange(1000))

    def text():
        return maybe(lambda: "word " * rng.randrange(1, 4))

    def pair():
        return {"x": number(), "y": text()}

    def deep():
        return {"a": maybe(lambda: some(lambda: maybe(lambda: some(number)))), "b": maybe(pair), "c": number()}

    pair_type = pa.struct([("x", pa.int32()), ("y", pa.string())])
    numbers = pa.list_(pa.int64())
    deep_type = pa.struct([("a", pa.large_list(numbers)), ("b", pair_type), ("c", pa.int16())])
    columns = {
        "number": (number, pa.int32()),
        "pair": (pair, pair_type),
        "numbers": (lambda: some(number), numbers),
        "texts": (lambda: some(text), pa.list_(pa.string())),
        "pairs": (lambda: some(lambda: maybe(pair)), pa.list_(pair_type)),
        "deep": (deep, deep_type),
        "deeps": (lambda: some(lambda: maybe(deep)), pa.list_(deep_type)),
        "vectors": (lambda: some(lambda: maybe(lambda: [1.5, number(), 2.5])), pa.list_(pa.list_(pa.float32(), 3))),
        "map": (lambda: [(k, number()) for k in some(lambda: rng.randrange(99))], pa.map_(pa.int32(), pa.int32())),
    }
    return pa.table({k: pa.array([maybe(make) for _ in range(rows)], t) for k, (make, t) in columns.items()})


@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("seed", range(3))
def test_pages_of_nested_columns(version, seed, tmp_path):
    """Pages of many sizes, of which some have nulls or empty lists and some have none."""
    rng = random.Random(seed)
    batches = [nested_table(rng, rng.choice([1, 70, 800]), rng.choice([0, 0.1, 0.6])) for _ in range(6)]
    table = pa.concat_tables(batches)
    if version == "2.1":
        table = table.drop_columns(["map"])
    path = tmp_path / "p.lance"
    with lance_file.LanceFileWriter(
        str(path), table.schema, version=version, data_cache_bytes=1, max_page_bytes=4096
    ) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    assert len(lance_file.LanceFileReader(str(path)).metadata().columns[0].pages) > 1
    check_file(path, table.schema, version, tmp_path, table.column)


def test_columns_that_the_file_lacks(tmp_path):
    """A missing child is null, its siblings and the structs and lists around it are as they are."""
    table = nested_table(random.Random(7), 500, 0.2).select(["deeps"])
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
    results, _ = run_tool(path, table.schema, [(0, columns, "all", []) for columns in cases], tmp_path)
    for gone, (verdict, array) in zip(cases.values(), results):
        assert verdict == "ok", verdict
        assert array.to_pylist() == [without(row, gone) for row in table.column(0).to_pylist()], gone
    [(verdict, array)], _ = run_tool(path, table.schema, [(0, "-1,-1,-1,-1", 5, [(0, 5, 0)])], tmp_path)
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
    [(verdict, array)], requests = run_tool(path, table.schema, [(0, 0, 1, [(rows // 2, 1, 0)])], tmp_path)
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
    [(verdict, array)], requests = run_tool(path, table.schema, [(0, 0, "all", [])], tmp_path)
    assert verdict == "ok" and array.equals(column)
    assert requests <= 1 + pages
    [(verdict, array)], requests = run_tool(path, table.schema, [(0, 0, 1, [(rows // 2, 1, 0)])], tmp_path)
    assert verdict == "ok" and array[0] == column[rows // 2]
    assert requests <= 3
