"""The checker of the house finds what it is there for, and passes on this tree."""

import subprocess
import sys

import pytest

import check_rooms


def faults_of(tmp_path, files):
    """What check_rooms says about a tree of `files` (path -> text)."""
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = check_rooms.__file__
    run = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=60)
    faults = run.stdout.splitlines()[:-1]
    assert run.returncode == (1 if faults else 0), run.stdout + run.stderr
    return faults


def test_project_keeps_its_own_rules(project_dir):
    run = subprocess.run([sys.executable, check_rooms.__file__, project_dir], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("path, include, words", [
    ("src/pennon/table/manifest.cc", "pennon/read/scan.h", "upward include: table"),
    ("src/pennon/index/btree/search.h", "pennon/overlay/winners.h", "sideways include: index"),
    ("src/pennon/io/local_store.cc", "pennon/wire/reader.h", "sideways include: io"),
    ("src/pennon/base/bitmap.h", "pennon/dataset.h", "upward include: base"),
    ("include/pennon/scan.h", "pennon/read/plan.h", "public header includes the internal room read"),
    ("include/pennon/scan.h", "protozero/pbf_reader.hpp", "protozero belongs in wire/"),
    ("src/pennon/table/manifest.h", "protozero/pbf_reader.hpp", "protozero belongs in wire/"),
    ("src/pennon/overlay/winners.cc", "roaring.h", "CRoaring belongs in base/bitmap.cc"),
    ("src/pennon/attic/old.cc", "pennon/base/bitmap.h", "room attic has no rank"),
])
def test_bad_include_is_a_fault(tmp_path, path, include, words):
    faults = faults_of(tmp_path, {path: f"#include <vector>\n#include \"{include}\"\n"})
    assert len(faults) == 1
    assert faults[0].startswith(f"{path}:2: ")
    assert words in faults[0]


@pytest.mark.parametrize("path, include", [
    ("src/pennon/read/scan.cc", "pennon/overlay/winners.h"),
    ("src/pennon/read/scan.cc", "pennon/read/plan.h"),
    ("src/pennon/base/error.cc", "pennon/error.h"),
    ("src/pennon/dataset/dataset.cc", "pennon/dataset.h"),
    ("src/pennon/wire/reader.h", "protozero/pbf_reader.hpp"),
    ("src/pennon/table/manifest.cc", "protozero/pbf_reader.hpp"),
    ("src/pennon/base/bitmap.cc", "roaring.h"),
    ("cli/main.cc", "pennon/dataset/dataset.h"),
])
def test_good_include_is_none(tmp_path, path, include):
    assert faults_of(tmp_path, {path: f"#include \"{include}\"\n"}) == []


@pytest.mark.parametrize("name", ["util", "string_utils", "common", "io_common", "helpers", "test_helper", "misc"])
def test_banned_names(tmp_path, name):
    [fault] = faults_of(tmp_path, {f"src/pennon/base/{name}.cc": "int x;\n"})
    assert "banned file name" in fault


def test_name_that_only_contains_a_banned_word(tmp_path):
    assert faults_of(tmp_path, {"src/pennon/base/uncommon_value.cc": "int x;\n"}) == []


def long_function(head, lines):
    return f"{head} {{\n" + "  if (x) { y(\"}\"); }  // }\n" * (lines - 2) + "}\n"


@pytest.mark.parametrize("head, name", [
    ("arrow::Status Decode(const int& a)", "Decode"),
    ("template <typename T>\nvoid Gather(T* t)", "Gather"),
    ("int Map::Find(std::pair<int, int> key) const", "Map::Find"),
    ("Reader::Reader(int a) : a_{a}, b_(a)", None),
    ("auto Run() -> std::vector<int>", "Run"),
])
def test_long_function_is_a_fault(tmp_path, head, name):
    first = "namespace pennon {\nnamespace {\nstruct S { int a = 0; };\nconst int kTable[] = {1, 2};\n"
    extra = head.count("\n")
    files = {"src/pennon/base/a.cc": first + long_function(head, 80 - extra) + "}\n}\n"}
    assert faults_of(tmp_path, files) == []
    files = {"src/pennon/base/a.cc": first + long_function(head, 81 - extra) + "}\n}\n"}
    [fault] = faults_of(tmp_path, files)
    assert fault.startswith("src/pennon/base/a.cc:5: ")
    assert "has 81 lines" in fault
    if name:
        assert f" {name} has" in fault


def test_long_method_inside_a_class_is_a_fault(tmp_path):
    text = "class C : public D {\n public:\n" + long_function("  void Go() override", 81) + "};\n"
    [fault] = faults_of(tmp_path, {"src/pennon/base/a.h": text})
    assert fault.startswith("src/pennon/base/a.h:3: Go has 81 lines")


def test_long_file_and_its_waiver(tmp_path):
    files = {"src/pennon/base/a.cc": "int a;\n" * 801}
    [fault] = faults_of(tmp_path, files)
    assert "801 lines, over 800" in fault
    files["scripts/rooms_waivers.txt"] = "src/pennon/base/a.cc  one table of constants\n"
    assert faults_of(tmp_path, files) == []
    files["scripts/rooms_waivers.txt"] = "src/pennon/base/a.cc\n"
    [fault] = faults_of(tmp_path, files)
    assert "waiver without a reason" in fault


def test_every_room_folder_has_a_rank(project_dir):
    rooms = {path.name for path in (project_dir / "src/pennon").iterdir() if path.is_dir()}
    assert rooms <= set(check_rooms.RANKS)


def test_fixtures_are_unpacked(fixtures_dir):
    assert (fixtures_dir / "index.json").is_file()
    assert (fixtures_dir / "worked_example_users_2_1/dataset.lance/_versions").is_dir()
