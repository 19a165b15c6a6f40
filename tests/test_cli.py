"""The program as a user meets it: output, exit status, and messages that say what to do."""

import json
import subprocess
from pathlib import Path

import lance
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import pennon


@pytest.fixture(scope="session")
def program(project_dir):
    return project_dir / "build" / "release" / "bin" / "pennon"


@pytest.fixture
def run(program):
    def call(*arguments, expect=0):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        assert done.returncode == expect, f"exit {done.returncode}, expected {expect}: {done.stderr}{done.stdout}"
        if expect:
            assert done.stderr.startswith("pennon: ")
            assert done.stdout == ""
        return done.stderr if expect else done.stdout

    return call


@pytest.fixture
def users(tmp_path):
    uri = str(tmp_path / "users.lance")
    table = pa.table(
        {
            "id": pa.array([1, 2, 3, 4], pa.int64()),
            "name": ["Alice", "Bob", None, "D, \"ave\""],
            "age": pa.array([30, 25, 40, 22], pa.int8()),
            "when": pa.array([0, 1, None, 3], pa.timestamp("s")),
            "vector": pa.array([[1.5, 2.0]] * 4, pa.list_(pa.float32(), 2)),
        }
    )
    lance.write_dataset(table, uri)
    return uri


def test_info_and_schema(run, users):
    assert "rows           4 (0 deleted)" in run("info", users)
    facts = json.loads(run("info", users, "--json"))
    assert (facts["version"], facts["rows"], facts["fragments"], facts["overlays"]) == (1, 4, 1, 0)
    fields = json.loads(run("schema", users, "--json"))["fields"]
    assert [(f["id"], f["name"], f["logical_type"]) for f in fields][:2] == [(0, "id", "int64"), (1, "name", "string")]
    assert run("schema", users).splitlines()[2].split() == ["0", "id", "int64", "yes"]


def test_scan_formats(run, program, users, tmp_path):
    wanted = pennon.dataset(users).to_table()
    rows = json.loads(run("scan", users, "--format", "json"))
    assert rows[1] == {"id": 2, "name": "Bob", "age": 25, "when": "1970-01-01 00:00:01", "vector": [1.5, 2.0]}
    assert rows[2]["name"] is None
    lines = run("scan", users, "--format", "jsonl", "--columns", "age,id", "--limit", "2", "--offset", "1").splitlines()
    assert [json.loads(line) for line in lines] == [{"age": 25, "id": 2}, {"age": 40, "id": 3}]
    assert run("scan", users, "--columns", "id,name", "--format", "csv").splitlines()[4] == '4,"D, ""ave"""'
    assert run("scan", users, "--columns", "id,name", "--where", "age > 30", "--format", "markdown").splitlines() == [
        "|  id | name |",
        "| --: | ---- |",
        "|   3 | NULL |",
    ]
    assert run("scan", users, "--columns", "id,age", "--limit", "1").split() == ["id", "age", "--", "---", "1", "30"]
    run("scan", users, "-o", tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pydict() == wanted.to_pydict()
    run("scan", users, "-o", tmp_path / "out.arrow")
    assert pa.ipc.open_stream(str(tmp_path / "out.arrow")).read_all().equals(wanted)
    piped = subprocess.run(
        [program, "scan", users, "--format", "arrow", "-o", "-"], capture_output=True
    )
    assert pa.ipc.open_stream(piped.stdout).read_all().equals(wanted)


def test_take_count_update_explain(run, users):
    rows = json.loads(run("take", users, "--rows", "3,0,3", "--columns", "id", "--with-row-address", "--format", "json"))
    assert rows == [{"id": 4, "_rowaddr": 3}, {"id": 1, "_rowaddr": 0}, {"id": 4, "_rowaddr": 3}]
    assert run("count", users, "--where", "age >= 25") == "3\n"
    assert json.loads(run("count", users, "--json")) == {"rows": 4}

    assert run("update", users, "--set", "age = age + 1", "--where", "id IN (2, 4)", "--dry-run").startswith("would update 2 rows")
    assert pennon.dataset(users).version == 1
    done = json.loads(run("update", users, "--set", "age = age + 1", "--set", "name = upper(name)", "--where", "id = 2", "--json"))
    assert (done["version"], done["rows"], done["cells"], done["files"]) == (2, 1, 2, 1)
    assert json.loads(run("scan", users, "--format", "json", "--columns", "name,age", "--where", "id = 2")) == [{"name": "BOB", "age": 26}]
    assert run("count", f"{users}@1", "--where", "age = 26") == "0\n"

    cell = json.loads(run("explain", users, "--row", "1", "--column", "age", "--json"))
    assert (cell["value"], cell["winner"]["source"], cell["winner"]["committed_version"], cell["winner"]["rank"]) == (26, "overlay", 2, 0)
    assert [(s["source"], s["value"]) for s in cell["shadowed"]] == [("base", 25)]
    assert "from     overlay of version 2" in run("explain", users, "--row", "1", "--column", "age")
    overlays = json.loads(run("overlays", users, "--json"))
    assert [(o["fragment"], o["committed_version"], o["cells"], o["winning"]) for o in overlays] == [(0, 2, 2, 2)]


def test_file(run, users, fixtures_dir):
    data = next(Path(users, "data").iterdir())
    facts = json.loads(run("file", data, "--json"))
    assert (facts["version"], facts["rows"], facts["bytes"]) == ("2.2", 4, data.stat().st_size)
    columns = {column["name"]: column for column in facts["columns"]}
    assert list(columns) == ["id", "name", "age", "when", "vector"]
    assert columns["vector"]["type"] == "fixed_size_list:float:2"
    page = columns["vector"]["pages"][0]
    assert (page["layout"], page["encoding"], page["values"]) == ("mini-block", "FixedSizeList2(Flat32)", 4)
    assert columns["id"]["bytes"] == sum(columns["id"]["pages"][0]["buffers"])
    assert columns["id"]["min_bytes_per_value"] == columns["id"]["bytes"] / 4
    assert "FixedSizeList2(Flat32)" in run("file", data)
    nested = next(fixtures_dir.rglob("layout_lists_2_2/dataset.lance/data/*.lance"))
    columns = {column["name"]: column for column in json.loads(run("file", nested, "--json"))["columns"]}
    assert columns["structs.item.tags.item"]["type"] == "string"
    page = columns["all_null.item"]["pages"][0]
    assert (page["layout"], page["encoding"]) == ("constant", "all null")
    assert "LANC" in run("file", __file__, expect=1)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["info", "TMP/missing.lance"], ["missing.lance"]),
        (["scan", "TABLE@9"], ["version 9"]),
        (["scan", "TABLE", "--columns", "nmae"], ["nmae", "name"]),
        (["scan", "TABLE", "--where", "nmae = 'x'"], ["nmae"]),
        (["scan", "TABLE", "--where", "age = = 3"], ["position 7"]),
        (["scan", "TABLE", "--where", "age"], ["condition"]),
        (["take", "TABLE", "--rows", "4"], ["4"]),
        (["take", "TABLE", "--rows", "-1"], ["-1"]),
        (["update", "TABLE", "--set", "age = name"], ["age", "int8"]),
        (["update", "TABLE", "--set", "age = 1000"], ["age", "1000"]),
        (["update", "TABLE", "--set", "nothere = 1"], ["nothere"]),
        (["update", "TABLE", "--set", "age"], ["column = expression"]),
        (["update", "TABLE", "--set", "age = 1", "--set", "age = 2"], ["age"]),
        (["update", "TABLE", "--set", "age = age +"], ["position"]),
        (["explain", "TABLE", "--row", "99"], ["99"]),
        (["explain", "TABLE", "--row", "0", "--column", "nmae"], ["nmae"]),
    ],
)
def test_bad_input_says_what_to_do(run, users, tmp_path, arguments, words):
    filled = [a.replace("TABLE", users).replace("TMP", str(tmp_path)) for a in arguments]
    message = run(*filled, expect=1)
    for word in words:
        assert word in message
    assert pennon.dataset(users).version == 1


@pytest.mark.parametrize(
    "arguments",
    [[], ["nothing"], ["scan"], ["scan", "TABLE", "--limit", "x"], ["scan", "TABLE", "--format", "xml"], ["take", "TABLE"], ["take", "TABLE", "--rows", "1,x"]],
)
def test_usage_errors_are_2(run, users, arguments):
    run(*[a.replace("TABLE", users) for a in arguments], expect=2)


def test_help_has_examples(run):
    for command in "info schema scan take count update overlays explain".split():
        assert "Examples:" in run(command, "-h")
    assert "Examples:" in run("-h")


def test_newer_reader_flag_is_named(run, fixtures_dir):
    message = run("info", fixtures_dir / "corrupt" / "flag_unknown_reader" / "dataset.lance", expect=1)
    assert "40" in message
