"""Mapped tables: the same values, flat pages without a copy, and overlays on top of them."""

import lance
import numpy as np
import pyarrow as pa
import pytest

import pennon


def make_table(rows):
    rng = np.random.default_rng(5)
    vectors = pa.array(rng.standard_normal(rows * 256), pa.float32())
    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "text": [f"row {i}" if i % 7 else None for i in range(rows)],
        "vector": pa.FixedSizeListArray.from_arrays(vectors, 256),
    })  # fmt: skip


@pytest.fixture(scope="module", params=["2.0", "2.1", "2.2"])
def table(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("mapped") / "t.lance"
    data = make_table(3000)
    lance.write_dataset(data, str(path), data_storage_version=request.param)
    return path, data


def address(column):
    return column.chunk(0).values.buffers()[1].address


def test_same_values(table):
    path, data = table
    mapped = pennon.dataset(path, memory_map=True)
    assert mapped.to_table().equals(data)
    rows = np.random.default_rng(6).integers(0, 3000, 500)
    assert mapped.take(rows).equals(data.take(rows))
    assert mapped.to_table(filter="id % 10 = 3").equals(data.filter(pa.array(np.arange(3000) % 10 == 3)))


def test_flat_pages_are_not_copied(table):
    path, _ = table
    mapped, read = pennon.dataset(path, memory_map=True), pennon.dataset(path)
    first, second = (mapped.to_table(columns=["vector"])["vector"] for _ in range(2))
    assert address(first) == address(second)  # both are the mapped page
    del mapped
    assert first.equals(read.to_table(columns=["vector"])["vector"])  # and outlive their table
    one, two = (read.to_table(columns=["vector"])["vector"] for _ in range(2))
    assert address(one) != address(two)


def test_overlays_go_over_a_copy(table, tmp_path):
    path, data = table
    copy = tmp_path / "copy.lance"
    lance.write_dataset(data, str(copy), data_storage_version="2.2")
    mapped = pennon.dataset(copy, memory_map=True)
    new = pa.array([[float(i)] * 256 for i in range(3)], pa.list_(pa.float32(), 256))
    mapped.write_overlay(0, {"vector": ([5, 900, 2999], new)})
    expected = data["vector"].to_pylist()
    for row, value in zip([5, 900, 2999], new.to_pylist()):
        expected[row] = value
    assert mapped.to_table(columns=["vector"])["vector"].to_pylist() == expected
    before = mapped.checkout_version(1).to_table(columns=["vector"])["vector"]
    assert before.combine_chunks().equals(data["vector"].combine_chunks())
