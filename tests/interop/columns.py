"""Arrays of every type that a data file holds, made by chance: values by shape, nulls by layer.

Null slots hold garbage, null lists are over items, and the first item of all is in no list: a writer must look at
the validity and the offsets, and never at what lies between.
"""

import dataclasses

import numpy as np
import pyarrow as pa

DAY_MS = 86_400_000
WORDS = ("river harbour lantern meadow engine violin glacier orchard canyon market feather bridge anchor thunder "
         "saddle mirror pepper tunnel beacon cobalt the of and in to a").split()


STRING_SIZES = {"short": (0, 12), "constant": (4, 5), "long": (200, 400), "mixed": (0, 300), "empty": (0, 1)}
STRING_SHAPES = [*STRING_SIZES, "few", "long few", "thousands", "sentences", "paragraphs", "huge"]


@dataclasses.dataclass(frozen=True)
class Nulls:
    """The share of nulls at top level, in the layers between, and among the leaves below others."""

    rows: float = 0
    inner: float = 0
    leaves: float = 0
    one_row: bool = False  # all rows but one are null
    structs: bool = True  # whether structs can be null: 2.0 cannot say so

    def mask(self, t, depth, n, rng):
        """Set where null."""
        if pa.types.is_struct(t) and not self.structs:
            return np.zeros(n, bool)
        if depth == 0 and self.one_row:
            mask = np.ones(n, bool)
            mask[n // 3 : n // 3 + 1] = False
            return mask
        share = self.rows if depth == 0 else self.inner if has_layers(t) else self.leaves
        return np.full(n, share == 1) if share in (0, 1) else rng.random(n) < share


NULLS = {
    "none": Nulls(),
    "some": Nulls(0.3, 0.3, 0.3),
    "rows": Nulls(0.3, 0, 0),
    "items": Nulls(0, 0.3, 0.3),
    "leaves": Nulls(0, 0, 0.3),
    "one valid": Nulls(0, 0, 0, one_row=True),
    "all": Nulls(1, 1, 1),
}

# How long lists are: a function of (number of lists, random generator).
LIST_SHAPES = {
    "mixed": lambda n, rng: rng.integers(0, 5, n),
    "full": lambda n, rng: rng.integers(1, 5, n),
    "empty": lambda n, rng: np.zeros(n, int),
    "sparse": lambda n, rng: np.where(np.arange(n) % 500 == 77, 2, 0),
    "long": lambda n, rng: rng.integers(0, 3000, n) if n < 20 else rng.integers(0, 3, n),
    "even": lambda n, rng: np.full(n, 3),
}


def is_string(t):
    """Whether values are bytes of any length, with offsets."""
    return pa.types.is_string(t) or pa.types.is_binary(t) or pa.types.is_large_string(t) or pa.types.is_large_binary(t)


def is_view(t):
    return pa.types.is_string_view(t) or pa.types.is_binary_view(t)


def is_list(t):
    return pa.types.is_list(t) or pa.types.is_large_list(t)


def is_struct_list(t):
    return pa.types.is_fixed_size_list(t) and has_layers(t.value_type)


def has_layers(t):
    """Whether the file knows layers of `t` besides its values."""
    return pa.types.is_struct(t) or pa.types.is_map(t) or is_list(t) or is_struct_list(t)


def bitmap(mask):
    """Validity over `mask` (set = null), or None if nothing is null."""
    return pa.py_buffer(np.packbits(~mask, bitorder="little").tobytes()) if mask.any() else None


def from_bytes(t, n, raw, mask):
    """An array of fixed width `t` over `raw`, null where `mask` is set; null slots keep their bytes."""
    return pa.Array.from_buffers(t, n, [bitmap(mask), pa.py_buffer(np.ascontiguousarray(raw).tobytes())])


def floats(shape, n, rng, width):
    values = {
        "random": lambda: rng.standard_normal(n),
        "unit": lambda: rng.random(n),
        "smooth": lambda: np.sin(np.arange(n) / 100),
        "special": lambda: np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5])[rng.integers(0, 6, n)],
        "constant": lambda: np.full(n, 1.5),
        "few": lambda: rng.standard_normal(40)[rng.integers(0, 40, n)],
        "runs": lambda: np.repeat(rng.standard_normal(n // 50 + 1), 50)[:n],
    }[shape]()
    return values.astype(f"<f{width}")


def numbers(t, shape, n, rng):
    """Values of a type of 8 to 64 bits: in its range, whatever the type."""
    width = t.bit_width // 8
    if pa.types.is_floating(t):
        return floats(shape, n, rng, width)
    unsigned = np.dtype(f"<u{width}")
    if pa.types.is_time(t):
        limit, scale = 86400, 1
    elif pa.types.is_date64(t):
        limit, scale = 20000, DAY_MS
    else:
        limit, scale = 1 << (8 * width - 1), 1
    if shape == "constant":
        values = np.full(n, 5)
    elif shape == "small":
        values = rng.integers(0, 11, n)
    elif shape == "runs":
        values = np.repeat(rng.integers(0, 100, n // 50 + 1), 50)[:n]
    elif shape == "few":
        values = rng.integers(0, limit, 40, dtype=np.uint64)[rng.integers(0, 40, n)]
    elif shape == "sorted":
        values = np.sort(rng.integers(0, limit, n, dtype=np.uint64))
    elif shape == "negative":
        values = -rng.integers(1, 11, n)
    else:
        values = rng.integers(0, limit, n, dtype=np.uint64)
        if limit > 1 << 20 or width < 4:  # every bit of the type
            values = values.astype(unsigned) * unsigned.type(2) + rng.integers(0, 2, n).astype(unsigned)
    return values.astype(unsigned) * unsigned.type(scale)


def wide_values(t, shape, n, rng):
    """Bytes of decimals and of fixed-size binaries."""
    width = t.byte_width
    if shape == "constant":
        return np.full((n, width), 7, np.uint8) if not pa.types.is_decimal(t) else decimals(np.full(n, 7), width)
    pool = 30 if shape == "few" else n
    if pa.types.is_decimal(t):
        values = decimals(rng.integers(-(10**8), 10**8, pool), width)
    else:
        values = rng.integers(0, 256, (pool, width), dtype=np.uint8)
    return values[rng.integers(0, pool, n)] if shape == "few" else values


def decimals(values, width):
    raw = np.repeat((values < 0).astype(np.uint8)[:, None] * np.uint8(255), width, axis=1)
    raw[:, :8] = values.astype("<i8").view(np.uint8).reshape(-1, 8)
    return raw


def letters(rng, count):
    return rng.integers(97, 123, count, dtype=np.uint8).tobytes()


def pieces(shape, n, rng):
    """Values of a string type that are chosen from others."""
    if shape == "few":
        pool = [letters(rng, int(k)) for k in rng.integers(3, 9, 30)]
    elif shape == "long few":
        pool = [letters(rng, 500) for _ in range(5)]
    elif shape == "thousands":
        pool = [b"item number %d" % i for i in range(3000)]
    else:
        count = {"sentences": 12, "paragraphs": 90, "huge": 9000}[shape]
        vocabulary = [word.encode() for word in WORDS]
        return [b" ".join([vocabulary[k] for k in row]) for row in rng.integers(0, len(WORDS), (n, count))]
    return [pool[k] for k in rng.integers(0, len(pool), n)]


def strings(t, shape, n, rng, mask):
    if shape in STRING_SIZES:
        sizes = rng.integers(*STRING_SIZES[shape], n)
        text = b"same" * n if shape == "constant" else letters(rng, int(sizes.sum()))
    else:
        values = pieces(shape, n, rng)
        sizes, text = np.array([len(value) for value in values], int), b"".join(values)
    width = 8 if pa.types.is_large_string(t) or pa.types.is_large_binary(t) else 4
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(f"<i{width}")
    return pa.Array.from_buffers(t, n, [bitmap(mask), pa.py_buffer(offsets.tobytes()), pa.py_buffer(text)])


def dictionary(t, shape, n, rng, mask):
    """Indexes into items; some items are equal, null or named by no index, as the shape says."""
    count = {"constant": 1, "unused": 120, "two": 2}.get(shape, 25)
    if pa.types.is_boolean(t.value_type):
        count = min(count, 2)
    if count == 0 or len(mask) == 0:
        count = 1
    items = leaf(t.value_type, default_shape(t.value_type), count, rng, np.zeros(count, bool))
    if shape == "equal items" and count > 4:
        items = items.take(pa.array([0, 0, 1, 2, 1] + list(range(count - 5))))
    if shape == "null items" and count > 4:
        items = pa.concat_arrays([items.slice(0, 2), pa.nulls(1, items.type), items.slice(2)])
    used = 3 if shape == "unused" else len(items)
    keys = rng.integers(0, used, n).astype(t.index_type.to_pandas_dtype())
    keys = pa.Array.from_buffers(t.index_type, n, [bitmap(mask), pa.py_buffer(keys.tobytes())])
    return pa.DictionaryArray.from_arrays(keys, items)


def default_shape(t):
    if is_string(t) or is_view(t):
        return "short"
    return "plain" if pa.types.is_fixed_size_list(t) or pa.types.is_dictionary(t) else "random"


def leaf(t, shape, n, rng, mask):
    """An array of a type that is in one column: `shape` says which values, `mask` which are null."""
    if pa.types.is_null(t):
        return pa.nulls(n)
    if is_view(t):
        text = pa.string() if pa.types.is_string_view(t) else pa.binary()
        return leaf(text, shape, n, rng, mask).cast(t)
    if pa.types.is_dictionary(t):
        return dictionary(t, shape, n, rng, mask)
    if pa.types.is_fixed_size_list(t):
        return vectors(t, shape, n, rng, mask)
    if is_string(t):
        return strings(t, shape, n, rng, mask)
    if pa.types.is_boolean(t):
        bits = {"constant": lambda: np.ones(n, bool), "runs": lambda: np.arange(n) // 50 % 2 == 0}.get(
            shape, lambda: rng.integers(0, 2, n).astype(bool))()
        return from_bytes(t, n, np.packbits(bits, bitorder="little"), mask)
    if pa.types.is_decimal(t) or pa.types.is_fixed_size_binary(t):
        return from_bytes(t, n, wide_values(t, shape, n, rng), mask)
    return from_bytes(t, n, numbers(t, shape, n, rng), mask)


def vectors(t, shape, n, rng, mask):
    """Fixed-size lists of leaves."""
    size, item = t.list_size, t.value_type
    inner = shape if pa.types.is_fixed_size_list(item) else default_shape(item)
    count = n * size
    if shape == "constant":
        one = vectors(t, "plain", 1, rng, np.zeros(1, bool)).values
        items = pa.concat_arrays([one] * n) if n else one.slice(0, 0)
    else:
        share = {"null items": 0.2, "items all null": 1}.get(shape, 0)
        items = leaf(item, inner, count, rng, rng.random(count) < share)
    return pa.Array.from_buffers(t, n, [bitmap(mask)], children=[items])


def make(t, shape, nulls, n, rng, lists="mixed", depth=0):
    """An array of `t`: leaves of `shape` (None: by type), lists as long as `lists` says, null as `nulls` says."""
    mask = nulls.mask(t, depth, n, rng)
    if not has_layers(t):
        return leaf(t, shape or default_shape(t), n, rng, mask)

    def child(field, count):
        below = nulls if field.nullable else Nulls(structs=nulls.structs)
        return make(field.type, shape, below, count, rng, lists, depth + 1)

    if pa.types.is_struct(t):
        return pa.Array.from_buffers(t, n, [bitmap(mask)], children=[child(field, n) for field in t])
    if is_struct_list(t):
        return pa.Array.from_buffers(t, n, [bitmap(mask)], children=[child(t.value_field, n * t.list_size)])
    sizes = LIST_SHAPES[lists](n, rng)
    offsets = np.concatenate([[1], 1 + np.cumsum(sizes)])
    count = int(offsets[-1]) + 1
    if pa.types.is_map(t):
        entries = pa.struct([t.key_field, t.item_field])
        items = pa.Array.from_buffers(entries, count, [None], children=[child(t.key_field, count), child(t.item_field, count)])
    else:
        items = child(t.value_field, count)
    raw = offsets.astype("<i8" if pa.types.is_large_list(t) else "<i4").tobytes()
    return pa.Array.from_buffers(t, n, [bitmap(mask), pa.py_buffer(raw)], children=[items])
