"""The filter dialect end to end: on stored tables, over overlays, and on the row columns.

The rules of the dialect itself are tested beside the parser; here it is the way from a stored column to kept rows.
"""

import json
import math
import shutil

import lance
import pyarrow as pa
import pytest

import pennon

@pytest.fixture(scope="module")
def filters(project_dir):
    return json.loads((project_dir / "testdata/filter_dialect/filters.json").read_text())


@pytest.fixture(scope="module")
def exact(project_dir):
    return json.loads((project_dir / "testdata/filter_dialect/exact.json").read_text())


@pytest.fixture(scope="module")
def rows(project_dir):
    with pa.ipc.open_file(project_dir / "testdata/filter_dialect/expected.arrow") as file:
        return file.read_all().drop_columns(["_rowid", "_rowaddr"])


@pytest.fixture
def table_copy(fixtures_dir, tmp_path):
    uri = tmp_path / "t.lance"
    shutil.copytree(fixtures_dir / "filter_dialect/dataset.lance", uri)
    return str(uri)


def ids_of(dataset, condition):
    return dataset.to_table(columns=["id"], filter=condition)["id"].to_pylist()


def is_answered_by_lance(entry):
    """Lance wraps numbers around in the filters that have a note."""
    return "ids" in entry and "note" not in entry


def test_accepted_filters_keep_the_same_rows(fixtures_dir, filters):
    dataset = pennon.dataset(fixtures_dir / "filter_dialect/dataset.lance")
    wrong, asked = [], 0
    for entry in filter(is_answered_by_lance, filters):
        asked += 1
        found = ids_of(dataset, entry["filter"])
        if found != entry["ids"]:
            wrong.append((entry["filter"], found, entry["ids"]))
        assert dataset.count_rows(entry["filter"]) == len(entry["ids"])
    assert not wrong
    assert asked > 190


def test_refused_filters_are_errors_or_exact(fixtures_dir, filters, exact):
    dataset = pennon.dataset(fixtures_dir / "filter_dialect/dataset.lance")
    errors = answers = 0
    for entry in filters:
        if is_answered_by_lance(entry):
            continue
        try:
            found = ids_of(dataset, entry["filter"])
        except ValueError as error:
            assert str(error)
            errors += 1
            continue
        answers += 1
        assert found == exact[entry["filter"]], entry["filter"]
    assert errors > 20
    assert answers > 15


def test_exact_answers(fixtures_dir, exact):
    dataset = pennon.dataset(fixtures_dir / "filter_dialect/dataset.lance")
    for condition, ids in exact.items():
        assert ids_of(dataset, condition) == ids, condition


# What the overlays below set, by column and id. Fragments hold 10, 10 and 4 rows.
CHANGES = {
    "i32": {0: None, 1: 10, 2: 20, 5: 30, 8: -5, 9: None, 10: 10, 23: 0},
    "f64": {0: math.nan, 1: 0.0, 2: None, 3: 1.5, 4: -math.inf, 12: -0.0, 13: None, 20: math.nan, 22: 1e300},
    "s": {0: None, 3: "alpha", 4: "a_b", 5: "", 7: "it's", 11: "naïve", 14: None, 21: "Beta", 22: "α"},
}


def overlay(uri, rows):
    """Commits CHANGES as overlays, some cells first with values that must lose; gives the rows that result."""
    dataset = pennon.dataset(uri)
    sizes = [fragment.physical_rows for fragment in dataset.get_fragments()]
    assert sizes == [10, 10, 4]
    for fragment in range(3):
        first = 10 * fragment
        own = {
            name: {id_ - first: value for id_, value in cells.items() if first <= id_ < first + sizes[fragment]}
            for name, cells in CHANGES.items()
        }
        dataset.write_overlay(fragment, {"i32": (list(own["i32"]), [77] * len(own["i32"]))})
        dataset.write_overlay(
            fragment, {name: (list(cells), list(cells.values())) for name, cells in own.items() if cells}
        )
    for name, cells in CHANGES.items():
        values = rows[name].to_pylist()
        for id_, value in cells.items():
            values[id_] = value
        index = rows.schema.get_field_index(name)
        rows = rows.set_column(index, rows.schema.field(index), pa.array(values, rows.schema.field(index).type))
    return rows


def and3(*values):
    return False if False in values else (None if None in values else True)


def order(value):
    """NaN above every number, and zeros equal."""
    return (1, 0.0) if math.isnan(value) else (0, value + 0.0)


def compare(op):
    return lambda a, b: None if a is None or b is None else op(a, b)


equal = compare(lambda a, b: a == b)
greater = compare(lambda a, b: a > b)
float_equal = compare(lambda a, b: order(a) == order(b))
float_greater = compare(lambda a, b: order(a) > order(b))

PREDICATES = {
    "i32 = 10": lambda r: equal(r["i32"], 10),
    "i32 != 10": lambda r: compare(lambda a, b: a != b)(r["i32"], 10),
    "i32 IS NULL": lambda r: r["i32"] is None,
    "i32 IS NOT NULL": lambda r: r["i32"] is not None,
    "i32 > i8": lambda r: greater(r["i32"], r["i8"]),
    "i32 = 77": lambda r: equal(r["i32"], 77),
    "i32 IN (10, 30) AND s IS NOT NULL": lambda r: and3(None if r["i32"] is None else r["i32"] in (10, 30), r["s"] is not None),
    "f64 = 0": lambda r: float_equal(r["f64"], 0.0),
    "f64 > 0": lambda r: float_greater(r["f64"], 0.0),
    "f64 >= 1.5": lambda r: compare(lambda a, b: order(a) >= order(b))(r["f64"], 1.5),
    "f64 IS NULL OR i32 IS NULL": lambda r: r["f64"] is None or r["i32"] is None,
    "NOT f64 > 0": lambda r: compare(lambda a, b: not order(a) > order(b))(r["f64"], 0.0),
    "isnan(f64)": lambda r: None if r["f64"] is None else math.isnan(r["f64"]),
    "s = 'alpha'": lambda r: equal(r["s"], "alpha"),
    "s LIKE 'a%'": lambda r: None if r["s"] is None else r["s"].startswith("a"),
    "s < 'b'": lambda r: compare(lambda a, b: a.encode() < b.encode())(r["s"], "b"),
    "s >= t": lambda r: compare(lambda a, b: a.encode() >= b.encode())(r["s"], r["t"]),
    "s = ''": lambda r: equal(r["s"], ""),
    "length(s) = 5 OR i32 = 20": lambda r: (r["s"] is not None and len(r["s"]) == 5) or r["i32"] == 20,
}


def test_filters_over_overlays_against_plain_predicates(table_copy, rows):
    changed = overlay(table_copy, rows)
    dataset = pennon.dataset(table_copy)
    names = ["id", "i8", "i32", "f64", "s", "t"]
    listed = dataset.to_table(columns=names).to_pylist()
    assert str(listed) == str(changed.select(names).to_pylist())  # as text, so that NaN equals NaN
    kept = set()
    for condition, predicate in PREDICATES.items():
        expected = [row["id"] for row in listed if predicate(row) is True]
        assert ids_of(dataset, condition) == expected, condition
        assert dataset.count_rows(condition) == len(expected)
        kept.update(expected)
    assert len(kept) > 20


def test_filters_over_overlays_against_lance_on_plain_rows(table_copy, rows, filters, tmp_path):
    changed = overlay(table_copy, rows)
    dataset = pennon.dataset(table_copy)
    plain = lance.write_dataset(changed, str(tmp_path / "plain.lance"), max_rows_per_file=10)
    asked = differ = 0
    for entry in filter(is_answered_by_lance, filters):
        expected = plain.to_table(columns=["id"], filter=entry["filter"])["id"].to_pylist()
        assert ids_of(dataset, entry["filter"]) == expected, entry["filter"]
        asked += 1
        differ += expected != entry["ids"]
    assert asked > 170
    assert differ > 40  # the overlays matter to the filters


COMPARISONS = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
ROW_COLUMNS = ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"]


def check_row_columns(dataset, table):
    listed = table.to_pylist()
    assert dataset.to_table(columns=table.column_names).to_pylist() == listed
    for column in ROW_COLUMNS:
        known = sorted({row[column] for row in listed})
        for value in {known[0], known[len(known) // 2], known[-1], known[-1] + 1}:
            for op, holds in COMPARISONS.items():
                expected = [row["id"] for row in listed if holds(row[column], value)]
                assert ids_of(dataset, f"{column} {op} {value}") == expected
        some = known[:: max(1, len(known) // 5)]
        expected = [row["id"] for row in listed if row[column] in some]
        assert ids_of(dataset, f"{column} IN ({', '.join(map(str, some))})") == expected
        assert ids_of(dataset, f"{column} IS NULL") == []
        expected = [row["id"] for row in listed if row[column] > known[0] and row["id"] % 3 == 1]
        assert ids_of(dataset, f"{column} > {known[0]} AND id % 3 = 1") == expected
    expected = [row["id"] for row in listed if row[ROW_COLUMNS[3]] > row[ROW_COLUMNS[2]]]
    assert ids_of(dataset, f"{ROW_COLUMNS[3]} > {ROW_COLUMNS[2]}") == expected
    return expected


def test_filters_on_row_columns(fixtures_dir, tmp_path):
    case = fixtures_dir / "overlay_stable_row_ids_2_1"
    uri = tmp_path / "t.lance"
    shutil.copytree(case / "dataset.lance", uri)
    with pa.ipc.open_file(case / "expected.arrow") as file:
        expected = file.read_all().select(["id", *ROW_COLUMNS])
    touched = check_row_columns(pennon.dataset(uri), expected)
    assert 0 < len(touched) < expected.num_rows

    # One more overlay: the rows that it covers have a new last update, nothing else changes.
    dataset = pennon.dataset(uri)
    before = dataset.version
    column = next(name for name in dataset.schema.names if name != "id")
    value = dataset.to_table(columns=[column])[column].to_pylist()[0]
    dataset.write_overlay(1, {column: ([0, 7, 19], [value, None, value])})
    listed = expected.to_pylist()
    for row in listed:
        if row["_rowaddr"] in ((1 << 32), (1 << 32) + 7, (1 << 32) + 19):
            row["_row_last_updated_at_version"] = before + 1
    expected = pa.Table.from_pylist(listed, schema=expected.schema)
    assert len(check_row_columns(pennon.dataset(uri), expected)) == len(touched) + 3
    assert pennon.dataset(uri).count_rows(f"_row_last_updated_at_version = {before + 1}") == 3
