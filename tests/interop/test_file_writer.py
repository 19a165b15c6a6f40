"""Data files that pennon writes: what the matrix (test_matrix.py) does not have.

Columns of different lengths in one file, values that must come out small, columns of many pages.
"""

import random

import numpy as np
import pyarrow as pa
import pytest

from . import matrix_cases as cases
from .columns import NULLS, make
from .data_files import VERSIONS, lance_file, read_by_pylance, same, write_by_pennon, wrong_for_pylance

SKIP = 3
# Not 0 first: the reference library takes a file whose first column is empty for one of 2.0, and panics.
LENGTHS = [1, 0, 2, 7, 1000, 1024, 1025, 5000, 70000]
TYPES = [pa.bool_(), pa.int8(), pa.uint64(), pa.float32(), pa.string(), pa.large_binary(), pa.decimal256(76, 9), pa.binary(40),
         pa.list_(pa.float32(), 4), pa.dictionary(pa.int16(), pa.string()), pa.list_(pa.int32()), cases.PAIR,
         pa.list_(cases.PAIR)]


def source_table(length, nulls, version):
    rng = np.random.default_rng([length, len(nulls)])
    share = NULLS["none" if version == "2.0" and nulls == "some" else nulls]
    arrays, fields = [], []
    for i, t in enumerate(TYPES):
        own = share if cases.holds(t, pa.types.is_struct) else NULLS[nulls]
        arrays.append(make(t, None, own, length + 2 * SKIP, rng))
        fields.append(pa.field(f"{i}|{length}", t))
    return pa.table(arrays, pa.schema(fields))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("nulls", ["none", "some"])
def test_columns_of_different_lengths(version, nulls, tmp_path):
    tables = [source_table(length, nulls, version) for length in LENGTHS]
    path = tmp_path / "out.lance"
    write_by_pennon(path, tables, version, tmp_path, SKIP)
    bad = []
    for length, table in zip(LENGTHS, tables):
        if length > 0 or version == "2.0":
            got = read_by_pylance(path, "all", columns=table.column_names)
            bad += [name for name in table.column_names if not same(got[name], table[name].slice(SKIP, length))]
    assert bad == []


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_small_ints_are_bit_packed(version, tmp_path):
    rng = np.random.default_rng(5)
    values = pa.array(rng.integers(0, 8, 50_000), pa.int64())
    table = pa.table([values], pa.schema([pa.field("c", pa.int64())]))
    path = tmp_path / "out.lance"
    write_by_pennon(path, [table], version, tmp_path)
    assert path.stat().st_size < 50_000 * 3 // 8 + 2500
    assert wrong_for_pylance(path, table, random.Random(5)) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_long_columns_are_cut_into_pages(version, tmp_path):
    rng = np.random.default_rng(6)
    rows = 6000
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.standard_normal(rows * 768), pa.float32()), 768)
    numbers_ = pa.array(rng.integers(0, 1 << 62, rows))
    fields = [pa.field("v", vectors.type),
              pa.field("n", pa.int64())]
    table = pa.table([vectors, numbers_], pa.schema(fields))
    path = tmp_path / "out.lance"
    write_by_pennon(path, [table], version, tmp_path)
    columns = lance_file.LanceFileReader(str(path)).metadata().columns
    assert len(columns[0].pages) > 1 and len(columns[1].pages) == 1
    assert wrong_for_pylance(path, table, random.Random(6)) == []
