"""Columns whose values are not plain leaves: dictionaries, packed structs, blobs, and types stored as others.

Each case is (field, batches, versions): what the reference library writes in those versions.
"""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BOTH = ("2.1", "2.2")
PACKED = {"packed": "true"}
BLOB = {"lance-encoding:blob": "true"}
BLOB_KEY = b"lance-encoding:blob"


def _masked(array, every=5):
    """The array with nulls in some slots."""
    mask = pa.array([i % every == 3 for i in range(len(array))])
    return pc.if_else(mask, pa.scalar(None, array.type), array)


def _dictionary(rng, index_type, items, rows, nulls):
    indices = rng.integers(0, len(items), rows)
    mask = np.arange(rows) % 7 == 2 if nulls else None
    return pa.DictionaryArray.from_arrays(pa.array(indices, index_type, mask=mask), items)


def _struct(mask=None, **children):
    return pa.StructArray.from_arrays(list(children.values()), names=list(children), mask=mask)


def _words(rng, rows, longest):
    return ["w" * int(n) + str(int(n)) for n in rng.integers(0, longest, rows)]


def _dictionary_cases(rng):
    items = {
        "utf8": pa.array([f"item {i}" for i in range(90)]),
        "large_utf8": pa.array([f"item {i}" * 5 for i in range(90)], pa.large_utf8()),
        "binary": pa.array([bytes([i] * i) for i in range(90)], pa.binary()),
        "large_binary": pa.array([bytes([i]) for i in range(9)], pa.large_binary()),
        "bool": pa.array([True, False]),
        "float64": pa.array([float("nan"), -0.0, 0.0, 1.5]),
        "halffloat": pa.array(np.array([1.5, 2.5], np.float16)),
    }
    for i, t in enumerate((pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint64())):
        items[f"{t} items"] = pa.array(range(i, 40), t)
    index_types = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
    for i, (name, values) in enumerate(items.items()):
        for nulls in (False, True):
            t = index_types[(i + nulls) % len(index_types)]
            yield f"dict {name}{' nulls' if nulls else ''}", [_dictionary(rng, t, values, 3000, nulls)], {}
    for t in index_types:
        yield f"dict index {t}", [_dictionary(rng, t, items["utf8"], 500, True)], {}
    yield "dict one value", [_dictionary(rng, pa.int32(), pa.array(["only"]), 3000, False)], {}
    yield "dict few rows", [_dictionary(rng, pa.int8(), items["utf8"], 5, True)], {}
    yield "dict unused items", [_dictionary(rng, pa.int16(), pa.array([str(i) for i in range(5000)]), 3, False)], {}
    yield "dict null items", [_dictionary(rng, pa.int8(), pa.array(["a", None, "c"]), 100, True)], {}
    yield "dict equal items", [_dictionary(rng, pa.int8(), pa.array(["a", "a", "c"]), 100, True)], {}
    yield "dict all null", [pa.DictionaryArray.from_arrays(pa.array([None] * 50, pa.int8()), pa.array(["a"]))], {}
    yield "dict no items", [pa.DictionaryArray.from_arrays(pa.array([None] * 5, pa.int8()), pa.array([], pa.utf8()))], {}
    several = [
        _dictionary(rng, pa.int16(), pa.array([f"{b}:{i}" for i in range(30)] + ["shared"]), 700, b == 1)
        for b in range(4)
    ]
    yield "dict of other items in each page", several, {}
    several = [_dictionary(rng, pa.int8(), pa.array(range(b, b + 20), pa.int64()), 700, b == 2) for b in range(4)]
    yield "dict of other numbers in each page", several, {}
    null_page = pa.DictionaryArray.from_arrays(pa.array([None] * 700, pa.int8()), pa.array(["x"]))
    yield "dict with a page of nulls", [null_page, _dictionary(rng, pa.int8(), items["utf8"], 700, True), null_page], {}


def _packed_cases(rng):
    rows = 3000
    i32 = pa.array(rng.integers(0, 1 << 30, rows), pa.int32())
    f64 = pa.array(rng.random(rows))
    i16 = i32.cast(pa.int64()).cast(pa.int16(), safe=False)
    dec = pa.array([decimal.Decimal(int(x)) for x in rng.integers(0, 1000, rows)], pa.decimal128(20, 0))
    words = pa.array(_words(rng, rows, 30))
    blobs = pa.array([b"\0" * int(n) for n in rng.integers(0, 2000, rows)], pa.large_binary())
    text = pa.array([f"some text that is long enough {int(i)}" for i in rng.integers(0, 1 << 20, rows)])
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(rows * 3), pa.float32()), 3)
    holes = pa.FixedSizeListArray.from_arrays(_masked(pa.array(rng.random(rows * 3), pa.float32()), 9), 3)
    deep = pa.FixedSizeListArray.from_arrays(
        pa.FixedSizeListArray.from_arrays(_masked(pa.array(np.arange(rows * 10), pa.int16()), 11), 5), 2
    )
    mask = pa.array(np.arange(rows) % 7 == 2)
    yield "packed fixed", [_struct(a=i32, b=f64)], {}
    yield "packed fixed row nulls", [_struct(mask, a=i32, b=f64)], {}
    yield "packed fixed widths", [_struct(a=i16, b=dec, c=i16.cast(pa.uint16(), safe=False), d=i32)], {}
    yield "packed one child", [_struct(a=i32)], {}
    yield "packed all null", [_struct(pa.array([True] * rows), a=i32, b=f64)], {}
    yield "packed pages", [_struct(a=i32[i : i + 500], b=f64[i : i + 500]) for i in range(0, rows, 500)], {}
    yield "packed strings", [_struct(a=i32, b=words)], {"only": "2.2"}
    yield "packed strings row nulls", [_struct(mask, a=words, b=i32, c=words)], {"only": "2.2"}
    yield "packed fsst", [_struct(mask, a=text, b=i16, c=blobs)], {"only": "2.2"}
    yield "packed vectors", [_struct(a=i16, b=vectors)], {"only": "2.2"}
    yield "packed vectors with holes", [_struct(mask, a=words, b=holes, c=vectors)], {"only": "2.2"}
    yield "packed nested vectors", [_struct(a=i32, b=deep)], {"only": "2.2"}
    yield "packed in packed", [_struct(mask, a=i32, b=_struct(x=i16, y=words), c=words)], {"only": "2.2"}
    yield "packed string pages", [_struct(a=i32[i : i + 500], b=text[i : i + 500]) for i in range(0, rows, 500)], {
        "only": "2.2"
    }


def _blob_cases(rng):
    values = [None if i % 7 == 3 else b"" if i % 7 == 4 else bytes([i % 256]) * (i * 3) for i in range(300)]
    yield "blob", [pa.array(values, pa.large_binary())], {}
    yield "blob valid", [pa.array([b"x" * i for i in range(1, 50)], pa.large_binary())], {}
    yield "blob all null", [pa.array([None] * 50, pa.large_binary())], {}
    yield "blob all empty", [pa.array([b""] * 50, pa.large_binary())], {}
    yield "blob one", [pa.array([b"one"], pa.large_binary())], {}
    yield "blob large", [pa.array([b"l" * 1_000_000, None, b"m" * 70_000] * 3, pa.large_binary())], {}
    yield "blob pages", [pa.array(values[i : i + 60], pa.large_binary()) for i in range(0, 300, 60)], {}


def _below_others(rng):
    """Dictionaries, packed structs and blobs below lists and structs."""
    rows = 2000
    items = pa.array([f"item {i}" for i in range(90)])
    dictionary = _dictionary(rng, pa.int8(), items, rows, True)
    other = _dictionary(rng, pa.int8(), pa.array([f"other {i}" for i in range(30)]), rows, False)
    i32 = pa.array(rng.integers(0, 1 << 30, rows), pa.int32())
    words = pa.array(_words(rng, rows, 30))
    mask = pa.array(np.arange(rows) % 7 == 2)
    offsets = pa.array([0, 0, *sorted(int(x) for x in rng.integers(0, rows, 500)), rows], pa.int32())
    list_mask = pa.array(np.arange(len(offsets) - 1) % 9 == 4)

    def list_of(values, metadata=None):
        plain = pa.ListArray.from_arrays(offsets, values, mask=list_mask)
        return plain.cast(pa.list_(pa.field("item", values.type, metadata=metadata)))

    def struct_of(array, metadata=None):
        fields = [pa.field("x", pa.int32()), pa.field("y", array.type, metadata=metadata)]
        return pa.StructArray.from_arrays([i32, array], fields=fields, mask=mask)

    yield "list of dict", [list_of(dictionary), list_of(other)], {}
    yield "struct of dict", [struct_of(dictionary), struct_of(other)], {}
    yield "list of packed", [list_of(_struct(mask, a=i32, b=i32.cast(pa.float64())), PACKED)], {}
    yield "struct of packed", [struct_of(_struct(mask, a=i32, b=i32.cast(pa.float64())), PACKED)], {}
    blobs = [None if i % 7 == 3 else b"" if i % 7 == 4 else bytes([i % 256]) * (i % 50) for i in range(rows)]
    yield "struct of blob", [struct_of(pa.array(blobs, pa.large_binary()), BLOB)], {}


def _stored_as_others(rng):
    """Types whose values have the layout of another type."""
    numbers = [int(x) for x in rng.integers(0, 1 << 31, 2000)]
    zones = [None, "UTC", "Europe/Berlin", "+05:30"]
    for unit in ("s", "ms", "us", "ns"):
        for zone in zones:
            t = pa.timestamp(unit, zone)
            yield f"{t}", [_masked(pa.array(numbers, pa.int64()).cast(t))], {}
        yield f"duration {unit}", [_masked(pa.array(numbers, pa.int64()).cast(pa.duration(unit)))], {}
    seconds = pa.array([n % 86400 for n in numbers], pa.int32())
    yield "time32 s", [_masked(seconds.cast(pa.time32("s")))], {}
    yield "time32 ms", [_masked(seconds.cast(pa.time32("ms")))], {}
    yield "time64 us", [_masked(seconds.cast(pa.int64()).cast(pa.time64("us")))], {}
    yield "time64 ns", [_masked(seconds.cast(pa.int64()).cast(pa.time64("ns")))], {}
    yield "date32", [_masked(seconds.cast(pa.date32()))], {}
    days = [datetime.date(1970, 1, 1) + datetime.timedelta(days=n % 20000) for n in numbers]
    yield "date64", [_masked(pa.array(days, pa.date64()))], {}
    yield "decimal256", [_masked(pa.array([decimal.Decimal(n) ** 4 for n in numbers], pa.decimal256(60, 0)))], {}
    yield "decimal128 negative scale", [pa.array([decimal.Decimal(n) * 100 for n in numbers], pa.decimal128(20, -2))], {}
    yield "halffloat", [_masked(pa.array(np.array(rng.random(2000), np.float16)))], {}
    yield "fixed_size_binary", [_masked(pa.array([n.to_bytes(5, "little") for n in numbers], pa.binary(5)))], {}
    halves = pa.array(np.array(rng.random(12000), np.float16))
    yield "fsl halffloat", [_masked(pa.FixedSizeListArray.from_arrays(_masked(halves, 13), 6))], {}
    inner = pa.FixedSizeListArray.from_arrays(_masked(halves, 13), 3)
    yield "fsl fsl halffloat", [pa.FixedSizeListArray.from_arrays(inner, 2)], {}
    bits = pa.array([n % 3 == 0 for n in numbers] * 5)
    yield "fsl bool", [pa.FixedSizeListArray.from_arrays(_masked(bits, 17), 5)], {}
    stamps = pa.array(numbers, pa.int64()).cast(pa.timestamp("us", "UTC"))
    yield "fsl timestamp", [pa.FixedSizeListArray.from_arrays(stamps, 4)], {}
    bytes_ = pa.array([n.to_bytes(5, "little") for n in numbers], pa.binary(5))
    yield "fsl fixed_size_binary", [pa.FixedSizeListArray.from_arrays(bytes_, 4)], {}
    yield "utf8 view", [_masked(pa.array(_words(rng, 2000, 30))).cast(pa.string_view())], {}
    yield "binary view", [pa.array([b"x" * (n % 40) for n in numbers], pa.binary()).cast(pa.binary_view())], {}


def _constants():
    """One value in every valid row, of every kind that a constant page can hold."""
    values = {
        "bool": pa.scalar(True),
        "int8": pa.scalar(-3, pa.int8()),
        "int16": pa.scalar(-3, pa.int16()),
        "uint64": pa.scalar(1 << 63, pa.uint64()),
        "halffloat": pa.scalar(np.float16(1.5)),
        "float64": pa.scalar(float("nan")),
        "decimal128": pa.scalar(decimal.Decimal(7), pa.decimal128(10, 0)),
        "decimal256": pa.scalar(decimal.Decimal(7), pa.decimal256(50, 0)),
        "timestamp": pa.scalar(7, pa.timestamp("us", "UTC")),
        "time64": pa.scalar(7, pa.time64("ns")),
        "duration": pa.scalar(7, pa.duration("s")),
        "date64": pa.scalar(datetime.date(2020, 1, 1), pa.date64()),
        "fixed_size_binary": pa.scalar(b"12345", pa.binary(5)),
        "fixed_size_binary(40)": pa.scalar(b"1234567890" * 4, pa.binary(40)),
        "utf8": pa.scalar("text"),
        "utf8 empty": pa.scalar(""),
        "large_utf8": pa.scalar("text" * 100, pa.large_utf8()),
        "binary": pa.scalar(b"\0\1\2"),
        "large_binary": pa.scalar(b"\0" * 5000, pa.large_binary()),
        "fsl": pa.scalar([1, 2], pa.list_(pa.int32(), 2)),
        "fsl bool": pa.scalar([True, False, True], pa.list_(pa.bool_(), 3)),
        "fsl fsl": pa.scalar([[1, 2], [3, 4]], pa.list_(pa.list_(pa.int16(), 2), 2)),
    }
    for name, value in values.items():
        array = pa.repeat(value, 1000)
        yield f"constant {name}", [array], {}
        yield f"constant {name} nulls", [_masked(array)], {}


def _all():
    def named(cases, metadata=None):
        for name, batches, options in cases:
            versions = BOTH if "only" not in options else (options["only"],)
            field = pa.field("c", batches[0].type, metadata=options.get("metadata", metadata))
            yield name, (field, batches, versions)

    rng = np.random.default_rng(7)
    yield from named(_dictionary_cases(rng))
    yield from named(_packed_cases(rng), PACKED)
    yield from named(_blob_cases(rng), BLOB)
    yield from named(_stored_as_others(rng))
    yield from named(_below_others(rng))
    yield from named(_constants())


CASES = dict(_all())
