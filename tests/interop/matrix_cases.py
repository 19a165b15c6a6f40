"""The matrix: every type of a data file × nulls × shape of the data × hints, as one list.

`MATRIX` has the cases by family; test_matrix.py does each for every version in both directions. `refusals` says what the
reference library does not write or read, and whether pennon does.
"""

import dataclasses
import functools
import zlib

import numpy as np
import pyarrow as pa

from . import columns
from .columns import NULLS, is_list, is_string, is_struct_list, is_view, make
from .data_files import VERSIONS, is_packed

ROWS, WIDE_ROWS = 5000, 600
SHORT = [0, 1, 6, 1024, 1025]
LEAF_NULLS = ["none", "some", "one valid", "all"]
HINT = "lance-encoding:"
PACKED = {"packed": "true"}
BLOB = {HINT + "blob": "true"}

INTS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
TIMES = [pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
         *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC")),
         pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns", "+05:30"),
         *(pa.duration(unit) for unit in ("s", "ms", "us", "ns"))]
DECIMALS = [pa.decimal128(38, 3), pa.decimal128(20, -2), pa.decimal256(76, 9)]
FIXED_BINARIES = [pa.binary(1), pa.binary(3), pa.binary(16), pa.binary(40), pa.binary(300)]
STRINGS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
VIEWS = [pa.string_view(), pa.binary_view()]
VECTORS = [pa.list_(item, size) for item, size in (
    (pa.float32(), 4), (pa.int8(), 3), (pa.bool_(), 12), (pa.bool_(), 5), (pa.list_(pa.int16(), 3), 2),
    (pa.decimal128(10, 2), 2), (pa.float64(), 1), (pa.float16(), 6), (pa.timestamp("us", "UTC"), 4), (pa.binary(5), 4),
    (pa.list_(pa.list_(pa.bool_(), 3), 2), 2))]
WIDE_VECTORS = [pa.list_(item, size) for item, size in (
    (pa.float32(), 128), (pa.float16(), 200), (pa.uint8(), 1001), (pa.bool_(), 3000), (pa.list_(pa.int16(), 30), 7),
    (pa.float64(), 64))]
DICTIONARIES = [pa.dictionary(key, pa.string()) for key in INTS] + [
    pa.dictionary(key, value) for key, value in (
        (pa.uint16(), pa.large_string()), (pa.int32(), pa.binary()), (pa.int8(), pa.large_binary()),
        (pa.int64(), pa.int64()), (pa.int8(), pa.int64()), (pa.uint8(), pa.int8()), (pa.int16(), pa.uint16()),
        (pa.uint32(), pa.int32()), (pa.int8(), pa.uint64()), (pa.int8(), pa.float16()), (pa.int8(), pa.float32()),
        (pa.int16(), pa.float64()), (pa.int8(), pa.bool_()))]

PAIR = pa.struct([("x", pa.int32()), ("y", pa.string())])
ITEMS = [pa.bool_(), pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.large_binary(),
         pa.timestamp("us", "UTC"), pa.decimal128(20, 2), pa.binary(5), pa.list_(pa.float32(), 3),
         pa.list_(pa.float32(), 80), pa.list_(pa.bool_(), 9), pa.null(), pa.dictionary(pa.int8(), pa.string())]
LISTS = [pa.list_(item) for item in ITEMS] + [
    pa.large_list(pa.int32()), pa.large_list(pa.string()), pa.list_(pa.field("item", pa.int16(), False)),
    pa.list_(pa.list_(pa.int32())), pa.list_(pa.large_list(pa.list_(pa.string()))),
    functools.reduce(lambda t, _: pa.list_(t), range(8), pa.int32())]
STRUCTS = [
    PAIR,
    pa.struct([("a", pa.struct([("b", pa.struct([("c", pa.int32()), ("d", pa.bool_())]))])), ("e", pa.list_(pa.float32(), 4))]),
    pa.struct([("n", pa.null()), ("w", pa.list_(pa.float32(), 100))]),
    pa.struct([("required", pa.int32(), False), ("text", pa.string(), False)]),
    pa.struct([("d", pa.dictionary(pa.int32(), pa.string())), ("s", pa.large_string())]),
    pa.struct([("l", pa.list_(pa.int32())), ("k", pa.int64())]),
    pa.struct([("k", pa.int64()), ("l", pa.list_(pa.string()))]),
    pa.struct([("s", pa.struct([("l", pa.list_(pa.list_(pa.int8())))]))]),
    pa.list_(PAIR),
    pa.large_list(PAIR),
    pa.list_(pa.struct([("l", pa.list_(pa.int16())), ("s", PAIR)])),
    pa.list_(pa.struct([("d", pa.dictionary(pa.int8(), pa.int64())), ("v", pa.list_(pa.float16(), 3))])),
]
MAPS = [pa.map_(pa.string(), pa.int32()), pa.map_(pa.int32(), pa.list_(pa.string())), pa.map_(pa.string(), PAIR),
        pa.list_(pa.map_(pa.string(), pa.int32())), pa.struct([("m", pa.map_(pa.int16(), pa.bool_()))])]
# Each is in a file of its own, for pylance reads no other column beside it.
STRUCT_LISTS = [pa.list_(pa.struct([("x", pa.int32())]), 3),
                pa.list_(pa.struct([("x", pa.string()), ("y", pa.bool_())]), 2),
                pa.struct([("f", pa.list_(pa.struct([("x", pa.int64())]), 4))]),
                pa.list_(pa.struct([("v", pa.list_(pa.float32(), 2))]), 3)]
FIXED_PACKED = [pa.struct(list(zip("abcd", children))) for children in (
    [pa.uint16(), pa.uint8()], [pa.int64(), pa.float64(), pa.int32()], [pa.int32()],
    [pa.decimal128(9, 1), pa.date32(), pa.float16(), pa.timestamp("us", "UTC")], [pa.int16(), pa.binary(5)])]
LIST_PACKED = [pa.struct([("a", pa.int16()), ("v", pa.list_(pa.float32(), 2))])]
VARIABLE_PACKED = [pa.struct(list(zip("abcd", children))) for children in (
    [pa.int32(), pa.string()], [pa.string(), pa.large_binary(), pa.int8()], [pa.list_(pa.float32(), 3), pa.binary()],
    [pa.binary(), pa.large_string()], [pa.int16(), pa.list_(pa.list_(pa.int16(), 5), 2), pa.string()])]


NULL_STRUCTS = "null structs"
STRUCT_AFTER_NOTHING = pa.struct([("e", pa.struct([])), ("x", pa.int32())])


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One column; `pages` are the names of its nulls from batch to batch where each batch is to be a page."""

    field: pa.Field
    shape: str = ""
    nulls: str = "none"
    rows: int = ROWS
    lists: str = "mixed"
    pages: tuple = ()
    hint: str = ""

    @property
    def name(self):
        layers = self.lists if "list" in str(self.field.type) or "map" in str(self.field.type) else ""
        parts = [str(self.field.type), self.shape, layers, self.nulls, f"{self.rows} rows", self.hint,
                 "pages " + "+".join(self.pages) if self.pages else ""]
        return " | ".join(part for part in parts if part)

    @property
    def is_alone(self):
        """Whether pylance cannot read it beside other columns."""
        t = self.field.type
        while is_list(t):
            t = t.value_type
        return holds(t, is_struct_list) or holds(t, lambda x: x == pa.struct([]))

    def array(self, version, extra=0):
        """The values, the same at each call; `extra` rows more."""
        rng = np.random.default_rng(zlib.crc32(f"{self.name}{version == '2.0'}".encode()))
        nulls = [NULLS[name] for name in self.pages or [self.nulls]]
        if version == "2.0" and self.hint != NULL_STRUCTS:
            nulls = [dataclasses.replace(n, structs=False) for n in nulls]
        if is_packed(self.field):
            return packed(self.field.type, self.shape, nulls[0], self.rows + extra, rng)
        return pa.concat_arrays([make(self.field.type, self.shape or None, n, self.rows + extra, rng, self.lists) for n in nulls])


def packed(t, shape, nulls, rows, rng):
    """Rows of a packed struct may be null, its children may not; items of vectors may. `shape` is that of one kind."""
    def child(field):
        fits = is_string(field.type) if shape in columns.STRING_SHAPES else pa.types.is_fixed_size_list(field.type)
        return columns.leaf(field.type, shape if shape and fits else columns.default_shape(field.type), rows, rng, np.zeros(rows, bool))

    children = [child(field) for field in t]
    return pa.Array.from_buffers(t, rows, [columns.bitmap(nulls.mask(t, 0, rows, rng))], children=children)


def holds(t, test):
    """Whether `t` or a type below it passes `test`."""
    if test(t):
        return True
    if pa.types.is_dictionary(t):
        return holds(t.value_type, test)
    return any(holds(t.field(i).type, test) for i in range(t.num_fields))


def case(t, shape="", nulls="none", rows=ROWS, metadata=None, hint="", **more):
    return Case(pa.field("c", t, True, metadata), shape, nulls, rows, hint=hint, **more)


def crossed(types, shapes, nulls=LEAF_NULLS, **more):
    return [case(t, shape, n, **more) for t in types for shape in shapes for n in nulls]


def numbers():
    yield from crossed(INTS, ["random", "small", "constant", "runs", "few", "sorted"])
    yield from crossed([t for t in INTS if pa.types.is_signed_integer(t)], ["negative"])
    yield from crossed(FLOATS, ["random", "unit", "smooth", "special", "constant", "few", "runs"])
    yield from crossed([pa.bool_()], ["random", "constant", "runs"])
    yield from crossed(DECIMALS, ["random", "constant", "few"])
    yield case(pa.null(), nulls="all")


def times():
    yield from crossed(TIMES, ["random", "constant", "few"])


def strings():
    yield from crossed(STRINGS, ["short", "constant", "empty", "few", "sentences"])
    yield from crossed(STRINGS, ["long", "mixed", "long few", "thousands", "paragraphs"], rows=WIDE_ROWS)
    yield from crossed([pa.string(), pa.large_binary()], ["thousands"])
    yield from crossed(STRINGS, ["huge"], rows=12)
    yield from crossed(VIEWS, ["short", "few", "constant"])
    yield from crossed([t for t in FIXED_BINARIES if t.byte_width < 100], ["random", "constant", "few"])
    yield from crossed([t for t in FIXED_BINARIES if t.byte_width > 100], ["random", "constant", "few"], rows=WIDE_ROWS)


def vectors():
    shapes = ["plain", "null items", "items all null", "constant"]
    yield from crossed(VECTORS, shapes)
    yield from crossed(WIDE_VECTORS, shapes, rows=WIDE_ROWS)


def dictionaries():
    yield from crossed(DICTIONARIES, ["plain", "constant"])
    yield from crossed(DICTIONARIES[::3], ["two", "unused", "equal items", "null items"])


LAYER_NULLS = ["none", "some", "rows", "items", "leaves", "one valid", "all"]


def lists():
    yield from crossed(LISTS, [""], LAYER_NULLS, rows=1200)
    some = [pa.list_(pa.int32()), pa.list_(pa.string()), pa.list_(pa.bool_()), pa.list_(pa.list_(pa.int32())), pa.list_(PAIR)]
    for shape in columns.LIST_SHAPES:
        yield from crossed(some, [""], ["none", "some", "leaves"], rows=12 if shape == "long" else 3000, lists=shape)
    for shape in ("constant", "runs", "few"):
        yield from crossed([pa.list_(pa.int32()), pa.list_(pa.float64())], [shape], ["none", "some"], rows=2000)
    for shape in ("sentences", "long", "constant", "few"):
        yield from crossed([pa.list_(pa.string()), pa.large_list(pa.binary())], [shape], ["none", "some"], rows=300)


def structs():
    yield from crossed(STRUCTS, [""], LAYER_NULLS, rows=1200)
    yield from crossed(MAPS, [""], LAYER_NULLS, rows=1200)
    yield from crossed(STRUCT_LISTS, [""], LAYER_NULLS, rows=700)
    nothing = pa.struct([])
    for t in (nothing, pa.struct([("e", nothing)]), STRUCT_AFTER_NOTHING,
              pa.struct([("s", pa.struct([("x", pa.list_(pa.int32())), ("e", nothing)]))])):
        yield case(t, rows=100)


def marked():
    """Packed structs and blobs, alone and below others."""
    for t in FIXED_PACKED + LIST_PACKED + VARIABLE_PACKED:
        yield from crossed([t], [""], ["none", "rows", "one valid", "all"], rows=1500, metadata=PACKED, hint="packed")
    for shape in ("null items", "sentences", "mixed"):
        types = [t for t in VARIABLE_PACKED if shape != "null items" or holds(t, pa.types.is_fixed_size_list)]
        yield from crossed(types, [shape], ["none", "rows"], rows=1500, metadata=PACKED, hint="packed")
    yield from crossed([pa.large_binary()], ["short", "mixed", "empty"], rows=400, metadata=BLOB, hint="blob")
    yield from crossed([pa.large_binary()], ["huge"], rows=9, metadata=BLOB, hint="blob")
    blob = pa.field("b", pa.large_binary(), True, BLOB)
    yield from crossed([pa.struct([("i", pa.int32()), blob])], [""], ["none", "some", "leaves", "all"], rows=400, hint="blob in struct")


def hinted():
    """What a field's metadata ask for; the values stay the same."""
    def each(types, shapes, rows=ROWS, nulls=("none", "some"), **hints):
        metadata = {HINT + key.replace("_", "-"): value for key, value in hints.items()}
        text = " ".join(f"{key.replace('_', '-')}={value}" for key, value in hints.items())
        yield from crossed(types, shapes, nulls, rows=rows, metadata=metadata, hint=text)

    words = [pa.int16(), pa.int32(), pa.uint64()]
    for scheme in ("zstd", "lz4", "none"):
        yield from each(words, ["small", "random", "runs"], compression=scheme)
        yield from each(FLOATS, ["smooth", "random"], compression=scheme)
        yield from each([pa.bool_(), pa.decimal128(38, 3), pa.binary(16), pa.timestamp("us")], ["random"], compression=scheme)
        yield from each(VECTORS[:2] + WIDE_VECTORS[:1], ["plain", "null items"], WIDE_ROWS, compression=scheme)
    for scheme in ("zstd", "lz4", "fsst", "none"):
        yield from each(STRINGS, ["short", "sentences", "few"], nulls=LEAF_NULLS, compression=scheme)
        yield from each(STRINGS, ["long", "paragraphs"], WIDE_ROWS, compression=scheme)
    yield from each(STRINGS, ["huge"], 12, compression="lz4")
    for bss in ("on", "off", "auto"):
        yield from each([pa.int32(), pa.float32(), pa.float64()], ["random", "runs"], compression="zstd", bss=bss)
    yield from each([pa.float32()], ["smooth"], compression="lz4", bss="on", compression_level="3")
    yield from each([pa.string()], ["sentences"], compression="zstd", compression_level="9")
    for threshold in ("0.001", "1.0"):
        yield from each(words, ["runs", "small"], rle_threshold=threshold)
    for size in ("64", "1024", "16384"):
        yield from each(STRINGS, ["short", "sentences"], minichunk_size=size)
    yield from each([pa.string()], ["sentences"], minichunk_size="30000", compression="zstd")
    numbers64 = [pa.string(), pa.int64(), pa.decimal128(38, 3)]
    for hint in ({"dict_divisor": "1000"}, {"dict_size_ratio": "0.1"}, {"dict_max_size": "50"},
                 {"dict_values_compression": "zstd"}, {"dict_values_compression": "none"},
                 {"dict_values_compression": "lz4"}, {"dict_values_compression": "zstd", "dict_values_compression_level": "7"}):
        yield from each(numbers64, ["few"], **hint)
    yield from each(DICTIONARIES[:1] + DICTIONARIES[8:12], ["plain"], dict_values_compression="zstd")
    yield from layouts(each)
    yield from inner_hints()


def layouts(each):
    """Pages of a layout on request: of flat and of nested columns."""
    flat = [pa.int32(), pa.bool_(), pa.float64(), pa.decimal128(38, 3), pa.binary(3), pa.timestamp("us", "UTC")]
    for layout in ("fullzip", "miniblock"):
        yield from each(flat, ["random"], nulls=LEAF_NULLS, structural_encoding=layout)
        yield from each(STRINGS, ["short", "empty", "constant"], nulls=LEAF_NULLS, structural_encoding=layout)
        yield from each(STRINGS, ["long"], WIDE_ROWS, structural_encoding=layout)
        # Neither has a full-zip form of vectors of bits.
        vectors_ = [t for t in VECTORS if layout == "miniblock" or not holds(t, pa.types.is_boolean)]
        yield from each(vectors_, ["plain", "null items"], 1000, nulls=LEAF_NULLS, structural_encoding=layout)
        yield from each([pa.list_(pa.float32(), 80)], ["plain"], 300, structural_encoding=layout)
        nested = [t for t in LISTS + STRUCTS + MAPS if layout == "miniblock" or not holds(t, lambda x: x == pa.list_(pa.bool_(), 9))]
        yield from each(nested, [""], 700, nulls=LAYER_NULLS, structural_encoding=layout)


def inner_hints():
    """Hints on leaves below lists and structs."""
    zstd, lz4 = ({HINT + "compression": scheme} for scheme in ("zstd", "lz4"))
    text = pa.field("item", pa.string(), True, zstd)
    number = pa.field("item", pa.int32(), True, lz4)
    types = [pa.list_(text), pa.large_list(number), pa.list_(pa.list_(number)),
             pa.struct([text.with_name("t"), number.with_name("n")]), pa.list_(pa.struct([text.with_name("t"), number.with_name("n")]))]
    for shape in ("", "sentences", "few"):
        for t in types:
            if shape and holds(t, pa.types.is_integer):
                continue
            yield from crossed([t], [shape], ["none", "some", "leaves"], rows=900, hint="compression on the leaves")
    packed_ = pa.field("item", FIXED_PACKED[1], True, PACKED)
    strings_ = pa.field("item", VARIABLE_PACKED[1], True, PACKED)
    for item in (packed_, strings_):
        for t in (pa.list_(item), pa.struct([("x", pa.int32()), item.with_name("p")]), pa.list_(pa.struct([item.with_name("p")]))):
            yield from crossed([t], [""], ["none", "rows"], rows=500, hint="packed below others")
            yield from crossed([t], [""], ["none"], rows=500, lists="full", hint="packed below others")
            if item is packed_ and holds(t, is_list):
                yield from crossed([t], [""], ["none"], rows=20, lists="empty", hint="packed below others")


def every_type():
    """One of each type, for what does not depend on the shape of the values."""
    yield from (case(t) for t in [*INTS, *FLOATS, *TIMES, *DECIMALS, *FIXED_BINARIES, *STRINGS, *VIEWS, pa.bool_(),
                                  *VECTORS, *WIDE_VECTORS, *DICTIONARIES, *LISTS, *STRUCTS, *MAPS])
    yield from (case(t, metadata=PACKED, hint="packed") for t in FIXED_PACKED + LIST_PACKED + VARIABLE_PACKED)
    yield case(pa.large_binary(), metadata=BLOB, hint="blob")


def lengths():
    """No row, one row, and the edges of chunks."""
    for one in every_type():
        for rows in SHORT:
            some = "rows" if is_packed(one.field) else "some"
            for nulls in ["none"] if rows == 0 else [some] if rows > 6 else ["none", some]:
                if (rows == 1 and nulls == "rows") or (rows > 6 and one.field.type in WIDE_VECTORS):
                    continue  # one row may be the null one
                yield dataclasses.replace(one, rows=rows, nulls=nulls)


def pages():
    """Pages of which some have nulls and some have none."""
    for one in every_type():
        if not is_packed(one.field):
            yield dataclasses.replace(one, rows=300, pages=("some", "none", "all", "some"), nulls="")
            yield dataclasses.replace(one, rows=300, pages=("none", "leaves", "one valid"), nulls="")


FAMILIES = [numbers, times, strings, vectors, dictionaries, lists, structs, marked, hinted, lengths, pages]
MATRIX = {family.__name__: list({one.name: one for one in family()}.values()) for family in FAMILIES}
@dataclasses.dataclass(frozen=True)
class Refusal:
    """The `step` that pylance does not do; `message` is part of pennon's, if that refuses to write.

    Steps are write, read, "write or read", "read right" (its values are wrong) and "read rows" (without values of
    their own: it reads all at once).
    """

    step: str
    message: str = ""

    @property
    def pennon_does(self):
        return not self.message

    @property
    def text(self):
        return f"pylance does not {self.step}; pennon {'does' if self.pennon_does else 'refuses'}"


def refusal(case, version):
    """What pylance or pennon refuses of a case of the version; None if both write and read it."""
    t = case.field.type
    if case in IMPOSSIBLE:
        return IMPOSSIBLE[case][version]
    if version != "2.2" and holds(t, pa.types.is_map):
        return Refusal("write", "Maps need storage version 2.2")
    if version != "2.2" and holds(t, is_struct_list):
        return Refusal("write" if version == "2.1" else "write or read", "needs storage version 2.2")
    if version == "2.0" and is_view(t) and case.nulls != "all" and case.rows > 0:
        return Refusal("write")
    if version != "2.2" and unpackable(case.field, version):
        # Seen when a value is packed: never, if there is no row or all are null.
        no_value = case.rows == 0 or (version == "2.1" and case.nulls == "all")
        return None if no_value else Refusal("write", "cannot pack a struct with this child")
    if version == "2.0" and "packed" in case.hint and case.lists == "empty":
        return Refusal("write")
    if version == "2.2" and has_rows_without_values(case):
        return Refusal("read rows")
    if version != "2.0" and t == STRUCT_AFTER_NOTHING:
        return Refusal("read right")
    if version == "2.0" and "compression=fsst" in case.hint:
        if "large" in str(t) or (case.nulls == "all" and t == pa.binary()):
            return Refusal("write")
    return None


def has_rows_without_values(case):
    """Whether packed structs with strings stand in lists, of which some are empty."""
    def strings_in_list(field):
        below = [field.type.field(i) for i in range(field.type.num_fields)]
        if is_list(field.type):
            return any(map(strings_packed, below))
        return any(map(strings_in_list, below))

    def strings_packed(field):
        if is_packed(field):
            return any(is_string(child.type) for child in field.type)
        return any(strings_packed(field.type.field(i)) for i in range(field.type.num_fields))

    return case.lists == "mixed" and strings_in_list(case.field)


def unpackable(field, version):
    """Whether the field, or one below it, is a packed struct with a child whose width varies (or, in 2.1, a list)."""
    def bad(t):
        return is_string(t) or (version == "2.1" and pa.types.is_fixed_size_list(t))

    if is_packed(field):
        return any(bad(child.type) for child in field.type)
    return any(unpackable(field.type.field(i), version) for i in range(field.type.num_fields))


def impossible():
    """What no file of a version holds, with the refusals of 2.0, 2.1 and 2.2 (None: this version holds it)."""
    def row(t, steps, message, **more):
        messages = message if isinstance(message, tuple) else (message,) * 3
        refusals = [Refusal(step, text) if step is not None else None for step, text in zip(steps, messages)]
        return case(t, rows=20, **more), dict(zip(VERSIONS, refusals))

    yield row(pa.list_(pa.string(), 2), ["write"] * 3, "cannot write this column")
    of_structs, of_lists = (pa.struct([("x", t)]) for t in (pa.int32(), pa.list_(pa.int32())))
    needs = "needs storage version 2.2"
    yield row(pa.list_(pa.list_(of_structs, 2)), ["read", "write", "write"], (needs, needs, "cannot be read back"))
    yield row(pa.list_(of_lists, 2), ["write", "write", "read"], (needs, needs, "cannot be read back"))
    for t in (pa.struct([]), pa.struct([("e", pa.struct([]))])):
        yield row(t, [None, "write", "write"], "not nullable", nulls="rows")
    yield row(pa.list_(pa.struct([])), [None, "write", "write"], "at top level and in structs only")
    for t in STRUCTS:
        yield row(t, ["write", None, None], ("cannot hold null structs", "", ""), nulls="some", hint=NULL_STRUCTS)
    yield row(pa.binary(), ["write"] * 3, "blobs of type large_binary only", metadata=BLOB, hint="blob")
    yield row(pa.struct([("x", pa.int32()), ("b", pa.bool_())]), ["write", "read", "read"],
              "cannot pack a struct with this child: b", metadata=PACKED, hint="packed")
    yield row(pa.dictionary(pa.int8(), pa.timestamp("us")), ["write"] * 3, "a type that a table cannot hold")


IMPOSSIBLE = dict(impossible())
MATRIX["impossible"] = list(IMPOSSIBLE)
