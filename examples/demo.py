"""The main job on real data (`make demo`): the specification's worked example, then a column filled by one overlay.

Every value that is printed is checked; the exit status is 1 if one is wrong.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")

import lance  # noqa: E402
import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402

import pennon  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PENNON = ROOT / "build" / "release" / "bin" / "pennon"
ROWS, DIMENSION = 100_000, 768


def say(text=""):
    print(text, flush=True)


def check(found, expected, what):
    if found != expected:
        sys.exit(f"demo: {what}: expected {expected!r}, found {found!r}")


def run(*arguments):
    """Runs the program as a user would, and shows it."""
    say("  $ pennon " + " ".join(f'"{a}"' if " " in a or "=" in a else a for a in map(str, arguments)))
    done = subprocess.run([PENNON, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"demo: {done.stderr}")
    for line in done.stdout.rstrip().splitlines():
        say("    " + line)
    return done.stdout


def folder_bytes(uri):
    return sum(p.stat().st_size for p in Path(uri).rglob("*") if p.is_file())


def first_version_of(case, target):
    """A copy of a fixture table as it was at version 1."""
    shutil.copytree(case / "dataset.lance", target)
    versions = target / "_versions"
    for path in versions.iterdir():
        if path.name != f"{2**64 - 2}.manifest":
            path.unlink()
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    target.chmod(0o755)
    return str(target)


def worked_example(work):
    say("1. The specification's worked example: table `users`, written by pylance, at version 1")
    os.chdir(work)
    first_version_of(ROOT / "testdata" / "worked_example_users_2_1", Path(work) / "users.lance")
    uri = "users.lance"
    run("scan", uri, "--columns", "id,name,age")

    say("Step 1: write an overlay")
    run("update", uri, "--set", "age = age + 1", "--where", "id IN (2, 4)")
    run("overlays", uri)
    check([(o["dense"], o["committed_version"], o["cells"]) for o in pennon.dataset(uri).overlays()], [(True, 2, 2)], "step 1")

    say("Step 2: read")
    run("scan", uri, "--columns", "id,age")
    check(pennon.dataset(uri).to_table(["age"])["age"].to_pylist(), [30, 26, 40, 23], "step 2")

    say("Step 3: the filter sees the overlaid values")
    run("scan", uri, "--where", "age = 26", "--columns", "id,name,age")
    check(pennon.dataset(uri).to_table(["name"], filter="age = 26")["name"].to_pylist(), ["Bob"], "step 3")
    run("count", uri, "--where", "age = 25")
    check(pennon.dataset(uri).count_rows("age = 25"), 0, "step 3, mirror case")

    say("Step 4: a second, non-rectangular write: one sparse overlay")
    users = pennon.dataset(uri)
    say('  >>> users.write_overlay(0, {"name": ([2, 3], ["Caroline", "David"]), "embedding": ([1], [[9, 9.25, 9.5, 9.75]])})')
    users.write_overlay(0, {"name": ([2, 3], ["Caroline", "David"]), "embedding": ([1], [[9, 9.25, 9.5, 9.75]])})
    check(users.version, 3, "step 4")
    run("overlays", uri)

    say("Step 5: read after the second write")
    run("scan", uri, "--columns", "name,age,embedding,_row_last_updated_at_version")
    wanted = {
        "name": ["Alice", "Bob", "Caroline", "David"],
        "age": [30, 26, 40, 23],
        "embedding": [[0.0, 0.25, 0.5, 0.75], [9.0, 9.25, 9.5, 9.75], [2.0, 2.25, 2.5, 2.75], [3.0, 3.25, 3.5, 3.75]],
    }
    check(users.to_table(list(wanted)).to_pydict(), wanted, "step 5, pennon")
    check(lance.dataset(uri).to_table(list(wanted)).to_pydict(), wanted, "step 5, pylance")
    check(users.to_table(["_row_last_updated_at_version"]).column(0).to_pylist(), [1, 3, 3, 3], "step 5, row lineage")
    say("  pennon and pylance read the values of the specification.")
    say()


def captioned_table():
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((ROWS, DIMENSION), dtype=np.float32)
    holes = np.sort(rng.choice(ROWS, ROWS // 100, replace=False))
    mask = np.zeros(ROWS, dtype=bool)
    mask[holes] = True
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), DIMENSION, mask=pa.array(mask))
    table = pa.table(
        {
            "id": pa.array(np.arange(ROWS)),
            "caption": pa.array([f"picture {i} of a series" for i in range(ROWS)]),
            "age": pa.array(rng.integers(0, 100, ROWS, dtype=np.int32)),
            "embedding": embedding,
        }
    )
    return table, vectors, holes


def matrix(column):
    """A fixed_size_list column without NULLs as a (rows, dimension) array."""
    return np.concatenate([np.asarray(chunk.flatten()).reshape(-1, DIMENSION) for chunk in column.chunks])


def fill_embeddings(work):
    say(f"2. Fill the NULL embeddings of a table by pylance: {ROWS:,} rows, {DIMENSION} float32 each, 1% NULL")
    table, vectors, holes = captioned_table()
    uri = "captions.lance"
    lance.write_dataset(table, uri)
    run("count", uri, "--where", "embedding IS NULL")
    new = np.random.default_rng(8).standard_normal((len(holes), DIMENSION), dtype=np.float32)
    values = pa.FixedSizeListArray.from_arrays(pa.array(new.reshape(-1)), DIMENSION)

    before, started = folder_bytes(uri), time.perf_counter()
    info = pennon.dataset(uri).write_overlay(0, {"embedding": (holes, values)})
    seconds = time.perf_counter() - started
    written = folder_bytes(uri) - before
    rewrite = ROWS * DIMENSION * 4
    say(f"  one overlay: {info['cells']:,} cells, {written:,} bytes written in {seconds * 1000:.0f} ms")
    say(f"  rewriting the column: at least {rewrite:,} bytes, {rewrite / written:.0f} times as many")

    vectors[holes] = new
    for name, dataset in (("pennon", pennon.dataset(uri)), ("pylance", lance.dataset(uri))):
        found = dataset.to_table(columns=["id", "embedding"])
        check(found["embedding"].null_count, 0, f"NULLs left for {name}")
        check(bool((matrix(found["embedding"]) == vectors).all()), True, f"embeddings read by {name}")
        check(bool((found["id"].to_numpy() == np.arange(ROWS)).all()), True, f"ids read by {name}")
        say(f"  {name} reads all {ROWS:,} rows with the right values")
    run("count", uri, "--where", "embedding IS NULL")
    run("explain", uri, "--row", int(holes[5]), "--column", "embedding")
    say()


def main():
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="pennon-demo-") as work:
        worked_example(work)
        fill_embeddings(work)
    say(f"demo: all values are right ({time.perf_counter() - started:.1f} s)")


if __name__ == "__main__":
    main()
