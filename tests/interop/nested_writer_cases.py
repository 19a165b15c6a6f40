"""Nested columns for the tests of the writer: lists, structs, maps, dictionaries, packed structs, blobs.

A case is a function of (rows, null share, random generator) that gives an array of its type, null slots and
what lies under null lists holding garbage. `FIELD_METADATA` has the metadata that mark a case's field.
"""
import numpy as np
import pyarrow as pa

STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string())])
PACKED = {"packed": "true"}


def bitmap(mask):
    """Validity over `mask` (set = null), or None if nothing is null."""
    return pa.py_buffer(np.packbits(~mask, bitorder="little").tobytes()) if mask.any() else None


def mask_of(n, share, rng):
    return rng.random(n) < share


def leaf(t, n, share, rng):
    mask = mask_of(n, share, rng)
    if pa.types.is_null(t):
        return pa.nulls(n)
    if pa.types.is_dictionary(t):
        items = leaf(t.value_type, 7, 0, rng)
        keys = rng.integers(0, 7, n).astype(t.index_type.to_pandas_dtype())
        keys = pa.Array.from_buffers(t.index_type, n, [bitmap(mask), pa.py_buffer(keys.tobytes())])
        return pa.DictionaryArray.from_arrays(keys, items)
    if pa.types.is_boolean(t):
        return pa.Array.from_buffers(t, n, [bitmap(mask), pa.py_buffer(rng.bytes(n // 8 + 1))])
    if pa.types.is_string(t) or pa.types.is_binary(t) or pa.types.is_large_string(t) or pa.types.is_large_binary(t):
        sizes = rng.integers(0, 14, n)
        width = 8 if pa.types.is_large_string(t) or pa.types.is_large_binary(t) else 4
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(f"<i{width}")
        text = rng.integers(97, 123, int(sizes.sum()), dtype=np.uint8).tobytes()
        return pa.Array.from_buffers(t, n, [bitmap(mask), pa.py_buffer(offsets.tobytes()), pa.py_buffer(text)])
    if pa.types.is_fixed_size_list(t):
        items = leaf(t.value_type, n * t.list_size, share / 2, rng)
        return pa.Array.from_buffers(t, n, [bitmap(mask)], children=[items])
    width = t.bit_width // 8 if not pa.types.is_fixed_size_binary(t) else t.byte_width
    if pa.types.is_floating(t):
        raw = rng.standard_normal(n).astype(f"<f{width}")
    elif pa.types.is_date64(t):
        raw = (rng.integers(-1000, 20000, n) * 86_400_000).astype("<i8")
    else:
        raw = np.zeros((n, width), np.uint8)
        raw[:, :min(width, 6)] = rng.integers(0, 200, (n, min(width, 6)))
    return pa.Array.from_buffers(t, n, [bitmap(mask), pa.py_buffer(np.ascontiguousarray(raw).tobytes())])


def sizes_of(n, mean, rng):
    return rng.integers(0, 2 * mean + 1, n)


def make(t, n, share, rng, mean=2):
    """An array of `t`, each of its layers null with probability `share`."""
    if pa.types.is_struct(t):
        children = [make(t.field(i).type, n, share if t.field(i).nullable else 0, rng, mean)
                    for i in range(t.num_fields)]
        return pa.Array.from_buffers(t, n, [bitmap(mask_of(n, share, rng))], children=children)
    if pa.types.is_fixed_size_list(t) and pa.types.is_struct(t.value_type):
        items = make(t.value_type, n * t.list_size, share, rng, mean)
        return pa.Array.from_buffers(t, n, [bitmap(mask_of(n, share, rng))], children=[items])
    is_map = pa.types.is_map(t)
    if is_map or pa.types.is_list(t) or pa.types.is_large_list(t):
        # Null lists are over items, too, and the first item of all is nobody's.
        sizes = sizes_of(n, mean, rng)
        if share == 0:
            sizes += 1
        offsets = np.concatenate([[1], 1 + np.cumsum(sizes)])
        count = int(offsets[-1]) + 1
        if is_map:
            entries = pa.struct([t.key_field, t.item_field])
            keys = make(t.key_type, count, 0, rng, mean)
            items = make(t.item_type, count, share, rng, mean)
            child = pa.Array.from_buffers(entries, count, [None], children=[keys, items])
        else:
            child = make(t.value_type, count, share if t.value_field.nullable else 0, rng, mean)
        raw = offsets.astype("<i8" if pa.types.is_large_list(t) else "<i4").tobytes()
        return pa.Array.from_buffers(t, n, [bitmap(mask_of(n, share, rng)), pa.py_buffer(raw)], children=[child])
    return leaf(t, n, share, rng)


LEAVES = [pa.bool_(), pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.large_binary(),
          pa.timestamp("us", "UTC"), pa.decimal128(20, 2), pa.binary(5), pa.list_(pa.float32(), 3),
          pa.list_(pa.float32(), 80), pa.list_(pa.bool_(), 9), pa.null()]

TYPES = [pa.list_(t) for t in LEAVES] + [
    pa.large_list(pa.int32()),
    pa.list_(pa.field("item", pa.int16(), False)),
    pa.list_(pa.list_(pa.int32())),
    pa.list_(pa.large_list(pa.list_(pa.string()))),
    STRUCT,
    pa.struct([("a", pa.struct([("b", pa.struct([("c", pa.int32()), ("d", pa.bool_())]))])), ("e", pa.list_(pa.float32(), 4))]),
    pa.struct([("n", pa.null()), ("w", pa.list_(pa.float32(), 100))]),
    pa.list_(STRUCT),
    pa.struct([("l", pa.list_(pa.int32())), ("k", pa.int64())]),
    pa.struct([("k", pa.int64()), ("l", pa.list_(pa.string()))]),
    pa.list_(pa.struct([("l", pa.list_(pa.int16())), ("s", STRUCT)])),
    pa.struct([("s", pa.struct([("l", pa.list_(pa.list_(pa.int8())))]))]),
    pa.struct([pa.field("required", pa.int32(), False), pa.field("text", pa.string(), False)]),
]
DICTIONARIES = [pa.dictionary(k, v) for k, v in (
    (pa.int8(), pa.string()), (pa.uint16(), pa.large_string()), (pa.int32(), pa.string()), (pa.int64(), pa.int64()),
    (pa.int8(), pa.float32()))]
TYPES += DICTIONARIES + [pa.list_(DICTIONARIES[0]), pa.struct([("d", DICTIONARIES[2])])]
MAPS = [pa.map_(pa.string(), pa.int32()), pa.map_(pa.int32(), pa.list_(pa.string())), pa.map_(pa.string(), STRUCT),
        pa.list_(pa.map_(pa.string(), pa.int32())), pa.struct([("m", pa.map_(pa.int16(), pa.bool_()))])]
STRUCT_LISTS = [pa.list_(pa.struct([("x", pa.int32())]), 3), pa.list_(pa.struct([("x", pa.string()), ("y", pa.bool_())]), 2),
                pa.struct([("f", pa.list_(pa.struct([("x", pa.int64())]), 4))])]


def without_struct_nulls(t):
    """Whether 2.0 can hold `t` only without nulls: it has a struct."""
    if pa.types.is_struct(t):
        return True
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return without_struct_nulls(t.value_type)
    return False


def random_type(rng, depth, minor):
    """A type of up to `depth` layers above its leaves that version 2.`minor` can hold."""
    kind = rng.integers(0, 8 if minor >= 2 else 7)
    if depth == 0 or kind < 2:
        leaves = LEAVES + [DICTIONARIES[0]]
        return leaves[rng.integers(0, len(leaves))]
    if kind < 5:
        inner = random_type(rng, depth - 1, minor)
        return pa.large_list(inner) if rng.random() < 0.2 else pa.list_(inner)
    if kind < 7:
        children = [random_type(rng, depth - 1, minor) for _ in range(rng.integers(1, 4))]
        return pa.struct([(f"f{i}", child) for i, child in enumerate(children)])
    return pa.map_(pa.string(), random_type(rng, depth - 1, minor))
