"""Data files that pennon writes are as small as those of the reference library for the same columns.

Over the matrix (test_matrix.py), longer columns, and the tables of the benchmarks: all columns of a family together may
take 5 % more, one column or table 30 % more. A column's bytes are those of its pages, padding included, and of its
metadata. `-s` prints the table.
"""

import dataclasses
import struct
import sys

import pytest

from . import matrix_cases as cases
from .data_files import ROOT, VERSIONS, first_columns, lance_file, stored, without_offsets, write_by_pennon, write_by_pylance
from .matrix_cases import MATRIX, crossed
from .test_matrix import SKIP, sources, sources_of, wanted, write_pages

sys.path.insert(0, str(ROOT / "benchmarks"))
import workload  # noqa: E402

MOST_TOGETHER, MOST_EACH = 1.05, 1.3
FAMILIES = list(MATRIX)


def columns_bytes(path):
    """Bytes of each column: its pages in whole blocks of 64 bytes, and its metadata."""
    raw = path.read_bytes()
    _, offsets, _, _, count, _, _ = struct.unpack("<QQQIIHH", raw[-40:-4])
    columns = lance_file.LanceFileReader(str(path)).metadata().columns
    sizes = [struct.unpack_from("<QQ", raw, offsets + 16 * i)[1] for i in range(count)]
    return [size + sum(-(-buffer.size // 64) * 64 for page in column.pages for buffer in page.buffers)
            for size, column in zip(sizes, columns)]


def sizes(files, version, folder):
    """(case, bytes by pennon, bytes by pylance) of all columns of the files."""
    for group, table in files:
        want = wanted(group, table)
        write_by_pennon(folder / "ours.lance", [stored(table)], version, folder, SKIP)
        # Where a case wants pages cut, both cut them as they do by themselves.
        whole = [dataclasses.replace(case, pages=()) for case in group]
        write_pages(folder / "theirs.lance", whole, want, version)
        ours, theirs = columns_bytes(folder / "ours.lance"), columns_bytes(folder / "theirs.lance")
        first = [*first_columns(want.schema, version), len(ours)]
        for case, start, end in zip(group, first, first[1:]):
            yield case.name, sum(ours[start:end]), sum(theirs[start:end])


def check(rows, title):
    for name, ours, theirs in rows:
        print(f"{title} | {name} | {ours} {theirs} {ours / theirs:.2f}")
    total = sum(ours for _, ours, _ in rows) / sum(theirs for _, _, theirs in rows)
    print(f"{title}: {len(rows)} columns, together {total:.3f}")
    assert [row for row in rows if row[1] > MOST_EACH * row[2]] == []
    assert total <= MOST_TOGETHER


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_columns_of_the_matrix(family, version, tmp_path):
    check(list(sizes(sources(family, version), version, tmp_path)), f"{version} {family}")


def long_columns():
    nulls = ["none", "some", "all"]
    yield from crossed([*cases.INTS, cases.TIMES[0], cases.TIMES[10]], ["random", "small", "runs", "few"], nulls, rows=20_000)
    yield from crossed(cases.FLOATS[1:], ["random", "smooth", "few"], nulls, rows=20_000)
    yield from crossed([cases.INTS[6], cases.TIMES[10]], ["sorted", "negative"], nulls, rows=20_000)
    yield from crossed(cases.STRINGS, ["short", "constant", "few", "thousands", "sentences"], nulls, rows=20_000)
    yield from crossed(cases.STRINGS, ["long", "long few", "paragraphs"], nulls, rows=4000)
    yield from crossed([*cases.DECIMALS, *cases.FIXED_BINARIES[2:4]], ["random", "few"], nulls, rows=20_000)
    yield from crossed(cases.VECTORS[:2] + cases.WIDE_VECTORS[:1], ["plain", "null items"], nulls, rows=4000)
    yield from crossed(cases.DICTIONARIES[:9:4], ["plain"], nulls, rows=20_000)
    yield from crossed(cases.LISTS[2:7:2] + cases.STRUCTS[:1], [""], nulls, rows=20_000)


@pytest.mark.parametrize("version", VERSIONS)
def test_long_columns(version, tmp_path):
    check(list(sizes(sources_of(list(long_columns()), version), version, tmp_path)), f"{version} long")


WORKLOAD = {
    "W1": workload.wide(rows=20_000, fragment_rows=20_000),
    "W2": workload.narrow(rows=300_000, fragment_rows=300_000),
    "W6": workload.vector(rows=20_000, fragment_rows=20_000),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_tables_of_the_workload(version, tmp_path):
    """W1 to W7 are three tables; the others are updates of these."""
    rows = []
    for name, spec in WORKLOAD.items():
        table = without_offsets(workload.reader(spec).read_all())
        write_by_pennon(tmp_path / "ours.lance", [table], version, tmp_path)
        batches = [batch.columns for batch in table.to_batches()]
        write_by_pylance(tmp_path / "theirs.lance", table.schema, batches, version)
        rows.append((name, (tmp_path / "ours.lance").stat().st_size, (tmp_path / "theirs.lance").stat().st_size))
    check(rows, version)
