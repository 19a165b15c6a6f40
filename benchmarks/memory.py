"""Peak memory of a scan, batch by batch, each in a process of its own: pennon and pylance.

    python benchmarks/memory.py [TABLE ...]

Without tables: those of peers.py's W1 and W2 under build/bench/tables (`make bench` makes them). What is given is how
far the resident memory rises above its level after the table was opened, in MB: the median of three processes.
"""

import statistics
import subprocess
import sys
from pathlib import Path

TABLES = Path(__file__).resolve().parent.parent / "build" / "bench" / "tables"

SCAN = """
import sys
engine, uri, column = sys.argv[1:]
module = __import__(engine)
table = module.dataset(uri)
columns = [column] if column else None
def status(key):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(key))
table.schema
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
rows = sum(batch.num_rows for batch in table.to_batches(columns=columns))
print(status("VmHWM") - before, rows)
"""


def rise(engine, uri, column):
    found = []
    for _ in range(3):
        command = [sys.executable, "-c", SCAN, engine, str(uri), column or ""]
        found.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    return statistics.median(int(peak) for peak, _ in found), found[0][1]


def main(tables):
    import lance

    print("| table | columns | pylance MB | pennon MB | pennon / pylance |")
    print("| --- | --- | --- | --- | --- |")
    for uri in tables:
        for column in [None, *lance.dataset(str(uri)).schema.names]:
            theirs, rows = rise("lance", uri, column)
            ours, own_rows = rise("pennon", uri, column)
            if rows != own_rows:
                print(f"WRONG: {uri} {column}: {rows} rows, {own_rows} rows", file=sys.stderr)
            print(f"| {uri.name} | {column or 'all'} | {theirs / 1e6:.1f} | {ours / 1e6:.1f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main([Path(table) for table in sys.argv[1:]] or sorted(TABLES.glob("*.lance")))
