"""Columns that make the reference library use each of its encodings: by type, data and hint."""

import datetime
import decimal
import functools

import numpy as np
import pyarrow as pa

BATCH = 2500
HINT = "lance-encoding:"

_INTS = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64}


def _nulls(values, every=7):
    return [None if i % every == 3 else v for i, v in enumerate(values)]


def _one_valid(values):
    return [v if i == 77 else None for i, v in enumerate(values)]


def _rng(name):
    return np.random.default_rng(list(name.encode()))


def _words(rng, n, low, high):
    return ["".join(chr(97 + c) for c in rng.integers(0, 26, rng.integers(low, high))) for _ in range(n)]


def _text(rng, n, count):
    vocabulary = _words(rng, 200, 3, 10)
    return [" ".join(vocabulary[i] for i in rng.integers(0, 200, count)) for _ in range(n)]


def _int_shapes(rng, bits, signed, N):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    dtype = np.int64 if signed else np.uint64
    yield "random", [int(x) for x in rng.integers(low, high, N, dtype=dtype, endpoint=True)]
    yield "small", [int(x) for x in rng.integers(0, 11, N)]
    yield "runs", [int(x) for x in np.repeat(rng.integers(0, 100, N // 50), 50)]
    yield "constant", [7] * N
    yield "few", [int(x) for x in rng.integers(0, 100, 10)]
    yield "one", [3]
    if bits == 64:
        yield "distinct600", [int(x) for x in rng.integers(0, 600, N)]
        yield "monotone", [1_700_000_000_000 + i * 1000 for i in range(N)]
        yield "wide_few_distinct", [int(x) << 40 for x in rng.integers(1, 200, N)]


class _Cases:
    """The cases by name; with `full` false only their names matter, so all columns are short."""

    def __init__(self, full):
        self.full = full
        self.count = 5000 if full else 60
        self.all = {}

    def rows(self, count):
        return count if self.full else min(count, 60)

    def add(self, name, values, t, **hints):
        metadata = {HINT + k.replace("_", "-"): str(v) for k, v in hints.items()}
        for suffix, change in (("", list), (" nulls", _nulls), (" one valid", _one_valid), (" all null", None)):
            if suffix in (" one valid", " all null") and hints:
                continue
            self.all[name + suffix] = (values, change, t, metadata)


def _add_numbers(cases, rng):
    N, add = cases.count, cases.add
    for name, bits in _INTS.items():
        t = getattr(pa, name)()
        for shape, values in _int_shapes(_rng(name), bits, name[0] == "i", N):
            add(f"{name} {shape}", values, t)
    small32 = [int(x) for x in rng.integers(0, 1000, N)]
    add("int32 zstd", small32, pa.int32(), compression="zstd")
    add("int32 lz4", small32, pa.int32(), compression="lz4")
    add("int32 none", small32, pa.int32(), compression="none")
    add("int32 fullzip", small32, pa.int32(), structural_encoding="fullzip")
    add("int64 zstd", [int(x) for x in rng.integers(0, 2**50, N)], pa.int64(), compression="zstd")
    add("bool fullzip", [bool(x) for x in rng.integers(0, 2, N)], pa.bool_(), structural_encoding="fullzip")
    add("bool zstd", [bool(x) for x in rng.integers(0, 2, N)], pa.bool_(), compression="zstd")
    add("runs zstd", [int(x) for x in np.repeat(rng.integers(0, 100, N // 50), 50)], pa.int32(), compression="zstd")
    for t in (pa.float16(), pa.float32(), pa.float64()):
        values = rng.random(N).astype(t.to_pandas_dtype())
        add(f"{t} random", list(values), t)
        smooth = np.sin(np.arange(N) / 100).astype(t.to_pandas_dtype())
        add(f"{t} smooth zstd", list(smooth), t, compression="zstd")
        add(f"{t} bss lz4", list(smooth), t, compression="lz4", bss="on")
        special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5]
        add(f"{t} special", list(np.array([special[i % 6] for i in range(N)], t.to_pandas_dtype())), t)


def _add_exact(cases, rng):
    N, add = cases.count, cases.add
    add("bool", [bool(x) for x in rng.integers(0, 2, N)], pa.bool_())
    add("bool constant", [True] * N, pa.bool_())
    for precision, t in ((38, pa.decimal128(38, 4)), (60, pa.decimal256(60, 6))):
        digits = precision - 8
        values = [decimal.Decimal(int(x) * 10 ** (digits - 18)).scaleb(-2) for x in rng.integers(-(10**17), 10**17, N)]
        add(f"{t}", values, t)
        add(f"{t} few distinct", [values[i] for i in rng.integers(0, 20, N)], t)
        add(f"{t} constant", [values[0]] * N, t)


def _add_times(cases, rng):
    N, add = cases.count, cases.add
    day = datetime.date(2001, 2, 3)
    add("date32", [day + datetime.timedelta(int(x)) for x in rng.integers(-9999, 9999, N)], pa.date32())
    add("date64", [day + datetime.timedelta(int(x)) for x in rng.integers(-9999, 9999, N)], pa.date64())
    for t in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("ns"),
              pa.timestamp("us", "Europe/Berlin"), pa.duration("ms")):
        cases.all[f"{t}"] = (pa.array(rng.integers(0, 86000, N), pa.int32() if "time32" in str(t) else pa.int64()).cast(t),
                         None, t, {})
    add("null", [None] * N, pa.null())


def _add_bytes(cases, rng):
    N, rows, add, full = cases.count, cases.rows, cases.add, cases.full
    for width in (3, 16, 40, 300):
        count = N if width < 100 else rows(700)
        add(f"fixed binary {width}", [bytes(rng.integers(0, 256, width, dtype=np.uint8)) for _ in range(count)],
            pa.binary(width))
        add(f"fixed binary {width} constant", [bytes(range(width % 256)) * 1 + bytes(width - width % 256)] * count,
            pa.binary(width))
    add("fixed binary 16 few distinct", [bytes([int(x)] * 16) for x in rng.integers(0, 50, N)], pa.binary(16))
    for t in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        binary = "binary" in str(t)

        def to(values, binary=binary):
            return [v.encode() for v in values] if binary else values

        add(f"{t} short", to(_words(rng, N, 0, 12)), t)
        add(f"{t} tiny", to(_words(rng, 12, 0, 5)), t)
        few = _words(rng, 30, 3, 9)
        add(f"{t} few distinct", to([few[i] for i in rng.integers(0, 30, rows(3000))]), t)
        add(f"{t} long few distinct", to([w * 60 for w in _words(rng, 5, 8, 9)] * rows(200)), t)
        add(f"{t} text", to(_text(rng, N, 12)), t)
        add(f"{t} constant", to(["same"] * N), t)
        add(f"{t} empty", to([""] * N), t)
        add(f"{t} wide", to(_text(rng, rows(600), 90)), t)
        add(f"{t} very wide", to(_text(rng, rows(12), 9000 if full else 10)), t)
        for compression in ("zstd", "lz4", "none", "fsst"):
            add(f"{t} {compression}", to(_text(rng, rows(2000), 12)), t, compression=compression)
            add(f"{t} wide {compression}", to(_text(rng, rows(300), 90)), t, compression=compression)
        add(f"{t} short fullzip", to(_words(rng, N, 0, 12)), t, structural_encoding="fullzip")
        add(f"{t} wide miniblock", to(_text(rng, rows(300), 90)), t, structural_encoding="miniblock")


def _add_lists(cases, rng):
    N, rows, add = cases.count, cases.rows, cases.add
    for item, dim in ((pa.float32(), 4), (pa.float32(), 128), (pa.float16(), 3), (pa.int8(), 7), (pa.float64(), 64)):
        t = pa.list_(item, dim)
        count = N if dim < 50 else rows(700)
        values = [list(row) for row in rng.integers(0, 100, (count, dim)).astype(item.to_pandas_dtype())]
        add(f"fsl {item} {dim}", values, t)
        holes = [[None if (i + k) % 5 == 0 else v for k, v in enumerate(row)] for i, row in enumerate(values)]
        add(f"fsl {item} {dim} null items", holes, t)
        add(f"fsl {item} {dim} items all null", [[None] * dim] * count, t)
        add(f"fsl {item} {dim} zstd", values, t, compression="zstd")
        add(f"fsl {item} {dim} constant", [values[0]] * count, t)
    add("fsl bool 12", [[bool(x) for x in row] for row in rng.integers(0, 2, (N, 12))], pa.list_(pa.bool_(), 12))
    add("fsl bool 12 null items",
        [[None if x == 2 else bool(x) for x in row] for row in rng.integers(0, 3, (N, 12))], pa.list_(pa.bool_(), 12))
    nested = pa.list_(pa.list_(pa.int16(), 3), 2)
    plain = [[[int(x) for x in inner] for inner in row] for row in rng.integers(0, 99, (N, 2, 3))]
    add("fsl fsl", plain, nested)
    add("fsl fsl null items", [[None if i % 5 == 0 else row[0], [row[1][0], None, 3]] for i, row in enumerate(plain)],
        nested)
    add("fsl fsl null items fullzip",
        [[None if i % 5 == 0 else row[0], [row[1][0], None, 3]] for i, row in enumerate(plain)], nested,
        structural_encoding="fullzip")


def _lists(rng, n, low, high, make):
    return [[make() for _ in range(rng.integers(low, high))] for _ in range(n)]


def _add_nested_lists(cases, rng):
    rows, add = cases.rows, cases.add

    def some():
        return int(rng.integers(0, 1000))

    li = pa.list_(pa.int32())
    base = _lists(rng, rows(2000), 1, 6, some)
    ragged = _lists(rng, rows(2000), 0, 6, some)
    holes = [_nulls(x, 4) for x in ragged]
    add("list int32 no empty", base, li)
    add("list int32", ragged, li)
    add("list int32 null items", holes, li)
    add("list int32 all empty", [[]] * rows(2000), li)
    add("list int32 all items null", [[None] * (i % 4) for i in range(rows(2000))], li)
    add("list int32 constant items", [[7] * (i % 4) for i in range(rows(2000))], li)
    add("list int32 long", _lists(rng, 9, 0, 9000 if cases.full else 9, some), li)
    add("list int32 sparse", [[1, i] if i % 500 == 0 else [] for i in range(rows(60000))], li)
    add("list int32 fullzip", holes, li, structural_encoding="fullzip")
    add("large_list int32", holes, pa.large_list(pa.int32()))
    add("list string", [_nulls(_words(rng, int(k), 1, 9)) for k in rng.integers(0, 6, rows(1000))], pa.list_(pa.string()))
    add("list string wide", [_text(rng, int(k), 90) for k in rng.integers(0, 4, rows(300))], pa.list_(pa.string()))
    add("list bool", _lists(rng, rows(900), 0, 9, lambda: bool(rng.integers(0, 2))), pa.list_(pa.bool_()))
    add("list null type", [[None] * (i % 3) for i in range(rows(900))], pa.list_(pa.null()))
    for dim in (4, 128):
        add(f"list fsl {dim}", [rng.random((int(k), dim)).tolist() for k in rng.integers(0, 4, rows(200))],
            pa.list_(pa.list_(pa.float32(), dim)))
    ll = pa.list_(li)
    add("list list", [_lists(rng, int(k), 0, 4, some) for k in rng.integers(0, 4, rows(1000))], ll)
    add("list list holes", [_nulls([_nulls(x, 4) for x in _lists(rng, int(k), 0, 5, some)], 3)
                            for k in rng.integers(0, 5, rows(1500))], ll)
    add("list list list", [_nulls([_lists(rng, int(j), 0, 3, some) for j in rng.integers(0, 3, int(k))], 4)
                           for k in rng.integers(0, 4, rows(1500))], pa.list_(pa.large_list(li)))
    deep_type, deep = pa.int32(), [1, None, 3]
    for k in range(8):
        deep_type = pa.list_(deep_type)
        deep = [deep, [], None, deep[:1]] if k % 2 else [deep, None, []]
    add("list deep", deep * 40, deep_type)
    add("list deep fullzip", deep * 40, deep_type, structural_encoding="fullzip")


def _add_structs(cases, rng):
    rows, add = cases.rows, cases.add
    N = rows(1500)
    li = pa.list_(pa.int32())
    pair = pa.struct([("x", pa.int32()), ("y", pa.string())])

    def row(i):
        return {"x": int(rng.integers(0, 99)), "y": "v%d" % i}

    def hole(i):
        return {"x": None if i % 3 == 0 else i, "y": None if i % 5 == 0 else "v%d" % i}

    add("struct", [row(i) for i in range(N)], pair)
    add("struct null fields", [hole(i) for i in range(N)], pair)
    add("struct fullzip", [hole(i) for i in range(N)], pair, structural_encoding="fullzip")
    add("struct empty", [{}] * 100, pa.struct([]))
    add("struct null type", [{"n": None, "x": i} for i in range(N)], pa.struct([("n", pa.null()), ("x", pa.int32())]))
    nested = pa.struct([("p", pa.struct([("q", pair)])), ("z", pa.int64()), ("v", pa.list_(pa.float32(), 3))])
    add("struct struct", [{"p": None if i % 4 == 0 else {"q": None if i % 3 == 0 else hole(i)}, "z": i,
                           "v": None if i % 11 == 0 else [1.0, None, i]} for i in range(N)], nested)
    add("struct list", [{"l": None if i % 5 == 0 else [None if j % 3 == 2 else j for j in range(i % 4)], "k": i}
                        for i in range(N)], pa.struct([("l", li), ("k", pa.int32())]))
    add("list struct", [[row(0) for _ in range(i % 4)] for i in range(N)], pa.list_(pair))
    add("list struct holes", [[None if (i + j) % 5 == 0 else hole(j) for j in range(i % 4)] for i in range(N)],
        pa.list_(pair))
    inner = pa.struct([("l", pa.large_list(pa.int32())), ("k", pa.string())])
    add("list struct list", [[None if (i + j) % 5 == 0 else
                              {"l": None if (i + j) % 7 == 0 else [None if k == 1 else k for k in range((i + j) % 4)],
                               "k": "k%d" % j} for j in range(i % 4)] for i in range(N)], pa.list_(inner))
    add("map", [[("k%d" % j, None if j == 2 else j) for j in range(i % 4)] for i in range(N)],
        pa.map_(pa.string(), pa.int32()))
    add("map of lists", [[(j, None if j == 2 else ["a"] * j) for j in range(i % 4)] for i in range(N)],
        pa.map_(pa.int64(), pa.list_(pa.string())))
    one = pa.struct([("x", pa.int32())])
    add("fsl struct", [[None if (i + j) % 4 == 0 else {"x": None if j == 1 else i} for j in range(3)]
                       for i in range(rows(300))], pa.list_(one, 3))
    add("struct fsl struct", [None if i % 9 == 4 else {"f": [{"x": i}, {"x": None}]} for i in range(rows(300))],
        pa.struct([("f", pa.list_(one, 2))]))


def _build(full):
    cases = _Cases(full)
    rng = _rng("hints")
    families = (_add_numbers, _add_exact, _add_times, _add_bytes, _add_lists, _add_nested_lists, _add_structs)
    for family in families:
        family(cases, rng)
    return cases.all


NAMES = sorted(_build(full=False))
_cases = functools.cache(lambda: _build(full=True))

# Families whose columns of one or no valid value are read by default; the others differ only in width.
_SPARSE = ("int32 random", "int64 random", "bool", "string short", "large_string wide", "fsl float 4", "fsl float 128",
           "list int32", "list list", "list string", "list struct", "struct", "map")


def is_quick(name, version):
    """Whether a case is read by default; PENNON_FULL_MATRIX=1 reads all."""
    if version == "2.0" and "nulls" not in name:
        return False
    base, _, suffix = name.rpartition(" ")
    if suffix in ("valid", "null") and len(name.split()) > 1:
        return name.startswith(_SPARSE)
    if name.startswith(("int8", "uint8", "int16", "uint16", "uint32", "uint64", "large_binary")):
        return "random" in name or "short" in name
    return True


def make(name):
    """The field and array of a case."""
    values, change, t, metadata = _cases()[name]
    if isinstance(values, pa.Array):
        array = values
    elif change is None:
        array = pa.nulls(len(values), t)
    else:
        array = pa.array(change(values), t)
    return pa.field("c", t, True, metadata or None), array
