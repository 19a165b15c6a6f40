"""One column for each encoding that a default 2.2 file, or a hint, gives: name, type, metadata, values."""

import numpy as np
import pyarrow as pa

HINT = "lance-encoding:"
ROWS = 2_000_000


def _words(rng, count, low, high):
    letters = rng.integers(97, 123, (count, high), dtype=np.uint8)
    sizes = rng.integers(low, high + 1, count)
    return [bytes(row[:size]).decode() for row, size in zip(letters, sizes)]


def _text(rng, rows, words):
    vocabulary = np.array(_words(rng, 500, 3, 9), object)
    picks = vocabulary[rng.integers(0, 500, (rows, words))]
    return pa.array([" ".join(row) for row in picks])


def _lists(rng, rows, items):
    sizes = rng.integers(0, 9, rows)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), items(int(offsets[-1])))


def _nulls(rng, array, share=0.1):
    return pa.compute.if_else(pa.array(rng.random(len(array)) >= share), array, pa.nulls(len(array), array.type))


def cases(rows=ROWS):
    """Yields (name, array, hints)."""
    rng = np.random.default_rng(1)
    small = pa.array(rng.integers(0, 1000, rows), pa.int32())
    smooth = pa.array(np.sin(np.arange(rows) / 900).astype(np.float32))
    yield "int32, bit-packed", small, {}
    yield "int32 with nulls, bit-packed", _nulls(rng, small), {}
    yield "int64, flat", pa.array(rng.integers(-(2**62), 2**62, rows), pa.int64()), {}
    yield "int64, dictionary", pa.array(rng.integers(0, 200, rows) << 40, pa.int64()), {}
    yield "int32 runs, RLE", pa.array(np.repeat(rng.integers(0, 100, rows // 50), 50), pa.int32()), {}
    yield "float32, zstd of byte stream split", smooth, {"compression": "zstd"}
    yield "float32, lz4", smooth, {"compression": "lz4"}
    yield "float64, flat", pa.array(rng.standard_normal(rows)), {"compression": "none"}
    yield "bool, flat", pa.array(rng.integers(0, 2, rows).astype(bool)), {}
    yield "int32, constant", pa.array(np.full(rows, 7, np.int32)), {}
    few = np.array(_words(rng, 30, 3, 9), object)
    yield "utf8 of few values, dictionary", pa.array(few[rng.integers(0, 30, rows)], pa.string()), {}
    text = _text(rng, rows // 10, 12)
    yield "utf8 of 80 bytes, FSST", text, {}
    yield "utf8 of 80 bytes with nulls, FSST", _nulls(rng, text), {}
    yield "utf8 of 80 bytes, plain", text, {"compression": "none"}
    yield "utf8 of 80 bytes, zstd", text, {"compression": "zstd"}
    yield "utf8 of 80 bytes, lz4", text, {"compression": "lz4"}
    yield "utf8 of 600 bytes, full-zip FSST", _text(rng, rows // 80, 90), {}
    wide = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(300), rows // 40, [None, pa.py_buffer(rng.bytes(rows // 40 * 300))])
    yield "binary of 300 bytes, full-zip", wide, {}
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.standard_normal(rows // 80 * 768), pa.float32()), 768)
    yield "vector of 768 float32, full-zip", vectors, {}
    yield "vector with nulls, full-zip", _nulls(rng, vectors), {}
    short = pa.FixedSizeListArray.from_arrays(pa.array(rng.standard_normal(rows), pa.float32()), 4)
    yield "vector of 4 float32, mini-block", short, {}
    yield "list<int32>", _lists(rng, rows // 4, lambda n: pa.array(rng.integers(0, 1000, n), pa.int32())), {}
    pool = pa.array(_words(rng, 5000, 3, 12))
    yield "list<utf8>", _lists(rng, rows // 16, lambda n: pool.take(pa.array(rng.integers(0, 5000, n)))), {}
    pair = pa.StructArray.from_arrays([small, smooth], ["a", "b"])
    yield "struct<int32, float32>", pair, {}
    keys = pa.array(rng.integers(0, 30, rows), pa.int32())
    yield "dictionary<int32, utf8>", pa.DictionaryArray.from_arrays(keys, pa.array(few.tolist())), {}


def table(array, hints):
    metadata = {HINT + key: value for key, value in hints.items()} or None
    fields = [pa.field("c", array.type, True, metadata)]
    return pa.Table.from_arrays([array], schema=pa.schema(fields))
