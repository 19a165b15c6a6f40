"""Random tables, overlays by either engine, deletions: both engines must agree with the plain model."""

import lance
import numpy as np
import pyarrow as pa
import pytest

import pennon

from .model import COLUMN_TYPES, STORAGE_VERSIONS, Model, assert_same
from .pylance_writer import commit_overlay

SEEDS = range(8)


def make(tmp_path, version, seed):
    rng = np.random.default_rng([seed, STORAGE_VERSIONS.index(version)])
    columns = [str(c) for c in rng.choice(list(COLUMN_TYPES), size=int(rng.integers(2, 7)), replace=False)]
    sizes = [int(rng.integers(1, 40)) if rng.random() < 0.3 else int(rng.integers(100, 1500)) for _ in range(3)]
    model = Model(rng, columns, sizes, null_share=float(rng.choice([0.0, 0.05, 0.5])))
    uri = str(tmp_path / "t.lance")
    for fragment in range(len(sizes)):
        lance.write_dataset(
            model.table_of(fragment),
            uri,
            mode="create" if fragment == 0 else "append",
            data_storage_version=version,
            enable_stable_row_ids=bool(seed % 2),
        )
    return rng, model, uri


def overlay_by_pylance(rng, model, uri):
    fragment = int(rng.integers(0, len(model.fragments)))
    column = str(rng.choice(model.columns))
    offsets, values = model.random_cells(fragment, column)
    table = pa.table({column: pa.array(values, model.schema.field(column).type)})
    commit_overlay(lance.dataset(uri), fragment, offsets, table)
    model.overlay(fragment, column, offsets, values)


def overlay_by_pennon(rng, model, uri):
    """One to three columns: dense when they happen to share their offsets, sparse otherwise."""
    fragment = int(rng.integers(0, len(model.fragments)))
    count = int(rng.integers(1, min(3, len(model.columns)) + 1))
    cells = {}
    for column in (str(c) for c in rng.choice(model.columns, size=count, replace=False)):
        offsets, values = model.random_cells(fragment, column)
        if cells and rng.random() < 0.5:
            offsets = next(iter(cells.values()))[0]
            values = (values * (len(offsets) // len(values) + 1))[: len(offsets)]
        cells[column] = (offsets, values)
    shuffled = {}
    for column, (offsets, values) in cells.items():
        order = rng.permutation(len(offsets))
        shuffled[column] = ([offsets[i] for i in order], [values[i] for i in order])
    before = pennon.dataset(uri).version
    dataset = pennon.dataset(uri)
    dataset.write_overlay(fragment, shuffled)
    assert dataset.version == before + 1
    for column, (offsets, values) in cells.items():
        model.overlay(fragment, column, offsets, values)


def update_by_pennon(rng, model, uri):
    if "i32" not in model.columns:
        return overlay_by_pennon(rng, model, uri)
    low = int(rng.integers(0, 1000))
    pennon.dataset(uri).update({"i32": "i32 + 1"}, where=f"i32 >= {low} AND id % 3 = 0")
    for fragment, values in enumerate(model.fragments):
        for offset, value in enumerate(values["i32"]):
            if offset not in model.deleted[fragment] and value is not None and value >= low and values["id"][offset] % 3 == 0:
                values["i32"][offset] = value + 1


def delete_by_pylance(rng, model, uri):
    step = int(rng.integers(5, 60))
    lance.dataset(uri).delete(f"id % {step} = 2")
    model.delete(lambda id_: id_ % step == 2)


def check(rng, model, uri):
    expected = model.rows()
    ours, theirs = pennon.dataset(uri), lance.dataset(uri)
    assert ours.version == theirs.version
    assert ours.count_rows() == expected.num_rows
    assert_same(ours.to_table(), expected, "pennon scan")
    assert_same(theirs.to_table(), expected, "pylance scan")
    if expected.num_rows:
        positions = [int(p) for p in rng.integers(0, expected.num_rows, 40)]
        rows = model.rows(positions)
        assert_same(ours.take(positions), rows, "pennon take")
        assert_same(theirs.take(positions), rows, "pylance take")
        half = expected.num_rows // 2
        small = ours.to_table(columns=["id", model.columns[0]], filter=f"id >= {half}", batch_size=17)
        wanted = expected.filter(pa.compute.greater_equal(expected["id"], half)).select(["id", model.columns[0]])
        assert_same(small, wanted, "pennon filter")


ACTIONS = [overlay_by_pylance, overlay_by_pennon, overlay_by_pennon, update_by_pennon, delete_by_pylance]


@pytest.mark.parametrize("version", STORAGE_VERSIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_history(tmp_path, version, seed):
    rng, model, uri = make(tmp_path, version, seed)
    check(rng, model, uri)
    for step in range(6):
        ACTIONS[int(rng.integers(0, len(ACTIONS)))](rng, model, uri)
        if step % 2:
            check(rng, model, uri)
    check(rng, model, uri)


@pytest.mark.parametrize("version", STORAGE_VERSIONS)
def test_pylance_goes_on_after_pennon(tmp_path, version):
    """Appends, deletes, overlays and a compaction by pylance on top of pennon's commits."""
    rng, model, uri = make(tmp_path, version, seed=4)
    for _ in range(3):
        overlay_by_pennon(rng, model, uri)
    overlay_by_pylance(rng, model, uri)
    delete_by_pylance(rng, model, uri)
    overlay_by_pennon(rng, model, uri)
    check(rng, model, uri)
    expected = model.rows()
    dataset = lance.dataset(uri)
    dataset.optimize.compact_files()
    assert_same(lance.dataset(uri).to_table(), expected, "pylance after its compaction")
    assert_same(pennon.dataset(uri).to_table(), expected, "pennon after pylance's compaction")


def test_old_versions_stay(tmp_path):
    rng, model, uri = make(tmp_path, "2.2", seed=1)
    wanted = {}
    for _ in range(4):
        wanted[pennon.dataset(uri).version] = model.rows()
        overlay_by_pennon(rng, model, uri)
    for version, rows in wanted.items():
        assert_same(pennon.dataset(uri, version=version).to_table(), rows, f"version {version}")
        assert_same(pennon.dataset(f"{uri}@{version}").to_table(), rows, f"version {version}")
        assert_same(lance.dataset(uri, version=version).to_table(), rows, f"pylance version {version}")
