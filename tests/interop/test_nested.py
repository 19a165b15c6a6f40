"""Random tables with nested columns, overlays on fields inside structs by pylance, deletions: pennon against a model.

The model is plain Python: a row is a dict, an overlay sets what lies at a path of it. A NULL struct stays NULL when
fields inside it are overlaid; an overlay of all its fields says itself which rows are NULL.
"""

import os
import uuid

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance.bitmap import Bitmap
from lance.file import LanceFileWriter
from lance.fragment import DataFile

import pennon

# 2.0 is not among them while its lists and structs are not read.
STORAGE_VERSIONS = ["2.1", "2.2"]

TYPES = {
    "s": pa.struct([("a", pa.int32()), ("b", pa.string())]),
    "n": pa.struct(
        [("x", pa.struct([("p", pa.int64()), ("q", pa.list_(pa.int16()))])), ("y", pa.float64()), ("z", pa.bool_())]
    ),
    "l": pa.list_(pa.int32()),
    "t": pa.large_list(pa.string()),
    "ll": pa.list_(pa.list_(pa.int8())),
    "ls": pa.list_(pa.struct([("k", pa.int32()), ("v", pa.string())])),
    "d": pa.dictionary(pa.int8(), pa.string()),
    "m": pa.map_(pa.string(), pa.int32()),
    "fs": pa.list_(pa.struct([("u", pa.int16()), ("w", pa.string())]), 2),
}
ONLY_2_2 = {"m", "fs"}
# What overlays of a test may set: whole columns, and fields inside structs.
PATHS = [("s",), ("s", "a"), ("s", "b"), ("n",), ("n", "x"), ("n", "x", "p"), ("n", "x", "q"), ("n", "y"), ("n", "z")]


class Values:
    """Random values; in 2.0 structs are never NULL."""

    def __init__(self, rng, version, null_share):
        self.rng = rng
        self.null_structs = version != "2.0"
        self.null_share = null_share

    def of(self, type_, nullable=True):
        if nullable and self.rng.random() < self.null_share:
            if not pa.types.is_struct(type_) or self.null_structs:
                return None
        rng = self.rng
        if pa.types.is_struct(type_):
            return {field.name: self.of(field.type) for field in type_}
        if pa.types.is_fixed_size_list(type_):
            return [self.of(type_.value_type) for _ in range(type_.list_size)]
        if pa.types.is_map(type_):
            keys = rng.choice(list("abcdefgh"), int(rng.integers(0, 4)), replace=False)
            return [(str(key), self.of(type_.item_type)) for key in keys]
        if pa.types.is_list(type_) or pa.types.is_large_list(type_):
            return [self.of(type_.value_type) for _ in range(int(rng.integers(0, 4)))]
        if pa.types.is_boolean(type_):
            return bool(rng.integers(0, 2))
        if pa.types.is_floating(type_):
            return float(rng.integers(-100, 100)) / 4
        if pa.types.is_integer(type_):
            return int(rng.integers(-100, 100))
        return str(rng.choice(["river", "harbour", "", "naïve", "a long word, longer than the others"]))


def at(type_, path):
    for name in path:
        type_ = type_.field(name).type
    return type_


def nest(array, path):
    """The array inside structs that are never NULL, one for each name above the last."""
    for name in reversed(path):
        array = pa.StructArray.from_arrays([array], names=[name])
    return array


class Ids:
    """Ids of the fields that own columns, by path, as the version numbers them."""

    def __init__(self, dataset, version):
        self.all = version == "2.0"
        self.by_path = {}
        for field in dataset.lance_schema.fields():
            self._walk(field, ())

    def _walk(self, field, above):
        path = (*above, field.name())
        self.by_path[path] = field
        for child in field.children():
            self._walk(child, path)

    def owners(self, path):
        found = []
        if self.all:
            found += [self.by_path[path[:i]].id() for i in range(1, len(path))]
        self._below(self.by_path[path], found)
        return found

    def _below(self, field, found):
        children = field.children()
        if self.all or not children:
            found.append(field.id())
        for child in children:
            self._below(child, found)


class Table:
    def __init__(self, tmp_path, version, seed):
        self.rng = np.random.default_rng([seed, STORAGE_VERSIONS.index(version)])
        self.version = version
        self.values = Values(self.rng, version, float(self.rng.choice([0.0, 0.1, 0.5])))
        names = [name for name in TYPES if version == "2.2" or name not in ONLY_2_2]
        self.schema = pa.schema([("id", pa.int64())] + [(name, TYPES[name]) for name in names])
        self.uri = str(tmp_path / "t.lance")
        self.fragments, self.deleted = [], set()
        for rows in (int(self.rng.integers(1, 20)), int(self.rng.integers(50, 400))):
            first = sum(map(len, self.fragments))
            fragment = [
                {"id": first + i, **{name: self.values.of(TYPES[name]) for name in names}} for i in range(rows)
            ]
            self.fragments.append(fragment)
            lance.write_dataset(
                pa.Table.from_pylist(fragment, self.schema),
                self.uri,
                mode="append" if first else "create",
                data_storage_version=version,
            )

    def rows(self):
        return [row for fragment in self.fragments for row in fragment if row["id"] not in self.deleted]

    def random_offsets(self, fragment):
        rows = len(self.fragments[fragment])
        shape = self.rng.integers(0, 3)
        if shape == 0:
            return list(range(rows))
        first = int(self.rng.integers(0, rows))
        if shape == 1:
            return list(range(first, min(rows, first + int(self.rng.integers(1, 40)))))
        count = int(self.rng.integers(1, rows + 1))
        return sorted(int(x) for x in self.rng.choice(rows, count, replace=False))

    def random_path(self):
        paths = PATHS + [(name,) for name in self.schema.names[1:] if name not in ("s", "n")]
        return paths[int(self.rng.integers(0, len(paths)))]

    def apply(self, fragment, path, offsets, values):
        for offset, value in zip(offsets, values):
            row = self.fragments[fragment][offset]
            for name in path[:-1]:
                row = row[name]
                if row is None:
                    break
            if row is not None:
                row[path[-1]] = value

    def overlay_by_pylance(self):
        fragment = int(self.rng.integers(0, len(self.fragments)))
        path = self.random_path()
        type_ = at(pa.struct(self.schema), path)
        offsets = self.random_offsets(fragment)
        values = [self.values.of(type_) for _ in offsets]
        array = nest(pa.array(values, type_), path[1:])
        table = pa.table({path[0]: array})
        dataset = lance.dataset(self.uri)
        name = f"{uuid.uuid4()}.lance"
        file_path = os.path.join(self.uri, "data", name)
        with LanceFileWriter(file_path, table.schema, version=self.version) as writer:
            for batch in table.to_batches():
                writer.write_batch(batch)
        fields = Ids(dataset, self.version).owners(path)
        major, minor = (int(x) for x in self.version.split("."))
        file = DataFile(name, fields, list(range(len(fields))), major, minor, os.path.getsize(file_path))
        overlay = lance.LanceOperation.DataOverlayFile(file, Bitmap(offsets))
        group = lance.LanceOperation.DataOverlayGroup(fragment, [overlay])
        lance.LanceDataset.commit(
            self.uri, lance.LanceOperation.DataOverlay(groups=[group]), read_version=dataset.version
        )
        self.apply(fragment, path, offsets, values)

    def keep_nulls(self, type_, current):
        """A random value that is NULL where ``current`` is, in structs."""
        if not pa.types.is_struct(type_):
            return self.values.of(type_)
        if current is None:
            return None
        return {field.name: self.keep_nulls(field.type, current[field.name]) for field in type_}

    def overlay_by_pennon(self):
        fragment = int(self.rng.integers(0, len(self.fragments)))
        path = self.random_path()
        type_ = at(pa.struct(self.schema), path)
        offsets = self.random_offsets(fragment)
        values = []
        for offset in offsets:
            above = reach(self.fragments[fragment][offset], path[:-1])
            values.append(None if above is None else self.keep_nulls(type_, above[path[-1]]))
        dataset = pennon.dataset(self.uri)
        dataset.write_overlay(fragment, {".".join(path): (offsets, values)})
        self.apply(fragment, path, offsets, values)

    def update_by_pennon(self):
        below = int(self.rng.integers(-50, 100))
        pennon.dataset(self.uri).update({"s.a": "id % 7", "n.x.p": "n.x.p + 1"},
                                        where=f"s IS NOT NULL AND n.x IS NOT NULL AND s.a < {below}")
        for fragment in self.fragments:
            for row in fragment:
                a = reach(row, ("s", "a"))
                if row["id"] not in self.deleted and a is not None and a < below and reach(row, ("n", "x")) is not None:
                    row["s"]["a"] = row["id"] % 7
                    if row["n"]["x"]["p"] is not None:
                        row["n"]["x"]["p"] += 1

    def delete(self):
        step = int(self.rng.integers(4, 30))
        lance.dataset(self.uri).delete(f"id % {step} = 1")
        self.deleted |= {row["id"] for fragment in self.fragments for row in fragment if row["id"] % step == 1}

    def check(self):
        rows = self.rows()
        dataset = pennon.dataset(self.uri)
        table = dataset.to_table()
        table.validate(full=True)
        assert table.schema == self.schema
        for name in self.schema.names:
            found = table[name].to_pylist()
            wanted = [row[name] for row in rows]
            bad = [i for i in range(len(rows)) if found[i] != wanted[i]]
            assert not bad, f"{name}[{bad[0]}] is {found[bad[0]]}, expected {wanted[bad[0]]} ({len(bad)} differ)"
        if rows:
            positions = [int(p) for p in self.rng.integers(0, len(rows), 20)]
            assert dataset.take(positions).to_pylist() == [rows[p] for p in positions]
            batches = dataset.to_batches(batch_size=13)
            assert [row for batch in batches for row in batch.to_pylist()] == rows
        self.check_paths(dataset, rows)

    def check_with_pylance(self):
        """pylance reads the same, but for fixed-size lists of structs, which it cannot read."""
        names = [name for name in self.schema.names if name != "fs"]
        found = lance.dataset(self.uri).to_table(columns=names).to_pylist()
        assert found == [{name: row[name] for name in names} for row in self.rows()]

    def check_paths(self, dataset, rows):
        for path in PATHS:
            wanted = [reach(row, path) for row in rows]
            name = ".".join(path)
            assert dataset.to_table(columns=[name])[name].to_pylist() == wanted
            assert dataset.to_table(columns={"v": name})["v"].to_pylist() == wanted
            ids = [row["id"] for row, value in zip(rows, wanted) if value is None]
            assert dataset.to_table(columns=["id"], filter=f"{name} IS NULL")["id"].to_pylist() == ids
        chosen = [row for row in rows if (reach(row, ("s", "a")) or 0) > 50]
        found = dataset.to_table(columns=["s.b", "n", "s"], filter="s.a > 50").to_pylist()
        assert found == [{"s.b": reach(row, ("s", "b")), "n": row["n"], "s": row["s"]} for row in chosen]
        ids = [row["id"] for row in rows if row["l"] is not None and len(row["l"]) == 2]
        assert dataset.to_table(columns=["id"], filter="array_length(l) = 2")["id"].to_pylist() == ids


def reach(row, path):
    for name in path:
        row = None if row is None else row[name]
    return row


@pytest.mark.parametrize("version", STORAGE_VERSIONS)
@pytest.mark.parametrize("seed", range(6))
def test_random_overlays_by_pylance(tmp_path, version, seed):
    table = Table(tmp_path, version, seed)
    table.check()
    for step in range(8):
        table.overlay_by_pylance()
        if step % 3 == 1:
            table.check()
        if step == 5:
            table.delete()
    table.check()


@pytest.mark.parametrize("version", STORAGE_VERSIONS)
@pytest.mark.parametrize("seed", range(6))
def test_random_writes_by_pennon(tmp_path, version, seed):
    table = Table(tmp_path, version, seed)
    for step in range(8):
        [table.overlay_by_pennon, table.overlay_by_pennon, table.update_by_pennon, table.overlay_by_pylance][step % 4]()
        if step == 2:
            table.check_with_pylance()
        if step % 3 == 1:
            table.check()
        if step == 5:
            table.delete()
    table.check()


def test_a_null_struct_stays_null(tmp_path):
    rows = pa.table({"id": [0, 1, 2], "s": pa.array([{"a": 1, "b": "x"}, None, {"a": 3, "b": "y"}], TYPES["s"])})
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(rows, uri, data_storage_version="2.1")
    dataset = pennon.dataset(uri)
    with pytest.raises(ValueError, match="struct above it is NULL.*offset 1"):
        dataset.update({"s.a": "7"})
    with pytest.raises(ValueError, match="cannot make a struct NULL.*offset 0"):
        dataset.write_overlay(0, {"s": ([0], [None])})
    with pytest.raises(ValueError, match="to a struct that is NULL.*offset 1"):
        dataset.write_overlay(0, {"s": ([0, 1], [{"a": 1, "b": "z"}] * 2)})
    with pytest.raises(ValueError, match="twice"):
        dataset.write_overlay(0, {"s": ([0], [{"a": 1, "b": "z"}]), "s.a": ([0], [2])})
    with pytest.raises(ValueError, match="same offsets"):
        dataset.write_overlay(0, {"s.b": ([0], ["z"]), "s.a": ([2], [2])})
    assert dataset.version == 1
    dataset.update({"s.a": "s.a + 10", "s.b": "'new'"}, where="s IS NOT NULL")
    dataset.write_overlay(0, {"s.a": ([1, 2], [None, None])})
    dataset.write_overlay(0, {"s": ([0, 1], [{"a": 5, "b": None}, None])})
    wanted = [{"a": 5, "b": None}, None, {"a": None, "b": "new"}]
    assert dataset.to_table()["s"].to_pylist() == wanted
    assert lance.dataset(uri).to_table()["s"].to_pylist() == wanted
    cell = dataset.explain_cell(0, "s.a")
    assert cell["value"] == 5
    assert [source["value"] for source in cell["shadowed"]] == [11, 1]
    with pytest.raises(ValueError, match="s.a, s.b"):
        dataset.explain_cell(0, "s")
    names = [[field["name"] for field in overlay["fields"]] for overlay in dataset.overlays()]
    assert names == [["s.a", "s.b"], ["s.a"], ["s.a", "s.b"]]
