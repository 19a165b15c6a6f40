"""Nested, packed, dictionary and blob columns for files of version 2.0: by name, and at random."""

import random

import pyarrow as pa

ROWS = 900
PAIR = pa.struct([("a", pa.int32()), ("b", pa.utf8())])
PACKED = {b"packed": b"true"}
BLOB = {b"lance-encoding:blob": b"true"}

LEAVES = {
    pa.int32(): lambda r: r.randrange(-(2**31), 2**31),
    pa.int8(): lambda r: r.randrange(-128, 128),
    pa.float64(): lambda r: r.random(),
    pa.bool_(): lambda r: r.random() < 0.5,
    pa.utf8(): lambda r: "s%d" % r.randrange(1000),
    pa.large_binary(): lambda r: bytes(r.randrange(0, 12)),
    pa.binary(3): lambda r: bytes(r.choices(range(256), k=3)),
    pa.list_(pa.float32(), 2): lambda r: [float(r.randrange(99)), 0.5],
    pa.decimal128(20, 2): None,
    pa.timestamp("us", "UTC"): lambda r: r.randrange(2**40),
}


def random_type(rng, depth):
    kind = rng.choice(["leaf", "list", "large_list", "struct"]) if depth > 0 else "leaf"
    if kind == "leaf":
        return rng.choice([t for t, make in LEAVES.items() if make])
    if kind == "struct":
        return pa.struct([(f"f{i}", random_type(rng, depth - 1)) for i in range(rng.randrange(1, 4))])
    return (pa.list_ if kind == "list" else pa.large_list)(random_type(rng, depth - 1))


def random_value(rng, t, nulls):
    """A value of the type; structs are never null, for 2.0 cannot say so."""
    if pa.types.is_struct(t):
        return {t.field(i).name: random_value(rng, t.field(i).type, nulls) for i in range(t.num_fields)}
    if rng.random() < nulls:
        return None
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return [random_value(rng, t.value_type, nulls) for _ in range(rng.choice([0, 0, 1, 2, 5]))]
    return LEAVES[t](rng)


def random_column(seed):
    """The field and array of a random nested column."""
    rng = random.Random(seed)
    t = random_type(rng, 4)
    while not pa.types.is_nested(t) or pa.types.is_fixed_size_list(t):
        t = random_type(rng, 4)
    nulls = rng.choice([0, 0.2, 0.9])
    return pa.field("c", t), pa.array([random_value(rng, t, nulls) for _ in range(rng.choice([40, 400]))], t)


def _holes(values, every=7):
    return [None if i % every == 3 else v for i, v in enumerate(values)]


def _owning_nulls():
    """Lists whose null ones own items."""
    rng = random.Random(1)
    offsets = [0]
    for _ in range(ROWS):
        offsets.append(offsets[-1] + rng.randrange(4))
    mask = pa.array([rng.random() < 0.3 for _ in range(ROWS)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(range(offsets[-1]), pa.int64()), mask=mask)


def _lists():
    ints = [[i, None, i + 1][: i % 4] for i in range(ROWS)]
    for make in (pa.list_, pa.large_list):
        yield f"{make.__name__} int", make(pa.int32()), ints
        yield f"{make.__name__} int nulls", make(pa.int32()), _holes(ints)
    yield "list all null", pa.list_(pa.int32()), [None] * ROWS
    yield "list all empty", pa.list_(pa.utf8()), [[]] * ROWS
    yield "list of null", pa.list_(pa.null()), _holes([[None] * (i % 3) for i in range(ROWS)])
    strings = [["x%d" % (i * j) for j in range(i % 3)] for i in range(ROWS)]
    yield "list utf8", pa.list_(pa.utf8()), _holes(strings)
    yield "list few utf8", pa.list_(pa.utf8()), _holes([["ab", "c", None][: i % 4] for i in range(ROWS)])
    yield "list list", pa.list_(pa.list_(pa.int32())), [[[i], [], None, [1, 2]][: i % 5] for i in range(ROWS)]
    yield "list struct", pa.list_(PAIR), _holes([[{"a": i, "b": "z%d" % i}] * (i % 3) for i in range(ROWS)])
    yield "list fsl", pa.list_(pa.list_(pa.float32(), 2)), _holes([[[1.0, float(i)]] * (i % 3) for i in range(ROWS)])
    yield "list dictionary", pa.list_(pa.dictionary(pa.int8(), pa.utf8())), _holes([["a", "b"][: i % 3] for i in range(ROWS)])


def _structs():
    yield "struct", PAIR, [{"a": None if i % 3 else i, "b": "q%d" % i} for i in range(ROWS)]
    yield "struct struct", pa.struct([("s", pa.struct([("a", pa.int8())]))]), [{"s": {"a": i % 100}} for i in range(ROWS)]
    lists = pa.struct([("l", pa.list_(pa.int8())), ("k", pa.large_list(pa.utf8()))])
    yield "struct lists", lists, [{"l": [1] * (i % 3), "k": None if i % 4 else ["v"]} for i in range(ROWS)]
    deep = pa.struct([("a", pa.int32()), ("d", pa.dictionary(pa.int16(), pa.utf8()))])
    yield "struct dictionary", deep, [{"a": i, "d": "w%d" % (i % 5) if i % 7 else None} for i in range(ROWS)]


def _dictionaries():
    few = ["city-%d" % (i % 4) for i in range(ROWS)]
    for index in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()):
        yield f"dictionary {index} utf8", pa.dictionary(index, pa.utf8()), _holes(few)
    yield "dictionary no nulls", pa.dictionary(pa.int32(), pa.utf8()), few
    yield "dictionary all null", pa.dictionary(pa.int32(), pa.utf8()), [None] * ROWS
    yield "dictionary large_utf8", pa.dictionary(pa.int32(), pa.large_utf8()), _holes(few)
    yield "dictionary binary", pa.dictionary(pa.int32(), pa.binary()), _holes([v.encode() for v in few])
    yield "dictionary int64", pa.dictionary(pa.int8(), pa.int64()), _holes([i % 4 for i in range(ROWS)])
    yield "dictionary float", pa.dictionary(pa.int8(), pa.float32()), _holes([float(i % 4) for i in range(ROWS)])
    yield "dictionary drifting", pa.dictionary(pa.int32(), pa.utf8()), _holes(["v%d" % (i // 20) for i in range(ROWS)])


def _marked():
    st = pa.struct([pa.field("x", pa.uint64(), False), pa.field("y", pa.int32(), False), pa.field("z", pa.uint8(), False)])
    values = [{"x": i, "y": -i, "z": i % 256} for i in range(ROWS)]
    yield "packed", pa.field("c", st, False, PACKED), values
    st = pa.struct([pa.field("x", pa.int16()), pa.field("v", pa.list_(pa.float32(), 3)), pa.field("f", pa.binary(5))])
    values = [{"x": i % 999, "v": [1.0, 2.0, float(i)], "f": b"%05d" % i} for i in range(ROWS)]
    yield "packed lists", pa.field("c", st, True, {b"lance-encoding:packed": b"true"}), values
    yield "blob", pa.field("c", pa.large_binary(), True, BLOB), _holes([bytes([i % 256]) * (i % 5 * 50) for i in range(120)])
    large = [bytes([i]) * (70_000 if i % 3 else i) for i in range(20)]
    yield "blob large", pa.field("c", pa.large_binary(), True, BLOB), large
    yield "blob all null", pa.field("c", pa.large_binary(), True, BLOB), [None] * 5
    nested = pa.struct([pa.field("i", pa.int32()), pa.field("b", pa.large_binary(), True, BLOB)])
    yield "blob in struct", pa.field("c", nested), [{"i": i, "b": b"x" * i if i % 3 else None} for i in range(60)]


def make_array(values, t):
    if pa.types.is_dictionary(t):
        return pa.array(values, t.value_type).dictionary_encode().cast(t)
    return pa.array(values, t)


def named():
    """Each case's name, field and array."""
    for family in (_lists, _structs, _dictionaries):
        for name, t, values in family():
            yield name, pa.field("c", t), make_array(values, t)
    for name, field, values in _marked():
        yield name, field, pa.array(values, field.type)
    owning = _owning_nulls()
    yield "list nulls own items", pa.field("c", owning.type), owning


CASES = {name: (field, array) for name, field, array in named()}
