"""kill -9 at random moments of an update: the table opens at the old or the new version, with its values."""

import os
import random
import signal
import subprocess
import sys
import time

import lance
import pyarrow as pa

import pennon

ROWS = 2000
KILLS = 100

SCRIPT = """
import sys, pennon
dataset = pennon.dataset(sys.argv[1])
print("ready", flush=True)
while True:
    dataset.update({"v": "v + 1", "w": "v + 1"}, where="id % 3 = 0")
"""


def value_at(version):
    """Version 1 has v = 0; each update adds one to every third row."""
    return version - 1


def check(uri):
    dataset = pennon.dataset(uri)
    table = dataset.to_table()
    step = value_at(dataset.version)
    assert table["v"].to_pylist() == [step if i % 3 == 0 else 0 for i in range(ROWS)]
    assert table["w"].to_pylist() == [step if i % 3 == 0 else 0 for i in range(ROWS)]
    return dataset.version


def test_kill_during_update(tmp_path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(ROWS), "v": [0] * ROWS, "w": [0] * ROWS}), uri, max_rows_per_file=500)
    rng = random.Random(20261130)
    reached = check(uri)
    kills = 0
    while kills < KILLS:
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, uri], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n", process.stderr.read().decode()
        # Several kills' worth of moments lie between the start and some commits later.
        time.sleep(rng.uniform(0, 0.03))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
        version = check(uri)
        assert version >= reached
        reached = version
        if reached > 120:  # manifests grow with each overlay: start a fresh table
            uri = str(tmp_path / f"t{kills}.lance")
            table = pa.table({"id": range(ROWS), "v": [0] * ROWS, "w": [0] * ROWS})
            lance.write_dataset(table, uri, max_rows_per_file=500)
            reached = check(uri)
    # pylance reads what the last kill left.
    assert lance.dataset(uri).version == reached
    assert lance.dataset(uri).to_table()["v"].to_pylist() == pennon.dataset(uri).to_table()["v"].to_pylist()
