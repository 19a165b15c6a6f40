"""Tags name versions: made by pylance, opened by pennon."""

import json
import subprocess
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import pennon


@pytest.mark.parametrize("tag, expected", [("first", "expected_v1.arrow"), ("second", "expected_v2.arrow")])
def test_tags_of_a_fixture(fixtures_dir, tag, expected):
    case = fixtures_dir / "versions_tags_and_branch_2_1"
    with pa.ipc.open_file(case / expected) as file:
        rows = file.read_all()
    columns = [name for name in rows.column_names if not name.startswith("_")]
    for dataset in (
        pennon.dataset(case / "dataset.lance", version=tag),
        pennon.dataset(f"{case / 'dataset.lance'}@{tag}"),
    ):
        assert dataset.version == {"first": 1, "second": 2}[tag]
        assert dataset.to_table(columns=columns).to_pylist() == rows.select(columns).to_pylist()


@pytest.fixture
def users(tmp_path):
    uri = str(tmp_path / "users.lance")
    for first in (0, 5, 10):
        lance.write_dataset(pa.table({"id": list(range(first, first + 5))}), uri, mode="append" if first else "create")
    return uri


def test_tags_by_pylance(users):
    dataset = lance.dataset(users)
    dataset.tags.create("v1.0-rc", 1)
    dataset.tags.create("2", 3)
    assert pennon.dataset(users, version="v1.0-rc").count_rows() == 5
    assert pennon.dataset(users, version="2").count_rows() == 15
    assert pennon.dataset(users, version=2).count_rows() == 10
    assert pennon.dataset(users + "@2").count_rows() == 10  # after an @ a number is a version
    dataset.tags.update("v1.0-rc", 2)
    tagged = pennon.dataset(users + "@v1.0-rc")
    assert tagged.count_rows() == 10
    assert tagged.checkout_version(3).count_rows() == 15
    dataset.tags.delete("v1.0-rc")
    with pytest.raises(FileNotFoundError, match="v1.0-rc"):
        pennon.dataset(users, version="v1.0-rc")
    with pytest.raises(FileNotFoundError, match="v1.0-rc"):
        pennon.dataset(users + "@v1.0-rc")


def test_tag_errors(users):
    tags = Path(users) / "_refs/tags"
    tags.mkdir(parents=True)
    (tags / "aside.json").write_text(json.dumps({"branch": "side", "version": 1}))
    (tags / "broken.json").write_text("{")
    (tags / "gone.json").write_text(json.dumps({"branch": None, "version": 77}))
    with pytest.raises(NotImplementedError, match="side"):
        pennon.dataset(users, version="aside")
    with pytest.raises(pennon.Corrupt, match="broken.json"):
        pennon.dataset(users, version="broken")
    with pytest.raises(FileNotFoundError, match="77"):
        pennon.dataset(users, version="gone")
    with pytest.raises(ValueError, match="version"):
        pennon.dataset(users, version="")
    with pytest.raises(FileNotFoundError, match="nothere"):
        pennon.dataset(users + "-nothere", version="aside")
    with pytest.raises(FileNotFoundError):
        pennon.dataset(users, version="../tags/gone")


def test_tag_on_the_command_line(users, project_dir):
    lance.dataset(users).tags.create("old", 1)
    pennon_program = project_dir / "build/release/bin/pennon"
    run = subprocess.run([pennon_program, "count", users + "@old"], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "5\n")
    run = subprocess.run([pennon_program, "count", users + "@new"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert "no tag `new`" in run.stderr
