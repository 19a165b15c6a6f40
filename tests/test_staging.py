"""Overlays written by several handles and committed as one version."""

import lance
import pyarrow as pa
import pytest

import pennon


@pytest.fixture(params=["2.0", "2.1", "2.2"])
def uri(tmp_path, request):
    uri = str(tmp_path / "t.lance")
    rows = pa.table({"id": pa.array(range(30), pa.int64()), "v": pa.array(range(30), pa.int32()), "s": ["x"] * 30})
    lance.write_dataset(rows, uri, data_storage_version=request.param, max_rows_per_file=10)
    return uri


def test_many_fragments_in_one_version(uri):
    dataset = pennon.dataset(uri)
    texts = []
    for fragment in range(3):
        worker = pennon.dataset(uri)
        staged = worker.stage_overlay(fragment, {"v": ([1, 3], [100 + fragment, None]), "s": ([0], ["y"])})
        assert worker.version == dataset.version
        assert (staged.fragment_id, staged.read_version, staged.cells, staged.dense) == (fragment, 1, 3, False)
        assert "fragment" in repr(staged)
        texts.append(staged.to_json())
    assert pennon.dataset(uri).version == 1
    info = dataset.commit_overlays([pennon.StagedOverlay.from_json(text) for text in texts])
    assert (info["version"], info["files"], info["cells"], info["rows"]) == (2, 3, 9, 9)
    wanted = [{"id": i, "v": i, "s": "x"} for i in range(30)]
    for fragment in range(3):
        wanted[10 * fragment + 1]["v"] = 100 + fragment
        wanted[10 * fragment + 3]["v"] = None
        wanted[10 * fragment]["s"] = "y"
    assert dataset.version == 2
    assert dataset.to_table().to_pylist() == wanted
    assert lance.dataset(uri).to_table().to_pylist() == wanted


def test_the_later_of_two_wins(uri):
    dataset = pennon.dataset(uri)
    first = dataset.stage_overlay(0, {"v": ([2, 3], [7, 8])})
    second = dataset.stage_overlay(0, {"v": ([3, 4], [9, 10])})
    dataset.commit_overlays([first, second])
    assert dataset.to_table(columns=["v"])["v"].to_pylist()[:6] == [0, 1, 7, 9, 10, 5]
    assert lance.dataset(uri).to_table(columns=["v"])["v"].to_pylist()[:6] == [0, 1, 7, 9, 10, 5]


def test_a_staged_overlay_meets_newer_versions(uri):
    dataset = pennon.dataset(uri)
    staged = dataset.stage_overlay(1, {"v": ([0], [1000])})
    pennon.dataset(uri).update({"v": "v + 1"}, where="id < 5")
    dataset.commit_overlays([staged])
    assert (dataset.version, dataset.to_table()["v"].to_pylist()[10]) == (3, 1000)
    staged = dataset.stage_overlay(1, {"v": ([0], [2000])})
    lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=100)
    with pytest.raises(pennon.CommitConflict):
        dataset.commit_overlays([staged])
    with pytest.raises(pennon.CommitConflict):  # the file is still there
        dataset.commit_overlays([staged])


def test_misuse(uri):
    dataset = pennon.dataset(uri)
    assert dataset.stage_overlay(0, {"v": ([], [])}) is None
    assert dataset.commit_overlays([None])["version"] == 1
    staged = dataset.stage_overlay(0, {"v": ([1], [5])})
    with pytest.raises(ValueError, match="twice"):
        dataset.commit_overlays([staged, staged])
    for text in ["", "{}", "[1]", staged.to_json().replace("fields", "felder")]:
        with pytest.raises(ValueError, match="staged overlay|lacks a member"):
            pennon.StagedOverlay.from_json(text)
    with pytest.raises(ValueError, match="fragment 9"):
        dataset.commit_overlays([pennon.StagedOverlay.from_json(staged.to_json().replace('"fragment":0', '"fragment":9'))])
    with pytest.raises(ValueError, match="contradicts"):
        dataset.commit_overlays([pennon.StagedOverlay.from_json(staged.to_json().replace(staged.path, "../x.lance"))])
    with pytest.raises(pennon.NotFound):
        dataset.commit_overlays([pennon.StagedOverlay.from_json(staged.to_json().replace(staged.path, "gone.lance"))])
    assert pennon.dataset(uri).version == 1
    dataset.commit_overlays([staged])
    assert dataset.to_table()["v"].to_pylist()[1] == 5
