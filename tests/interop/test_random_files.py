"""Round trips of random files: nested schemas, nulls, hints, pages and batches by chance, of 0 to 100,000 rows.

What either engine writes, pennon reads; what pennon writes, pylance reads. The judge is what was written. A seed is one
file; a failure names it. `PENNON_SEED=17 PENNON_RANDOM_FILES=1` runs file 17 alone, a larger number looks for more.
"""

import os
import random

import numpy as np
import pyarrow as pa
import pytest

from . import matrix_cases as cases
from .columns import STRING_SHAPES, Nulls, has_layers, is_string, leaf, make
from .data_files import (VERSIONS, without_offsets, write_by_pennon, write_by_pylance, wrong_for_pennon,
                         wrong_for_pylance)

FIRST = int(os.environ.get("PENNON_SEED", "1"))
COUNT = int(os.environ.get("PENNON_RANDOM_FILES", "60"))
# Around the edges of chunks, of the largest chunk, and the most that is asked for.
LENGTHS = [0, 1, 2, 7, 100, 1023, 1024, 1025, 4095, 4097, 32_767, 32_769, 100_000]
LEAVES = [pa.bool_(), *cases.INTS, *cases.FLOATS, *cases.TIMES, *cases.DECIMALS, *cases.FIXED_BINARIES[:4], *cases.STRINGS,
          *cases.VECTORS, *cases.WIDE_VECTORS[:1], *cases.DICTIONARIES, pa.null()]
# Their rows may be null, their children may not.
PACKED = [pa.struct([child.with_nullable(False) for child in t]) for t in cases.FIXED_PACKED]
HINTS = {
    "compression": ["zstd", "lz4", "fsst", "none"], "compression-level": ["1", "5"], "bss": ["on", "off", "auto"],
    "rle-threshold": ["0.01", "0.5", "1.0"], "minichunk-size": ["128", "2048", "20000"], "dict-divisor": ["3", "100"],
    "dict-size-ratio": ["0.3", "0.95"], "dict-max-size": ["100"], "dict-values-compression": ["zstd", "lz4", "none"],
}


class Schema:
    """Makes types and metadata that a version holds."""

    def __init__(self, rng, version):
        self.rng, self.version = rng, version

    def hints(self, t):
        if self.rng.random() < 0.7:
            return {}
        names = self.rng.sample(list(HINTS), self.rng.choice([1, 1, 2, 3]))
        hints = {cases.HINT + name: self.rng.choice(HINTS[name]) for name in names}
        # pylance panics on it in 2.0: on large types, and on pages without a value.
        if self.version == "2.0" and hints.get(cases.HINT + "compression") == "fsst":
            hints = {}
        return hints

    def leaf(self):
        while True:
            t = self.rng.choice(LEAVES)
            if t != pa.null() or self.rng.random() < 0.3:
                return t, self.hints(t)

    def type(self, depth, in_list=False):
        """A type of up to `depth` layers, and the metadata of its field."""
        kinds = ["leaf", "list", "list", "large_list", "struct", "struct", "blob"] + ["map"] * (self.version == "2.2")
        if self.version != "2.0" or not in_list:  # pylance panics in 2.0 when there is none in any list
            kinds.append("packed")
        kind = self.rng.choice(kinds) if depth > 0 else "leaf"
        if kind == "leaf":
            return self.leaf()
        if kind == "packed":
            return self.rng.choice(PACKED), cases.PACKED
        if kind == "blob":
            return pa.large_binary(), cases.BLOB if depth == self.depth else {}  # at top level
        if kind == "struct":
            count = self.rng.randrange(1, 4)
            return pa.struct([self.field(f"f{i}", depth - 1, in_list) for i in range(count)]), {}
        if kind == "map":
            t, metadata = self.type(depth - 1, True)
            return pa.map_(pa.string(), pa.field("value", t, True, metadata)), {}
        return (pa.list_ if kind == "list" else pa.large_list)(self.field("item", depth - 1, True)), {}

    def field(self, name, depth, in_list=False):
        t, metadata = self.type(depth, in_list)
        return pa.field(name, t, True, metadata or None)

    def column(self, name):
        depth = self.depth = self.rng.choice([0, 1, 2, 3, 4])
        field = self.field(name, depth)
        layout = self.rng.choice(["fullzip", "miniblock", None, None, None, None])
        bits = cases.holds(field.type, lambda t: pa.types.is_fixed_size_list(t) and cases.holds(t, pa.types.is_boolean))
        marked = field.metadata and (b"packed" in field.metadata or b"lance-encoding:blob" in field.metadata)
        if layout is None or marked or (layout == "fullzip" and (bits or cases.holds(field.type, pa.types.is_struct))):
            return field
        return field.with_metadata({**(field.metadata or {}), cases.HINT + "structural-encoding": layout})


def weight(t):
    """About how many leaf values a row of `t` has, lists being 2 long."""
    if pa.types.is_fixed_size_list(t):
        return t.list_size * weight(t.value_type)
    below = sum(weight(t.field(i).type) for i in range(t.num_fields))
    return max(1, below) * (2 if cases.is_list(t) or pa.types.is_map(t) else 1)


def values_of(rng, field, nulls, length, numbers):
    shape = None
    if not has_layers(field.type) and length < 40_000:
        if is_string(field.type):
            shape = rng.choice([s for s in STRING_SHAPES if s not in ("huge", "paragraphs") or length < 300])
        elif field.type in (*cases.INTS, *cases.TIMES):
            shape = rng.choice(["random", "small", "runs", "few", "constant", "sorted"])
        elif field.type in cases.FLOATS:
            shape = rng.choice(["random", "unit", "smooth", "special", "constant", "few", "runs"])
    return make(field.type, shape, nulls, length, numbers, lists=rng.choice(["mixed", "mixed", "full", "sparse", "even"]))


def random_nulls(rng, version):
    share = rng.choice([0, 0.02, 0.3, 0.9])
    return Nulls(share, rng.choice([0, share]), rng.choice([0, share]), structs=version != "2.0")


def random_splits(rng, table):
    """The table in one to six batches of any sizes, none empty."""
    cuts = sorted({rng.randrange(1, table.num_rows) for _ in range(rng.randrange(6))}) if table.num_rows > 1 else []
    edges = [0, *cuts, table.num_rows]
    return [table.slice(start, end - start) for start, end in zip(edges, edges[1:])] if table.num_rows else []


def random_table(seed):
    rng = random.Random(seed)
    version = VERSIONS[seed % 3]
    length = rng.choice(LENGTHS) if seed % 4 else rng.choice([100_000, rng.randrange(100_000)])
    numbers = np.random.default_rng(seed)
    schema, columns, fields = Schema(rng, version), [], []
    budget = 3_000_000  # leaf values
    for i in range(rng.randrange(1, 8)):
        field = schema.column(f"c{i}")
        cost = length * weight(field.type)
        if cost > budget:
            continue
        budget -= cost
        columns.append(values_of(rng, field, random_nulls(rng, version), length, numbers))
        fields.append(field)
    if not fields:
        fields, columns = [pa.field("c", pa.int32())], [leaf(pa.int32(), "random", length, numbers, numbers.random(length) < 0.1)]
    return rng, version, pa.Table.from_arrays(columns, schema=pa.schema(fields))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_file(seed, tmp_path):
    rng, version, table = random_table(seed)
    said = f"PENNON_SEED={seed} PENNON_RANDOM_FILES=1: {version}, {table.num_rows} rows of {table.schema}"
    print(said)
    want = without_offsets(table)
    parts = random_splits(rng, table)
    options = rng.choice([{}, {"data_cache_bytes": 1}, {"data_cache_bytes": 50_000, "max_page_bytes": 10_000}])
    batches = [[column.combine_chunks() for column in without_offsets(part).columns] for part in parts]
    write_by_pylance(tmp_path / "theirs.lance", want.schema, batches, version, **options)
    assert wrong_for_pennon(tmp_path / "theirs.lance", want, version, rng, tmp_path) == [], said
    ours = tmp_path / "ours.lance"
    write_by_pennon(ours, [pa.concat_tables(parts) if parts else table], version, tmp_path)
    assert wrong_for_pennon(ours, want, version, rng, tmp_path) == [], said
    if want.num_rows > 0:
        assert wrong_for_pylance(ours, want, rng) == [], said
