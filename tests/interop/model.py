"""A plain model of a table: lists of Python values, overlays applied by assignment, deletions by a set.

It is the judge of the interop tests, so it knows nothing of files, bitmaps or versions.
"""

import datetime
import decimal

import numpy as np
import pyarrow as pa

STORAGE_VERSIONS = ["2.0", "2.1", "2.2"]

_WORDS = "river harbour lantern meadow engine violin glacier orchard canyon naïve Ω ''".split()


def _text(rng, index):
    words = rng.choice(_WORDS, size=int(rng.integers(0, 5)))
    return " ".join(words)


def _long_text(rng, index):
    return chr(97 + index % 26) * int(rng.integers(250, 700))


COLUMN_TYPES = {
    "i8": (pa.int8(), lambda rng, i: int(rng.integers(-128, 128))),
    "i32": (pa.int32(), lambda rng, i: int(rng.integers(0, 1000))),
    "i64": (pa.int64(), lambda rng, i: int(rng.integers(-(2**62), 2**62))),
    "u16": (pa.uint16(), lambda rng, i: i % 7),
    "u64": (pa.uint64(), lambda rng, i: int(rng.integers(2**63, 2**64, dtype=np.uint64))),
    "f32": (pa.float32(), lambda rng, i: float(np.float32(rng.normal()))),
    "f64": (pa.float64(), lambda rng, i: float(rng.normal()) if i % 5 else float("inf")),
    "flag": (pa.bool_(), lambda rng, i: bool(rng.integers(0, 2))),
    "text": (pa.string(), _text),
    "long_text": (pa.string(), _long_text),
    "large_text": (pa.large_string(), _text),
    "blob": (pa.binary(), lambda rng, i: bytes(rng.integers(0, 256, int(rng.integers(0, 12)), dtype=np.uint8))),
    "uuid": (pa.binary(16), lambda rng, i: bytes(rng.integers(0, 256, 16, dtype=np.uint8))),
    "day": (pa.date32(), lambda rng, i: datetime.date(1970, 1, 1) + datetime.timedelta(int(rng.integers(-9999, 9999)))),
    "at": (pa.timestamp("us"), lambda rng, i: datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=i * 61)),
    "price": (pa.decimal128(12, 2), lambda rng, i: decimal.Decimal(int(rng.integers(-(10**9), 10**9))).scaleb(-2)),
    "vector": (pa.list_(pa.float32(), 4), lambda rng, i: [float(np.float32(x)) for x in rng.normal(size=4)]),
    "wide": (pa.list_(pa.float32(), 100), lambda rng, i: [float(np.float32(x)) for x in rng.normal(size=100)]),
}


def random_value(rng, name, index, null_share):
    if null_share and rng.random() < null_share:
        return None
    return COLUMN_TYPES[name][1](rng, index)


class Model:
    """Fragments in order; a fragment is a dict column -> list of values, plus its deleted offsets."""

    def __init__(self, rng, columns, fragment_rows, null_share):
        self.rng = rng
        self.null_share = null_share
        self.columns = columns
        self.schema = pa.schema([("id", pa.int64())] + [(c, COLUMN_TYPES[c][0]) for c in columns])
        self.fragments = []
        self.deleted = []
        first = 0
        for rows in fragment_rows:
            values = {c: [random_value(rng, c, i, null_share) for i in range(rows)] for c in columns}
            values["id"] = list(range(first, first + rows))
            self.fragments.append(values)
            self.deleted.append(set())
            first += rows

    def table_of(self, fragment):
        """The rows of one fragment as first written, deleted ones included."""
        return pa.table({f.name: pa.array(self.fragments[fragment][f.name], f.type) for f in self.schema}, self.schema)

    def random_cells(self, fragment, column):
        """(offsets, values) of a random overlay of one column, in ascending order of offset."""
        rows = len(self.fragments[fragment]["id"])
        shape = self.rng.integers(0, 4)
        if shape == 0:  # a run
            first = int(self.rng.integers(0, rows))
            offsets = list(range(first, min(rows, first + int(self.rng.integers(1, 50)))))
        elif shape == 1:  # every row
            offsets = list(range(rows))
        else:
            count = int(self.rng.integers(1, rows + 1)) if shape == 2 else 1
            offsets = sorted(int(x) for x in self.rng.choice(rows, count, replace=False))
        return offsets, [random_value(self.rng, column, i, max(self.null_share, 0.1)) for i in range(len(offsets))]

    def overlay(self, fragment, column, offsets, values):
        for offset, value in zip(offsets, values):
            self.fragments[fragment][column][offset] = value

    def delete(self, keep_out):
        """Deletes the live rows whose id satisfies the predicate; returns how many."""
        gone = 0
        for fragment, values in enumerate(self.fragments):
            for offset, id_ in enumerate(values["id"]):
                if offset not in self.deleted[fragment] and keep_out(id_):
                    self.deleted[fragment].add(offset)
                    gone += 1
        return gone

    def live(self):
        """(fragment, offset) of the live rows in scan order."""
        return [
            (f, o) for f, values in enumerate(self.fragments) for o in range(len(values["id"])) if o not in self.deleted[f]
        ]

    def rows(self, positions=None):
        """Live rows as a pyarrow table: all, or those at the positions asked."""
        live = self.live()
        chosen = live if positions is None else [live[p] for p in positions]
        return pa.table(
            {f.name: pa.array([self.fragments[a][f.name][o] for a, o in chosen], f.type) for f in self.schema}, self.schema
        )


def assert_same(found, expected, what):
    """Equal values in equal order; NaN never occurs here, and chunking does not matter."""
    assert found.num_rows == expected.num_rows, f"{what}: {found.num_rows} rows, expected {expected.num_rows}"
    for name in expected.column_names:
        a = found[name].combine_chunks()
        b = expected[name].combine_chunks()
        assert a.type == b.type, f"{what}: {name} is {a.type}, expected {b.type}"
        if not a.equals(b):
            left, right = a.to_pylist(), b.to_pylist()
            bad = [i for i in range(len(left)) if left[i] != right[i]]
            assert not bad, f"{what}: {name}[{bad[0]}] is {left[bad[0]]!r}, expected {right[bad[0]]!r} ({len(bad)} differ)"
