"""Eight processes commit overlays to one table at once: nothing is lost, nothing is skipped."""

import multiprocessing

import lance
import pyarrow as pa

import pennon

PROCESSES = 8
COMMITS = 25
ROWS = PROCESSES * COMMITS


def commit_many(uri, worker, done):
    dataset = pennon.dataset(uri)
    for turn in range(COMMITS):
        offset = worker * COMMITS + turn
        dataset.write_overlay(offset % 2, {"v": ([offset], [1000 + offset]), "last": ([0], [offset])})
        done.put((dataset.version, offset))


def test_eight_processes(tmp_path):
    uri = str(tmp_path / "t.lance")
    for fragment in range(2):
        first = fragment * ROWS
        table = pa.table({"id": range(first, first + ROWS), "v": [0] * ROWS, "last": [-1] * ROWS})
        lance.write_dataset(table, uri, mode="append" if fragment else "create")
    start = pennon.dataset(uri).version
    context = multiprocessing.get_context("spawn")
    done = context.Queue()
    workers = [context.Process(target=commit_many, args=(uri, w, done)) for w in range(PROCESSES)]
    for process in workers:
        process.start()
    commits = dict(done.get(timeout=120) for _ in range(PROCESSES * COMMITS))
    for process in workers:
        process.join(60)
        assert process.exitcode == 0

    # Every commit made a version of its own, and they have no gap.
    assert sorted(commits) == list(range(start + 1, start + 1 + PROCESSES * COMMITS))
    dataset = pennon.dataset(uri)
    assert dataset.version == start + PROCESSES * COMMITS
    assert [v["version"] for v in dataset.versions()] == list(range(1, dataset.version + 1))

    # Each overlay carries the version that introduced it.
    for overlay in dataset.overlays():
        version = overlay["committed_version"]
        before = pennon.dataset(uri, version=version - 1).overlays()
        after = pennon.dataset(uri, version=version).overlays()
        paths = {o["path"] for o in after} - {o["path"] for o in before}
        assert paths == {overlay["path"]}
    assert len(dataset.overlays()) == PROCESSES * COMMITS

    # Every cell has its value; of the cell that all write, the newest commit of the fragment wins.
    expected = [[0] * ROWS, [0] * ROWS]
    newest = [None, None]
    for version in sorted(commits):
        offset = commits[version]
        expected[offset % 2][offset] = 1000 + offset
        newest[offset % 2] = offset
    for engine in (dataset, lance.dataset(uri)):
        table = engine.to_table()
        assert table["v"].to_pylist() == expected[0] + expected[1]
        assert [table["last"][0].as_py(), table["last"][ROWS].as_py()] == newest
