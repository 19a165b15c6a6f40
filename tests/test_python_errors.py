"""Bad input through the Python door: the right exception, with a message that can be acted on."""

import lance
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import pennon


@pytest.fixture
def users(tmp_path):
    uri = str(tmp_path / "users.lance")
    table = pa.table({"id": pa.array(range(10), pa.int64()), "age": pa.array(range(10), pa.int8()), "name": list("abcdefghij")})
    lance.write_dataset(table, uri, max_rows_per_file=6)
    return uri


def test_missing_table_and_version(users, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothere"):
        pennon.dataset(tmp_path / "nothere")
    with pytest.raises(ValueError, match="nothere"):
        pennon.dataset(tmp_path / "nothere")
    with pytest.raises(ValueError, match="9"):
        pennon.dataset(users, version=9)
    with pytest.raises(ValueError, match="version"):
        pennon.dataset(users, version="newest")


def test_read_errors(users):
    dataset = pennon.dataset(users)
    with pytest.raises(ValueError, match="nmae"):
        dataset.to_table(columns=["nmae"])
    with pytest.raises(ValueError, match="list of names"):
        dataset.to_table(columns="name")
    with pytest.raises(ValueError, match="position 7"):
        dataset.to_table(filter="age > > 3")
    with pytest.raises(ValueError):
        dataset.to_table(filter="")
    with pytest.raises(ValueError, match="Expression"):
        dataset.to_table(filter=3)
    with pytest.raises(ValueError, match="10"):
        dataset.take([10])
    with pytest.raises(ValueError, match="-1"):
        dataset.take([-1])
    with pytest.raises(ValueError, match="indices"):
        dataset.take(["a"])
    with pytest.raises(ValueError):
        dataset.to_table(limit=-1)


def test_overlay_errors(users):
    dataset = pennon.dataset(users)
    with pytest.raises(ValueError, match="fragment"):
        dataset.write_overlay(7, {"age": ([0], [1])})
    with pytest.raises(ValueError, match="6"):
        dataset.write_overlay(0, {"age": ([6], [1])})
    with pytest.raises(ValueError, match="2"):
        dataset.write_overlay(0, {"age": ([2, 2], [1, 1])})
    with pytest.raises(ValueError, match="nmae"):
        dataset.write_overlay(0, {"nmae": ([2], ["x"])})
    with pytest.raises(ValueError, match="age"):
        dataset.write_overlay(0, {"age": ([2], [1000])})
    with pytest.raises(ValueError, match="age"):
        dataset.write_overlay(0, {"age": ([2], pa.array(["x"]))})
    with pytest.raises(ValueError):
        dataset.write_overlay(0, {"age": ([2, 3], [1])})
    assert pennon.dataset(users).version == dataset.version == lance.dataset(users).version


def test_update_errors(users):
    dataset = pennon.dataset(users)
    for set_, word in [({"age": "name"}, "age"), ({"age": "age + 127"}, "age"), ({"nmae": "1"}, "nmae"), ({"age": "age +"}, "position"), ({}, "")]:
        with pytest.raises(ValueError, match=word):
            dataset.update(set_)
    with pytest.raises(ValueError, match="strategy"):
        dataset.update({"age": "1"}, strategy="magic")
    with pytest.raises(NotImplementedError, match="rewrite"):
        dataset.update({"age": "1"}, strategy="rewrite-column")
    assert pennon.dataset(users).version == dataset.version


def test_conflict(users):
    stale = pennon.dataset(users)
    ours = pennon.dataset(users)
    lance.dataset(users).delete("id < 6")  # removes fragment 0
    with pytest.raises(pennon.CommitConflict):
        ours.write_overlay(0, {"age": ([0], [1])})
    # The same on the fragment that is still there is rebased.
    stale.write_overlay(1, {"age": ([0], [100])})
    assert stale.version == lance.dataset(users).version
    assert stale.to_table()["age"].to_pylist() == [100, 7, 8, 9]


def test_filters_by_expression_and_projection(users):
    dataset = pennon.dataset(users)
    dataset.update({"age": "age + 100"}, where="id = 3")
    assert dataset.to_table(filter=pc.field("age") > 50)["id"].to_pylist() == [3]
    assert dataset.to_table(filter=pc.field("name").isin(["a", "j"]))["id"].to_pylist() == [0, 9]
    table = dataset.to_table(columns={"twice": "age * 2", "id": "id", "_rowaddr": "_rowaddr"}, filter="_rowaddr >= 4294967296")
    assert table.column_names == ["twice", "id", "_rowaddr"]
    assert table["twice"].to_pylist() == [12, 14, 16, 18]
    assert table["_rowaddr"].to_pylist() == [(1 << 32) + i for i in range(4)]
    assert dataset.to_table(columns=[], with_row_id=True).column_names == ["_rowid"]
    assert dataset.head(3)["id"].to_pylist() == [0, 1, 2]
    assert [b.num_rows for b in dataset.to_batches(batch_size=4)] == [4, 2, 4]
    assert dataset.count_rows(filter=pc.field("age") == 103) == 1
    assert "version 2" in repr(dataset)
    assert pa.table(dataset).num_rows == 10
