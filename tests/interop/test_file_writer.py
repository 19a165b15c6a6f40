"""Data files that pennon writes, read back by the reference library: value for value.

Every type, with no, some and only nulls, in many lengths and shapes, for versions 2.0, 2.1 and 2.2. One file
holds the columns of all lengths, and the writer gets slices of arrays in several chunks.
"""
import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

lance_file = pytest.importorskip("lance.file")

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("PENNON_WRITE_FILE", ROOT / "build/release/bin/write_file"))
# Not 0 first: the reference library takes a file whose first column is empty for one of 2.0, and panics.
LENGTHS = [1, 0, 2, 7, 1000, 1024, 1025, 5000, 70000]
WIDE_LENGTHS = [0, 1, 2, 7, 1000, 1025]
NULLS = ["none", "some", "all"]
SKIP = 3


INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
TIMES = [pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
         pa.timestamp("s"), pa.timestamp("us", "Europe/Berlin"), pa.duration("ms")]
STRINGS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
DAY_MS = 86_400_000


def from_bytes(t, n, raw, mask):
    """An array of fixed width `t` over `raw`, null where `mask` is set; null slots keep their bytes."""
    validity = pa.py_buffer(np.packbits(~mask, bitorder="little").tobytes()) if mask.any() else None
    return pa.Array.from_buffers(t, n, [validity, pa.py_buffer(raw)])


def numbers(t, shape, n, rng):
    width = t.bit_width // 8
    unsigned = np.dtype(f"<u{width}")
    if pa.types.is_date64(t):
        return (rng.integers(-1000, 20000, n) * DAY_MS).astype("<i8")
    if pa.types.is_time(t):
        return rng.integers(0, 86400, n).astype(unsigned)
    if shape == "small":
        return rng.integers(0, 7, n).astype(unsigned)
    if shape == "constant":
        return np.full(n, 5, unsigned)
    if shape == "runs":
        return np.repeat(rng.integers(0, 1 << 7, n // 50 + 1), 50)[:n].astype(unsigned)
    if pa.types.is_floating(t):
        return rng.standard_normal(n).astype(np.dtype(f"<f{width}"))
    return rng.integers(0, 1 << (8 * width - 1), n, dtype=np.uint64).astype(unsigned) * unsigned.type(2) + unsigned.type(1)


def strings(t, shape, n, rng, mask):
    low, high = {"short": (0, 12), "constant": (4, 5), "long": (200, 400), "mixed": (0, 300), "empty": (0, 1)}[shape]
    sizes = rng.integers(low, high, n)
    text = bytes(rng.integers(97, 123, int(sizes.sum()), dtype=np.uint8)) if shape != "constant" else b"same" * n
    width = 8 if t in (pa.large_string(), pa.large_binary()) else 4
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(f"<i{width}")
    validity = pa.py_buffer(np.packbits(~mask, bitorder="little").tobytes()) if mask.any() else None
    return pa.Array.from_buffers(t, n, [validity, pa.py_buffer(offsets.tobytes()), pa.py_buffer(text)])


def fixed(t, shape, n, rng, mask):
    if pa.types.is_boolean(t):
        bits = rng.integers(0, 2, n).astype(bool) if shape == "random" else np.ones(n, bool)
        return from_bytes(t, n, np.packbits(bits, bitorder="little").tobytes(), mask)
    if pa.types.is_decimal(t) or pa.types.is_fixed_size_binary(t):
        width = t.bit_width // 8 if pa.types.is_decimal(t) else t.byte_width
        raw = np.zeros((n, width), np.uint8)
        raw[:, :min(8, width)] = 7 if shape == "constant" else rng.integers(0, 256, (n, min(8, width)))
        return from_bytes(t, n, raw.tobytes(), mask)
    return from_bytes(t, n, numbers(t, shape, n, rng).tobytes(), mask)


def mask_of(nulls, n, rng):
    return {"none": np.zeros(n, bool), "all": np.ones(n, bool), "some": rng.random(n) < 0.3}[nulls]


def make(t, shape, nulls, n, rng):
    mask = mask_of(nulls, n, rng)
    if pa.types.is_null(t):
        return pa.nulls(n)
    if pa.types.is_fixed_size_list(t):
        count = n * t.list_size
        items = make(t.value_type, "random", "some" if shape == "null items" else "none", count, rng)
        validity = pa.py_buffer(np.packbits(~mask, bitorder="little").tobytes()) if mask.any() else None
        return pa.Array.from_buffers(t, n, [validity], children=[items])
    if t in STRINGS:
        return strings(t, shape, n, rng, mask)
    return fixed(t, shape, n, rng, mask)


def cases():
    """(type, shape) pairs, and whether the values are wide."""
    for t in INTS:
        for shape in ("random", "small", "constant", "runs"):
            yield t, shape, False
    for t in FLOATS + TIMES:
        yield t, "random", False
    yield pa.float32(), "constant", False
    for t in (pa.bool_(), pa.decimal128(38, 3), pa.decimal256(76, 9), pa.binary(3), pa.binary(40)):
        yield t, "random", False
        yield t, "constant", False
    yield pa.binary(300), "random", True
    yield pa.binary(300), "constant", True
    yield pa.null(), "random", False
    for t in STRINGS:
        yield t, "short", False
        yield t, "constant", False
        yield t, "empty", False
        yield t, "long", True
        yield t, "mixed", True
    for item, size in ((pa.float32(), 4), (pa.int8(), 3), (pa.bool_(), 12), (pa.list_(pa.int16(), 3), 2),
                       (pa.decimal128(10, 2), 2), (pa.float64(), 1)):
        yield pa.list_(item, size), "plain", False
        yield pa.list_(item, size), "null items", False
    for item, size in ((pa.float32(), 768), (pa.float16(), 200), (pa.uint8(), 1001), (pa.bool_(), 3000),
                       (pa.list_(pa.int16(), 30), 7)):
        yield pa.list_(item, size), "plain", True
        yield pa.list_(item, size), "null items", True


def source_table(length, nulls):
    rng = np.random.default_rng([length, NULLS.index(nulls), 7])
    rows = length + 2 * SKIP
    arrays, fields = [], []
    for t, shape, wide in cases():
        if wide and length not in WIDE_LENGTHS:
            continue
        arrays.append(make(t, shape, nulls, rows, rng))
        name = f"{t}|{shape}|{nulls}|{length}"
        fields.append(pa.field(name, t))
    return pa.table(arrays, pa.schema(fields))


def write_ipc(table, path):
    step = max(1, table.num_rows // 3)
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=step):
            writer.write_batch(batch)


def write(version, tables, folder, skip=SKIP):
    paths = []
    for i, table in enumerate(tables):
        paths.append(folder / f"in{i}.arrow")
        write_ipc(table, paths[-1])
    out = folder / "out.lance"
    subprocess.run([TOOL, version, str(skip), out, *paths], check=True, capture_output=True, text=True)
    return out


def differing(path, names, want):
    """Names of the columns that a scan, or a take of some rows, reads as something else than `want`."""
    reader = lance_file.LanceFileReader(str(path), columns=names)
    rows = list(range(0, want.num_rows, max(1, want.num_rows // 9)))
    scanned = reader.read_all(batch_size=1 << 17).to_table()
    taken = reader.take_rows(rows).to_table() if rows else scanned
    bad = []
    # Not Table.take: pyarrow 26 takes wrong items from lists of lists of fixed size.
    some = pa.concat_tables([want.slice(row, 1) for row in rows]) if rows else want
    for got, expected in ((scanned, want), (taken, some)):
        for name in names:
            a, b = got[name].combine_chunks(), expected[name].combine_chunks()
            if a.type != b.type or not a.equals(b):
                bad.append(name)
    return bad


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("nulls", NULLS)
def test_reference_library_reads_every_type(version, nulls, tmp_path):
    tables = [source_table(length, nulls) for length in LENGTHS]
    path = write(version, tables, tmp_path)
    bad = []
    for length, table in zip(LENGTHS, tables):
        if length > 0 or version == "2.0":
            bad += differing(path, table.column_names, table.slice(SKIP, length))
    assert bad == []


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_small_ints_are_bit_packed(version, tmp_path):
    rng = np.random.default_rng(5)
    values = pa.array(rng.integers(0, 8, 50_000), pa.int64())
    table = pa.table([values], pa.schema([pa.field("c", pa.int64())]))
    path = write(version, [table], tmp_path, skip=0)
    assert path.stat().st_size < 50_000 * 3 // 8 + 2500
    assert differing(path, ["c"], table) == []


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_long_columns_are_cut_into_pages(version, tmp_path):
    rng = np.random.default_rng(6)
    rows = 6000
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.standard_normal(rows * 768), pa.float32()), 768)
    numbers_ = pa.array(rng.integers(0, 1 << 62, rows))
    fields = [pa.field("v", vectors.type),
              pa.field("n", pa.int64())]
    table = pa.table([vectors, numbers_], pa.schema(fields))
    path = write(version, [table], tmp_path, skip=0)
    columns = lance_file.LanceFileReader(str(path)).metadata().columns
    assert len(columns[0].pages) > 1 and len(columns[1].pages) == 1
    assert differing(path, ["v", "n"], table) == []
