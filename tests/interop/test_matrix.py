"""The matrix of data files, both ways: type × nulls × shape of the data × hints, for versions 2.0, 2.1 and 2.2.

What pylance writes is read by pennon, and what pennon writes is read by pylance and by pennon, value for value: whole,
in ranges and by single rows. The judge is what was written. Nothing is skipped: a case that pylance refuses is one of
`test_what_the_reference_library_refuses`, which fails when pylance does it after all. `test_list` prints the counts and
writes all names to `matrix.txt` in the build folder.
"""

import collections
import os
import random

import pyarrow as pa
import pytest

from . import data_files
from .data_files import ROOT, VERSIONS, Refused, without_offsets, wrong_for_pennon, wrong_for_pylance
from .matrix_cases import MATRIX, refusal

SKIP = 3  # rows at both ends that pennon's writer gets and leaves out, so that it writes slices
COLUMNS = 150  # of one file
EVERY = [(family, version) for family in MATRIX for version in VERSIONS]


def sources(family, version):
    return sources_of(MATRIX[family], version)


def sources_of(all_cases, version):
    """The cases that pylance writes and reads, as (cases, table with SKIP rows at both ends), a file each."""
    groups = collections.defaultdict(list)
    for case in all_cases:
        if refusal(case, version) is None:
            key = (case.rows, case.pages, case.name if case.is_alone else "")
            files = groups[key]
            if not files or len(files[-1]) == COLUMNS:
                files.append([])
            files[-1].append(case)
    for files in groups.values():
        for cases in files:
            yield cases, table_of(cases, version)


def table_of(cases, version):
    fields = [case.field.with_name(f"{i}") for i, case in enumerate(cases)]
    return pa.Table.from_arrays([case.array(version, 2 * SKIP) for case in cases], schema=pa.schema(fields))


def wanted(cases, table):
    """What a file has of `table`."""
    return without_offsets(table.slice(SKIP, table.num_rows - 2 * SKIP))


def name_them(bad, cases):
    """The findings by names of cases; a finding is (number of the column or message, read)."""
    return [f"{cases[int(what)].name if what.isdigit() else what}: {read}" for what, read in bad]


def write_pages(path, cases, want, version):
    """By pylance, each batch a page if the cases want pages."""
    if want.num_rows == 0:
        batches, options = [], {}
    elif not cases[0].pages:
        batches, options = [want.combine_chunks().columns], {}
    else:
        step = -(-want.num_rows // len(cases[0].pages))
        parts = [without_offsets(want.slice(at, step)) for at in range(0, want.num_rows, step)]
        batches, options = [part.columns for part in parts], {"data_cache_bytes": 1, "max_page_bytes": 4096}
    batches = [[column.combine_chunks() for column in columns] for columns in batches]
    data_files.write_by_pylance(path, want.schema, batches, version, **options)


@pytest.mark.parametrize("family, version", EVERY)
def test_pennon_reads_what_pylance_writes(family, version, tmp_path):
    bad, rng = [], random.Random(f"{family} {version}")
    for cases, table in sources(family, version):
        want = wanted(cases, table)
        write_pages(tmp_path / "theirs.lance", cases, want, version)
        bad += name_them(wrong_for_pennon(tmp_path / "theirs.lance", want, version, rng, tmp_path), cases)
    assert bad == []


@pytest.mark.parametrize("family, version", EVERY)
def test_both_read_what_pennon_writes(family, version, tmp_path):
    bad, rng = [], random.Random(f"{family} {version}")
    for cases, table in sources(family, version):
        want, path = wanted(cases, table), tmp_path / "ours.lance"
        data_files.write_by_pennon(path, [data_files.stored(table)], version, tmp_path, SKIP)
        bad += name_them(wrong_for_pennon(path, want, version, rng, tmp_path, ranges=1, rows=1), cases)
        if want.num_rows > 0:
            bad += name_them(wrong_for_pylance(path, want, rng), cases)
    assert bad == []


def reads_all(path, want):
    """Whether pylance reads the file of one column as `want`, whole; None if it refuses."""
    try:
        return data_files.same(data_files.read_by_pylance(path, "all").column(0), want.column(0))
    except Refused:
        return None


def reads_rows(path, want):
    """Whether pylance reads each of the first rows alone. (As ranges: when it takes a row it fails on, it aborts.)"""
    for row in range(min(want.num_rows, 40)):
        try:
            data_files.read_by_pylance(path, "range", row, 1)
        except Refused:
            return False
    return True


def step_refused(case, version, folder):
    """The step of `Refusal.step` at which pylance fails with a file of its own; pennon reads what it has written."""
    table = table_of([case], version)
    want, path = wanted([case], table), folder / "theirs.lance"
    try:
        write_pages(path, [case], want, version)
    except Refused:
        return "write"
    right = reads_all(path, want)
    if right is None:
        return "read"
    if want.num_rows > 0:
        assert wrong_for_pennon(path, want, version, random.Random(case.name), folder) == [], case.name
    return "" if right and reads_rows(path, want) else "read rows" if right else "read right"


def check_pennon(case, version, folder):
    """What pennon does with a case that pylance refuses: None if it writes and reads it, its message if it refuses."""
    table = table_of([case], version)
    path = folder / "ours.lance"
    try:
        data_files.write_by_pennon(path, [data_files.stored(table)], version, folder, SKIP)
    except Refused as error:
        return str(error)
    want = wanted([case], table)
    assert wrong_for_pennon(path, want, version, random.Random(case.name), folder) == [], case.name
    assert refusal(case, version).step in ("read", "read right") or case.rows == 0 or reads_all(path, want), case.name
    return None


def all_refusals():
    for cases in MATRIX.values():
        for case in cases:
            for version in VERSIONS:
                refused = refusal(case, version)
                if refused is not None:
                    yield case, version, refused


@pytest.mark.parametrize("version", VERSIONS)
def test_what_the_reference_library_refuses(version, tmp_path):
    """pylance refuses still, and pennon either does its half or refuses with an error that says why."""
    bad = []
    for case, at, refused in all_refusals():
        if at != version:
            continue
        step = step_refused(case, version, tmp_path)
        if step != refused.step and not (step in ("write", "read") and refused.step == "write or read"):
            bad.append(f"{case.name}: pylance does not {step}, expected: does not {refused.step}")
        message = check_pennon(case, version, tmp_path)
        if (message is None) != refused.pennon_does or (message and refused.message not in message):
            bad.append(f"{case.name}: pennon says {message}, expected {refused}")
    assert bad == []


def test_list(capsys):
    lines, counts = [], collections.Counter()
    for family, cases in MATRIX.items():
        for version in VERSIONS:
            for case in cases:
                refused = refusal(case, version)
                kind = "both ways" if refused is None else refused.text
                counts[family, version, kind] += 1
                lines.append(f"{version} | {family} | {case.name} | {kind}")
    assert len(lines) == len(set(lines)) == len(VERSIONS) * sum(map(len, MATRIX.values()))
    out = ROOT / os.environ.get("PENNON_BUILD", "build/release") / "matrix.txt"
    out.write_text("\n".join(lines) + "\n")
    with capsys.disabled():
        print(f"\nmatrix: {len(lines)} cases, listed in {out}")
        for (family, version, kind), count in counts.items():
            print(f"  {version} {family:12} {count:5} {kind}")
