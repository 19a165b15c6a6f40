"""The benchmarks of docs/performance.md (`make bench`): pennon and pylance side by side, interleaved in one run.

Without arguments: all of it, which is peers.py on W1 to W3, encodings.py on all cores and on one, and memory.py. With
arguments: peers.py alone, which gets them. The summary at the end gives what the project promises as ratios within a round:
pylance / pennon (above 1: pennon is faster), and pennon's scan at n overlays / its own scan without any.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parent / "build" / "bench"


def run(extra):
    WORK.mkdir(parents=True, exist_ok=True)
    result = WORK / "peers.json"
    command = [
        sys.executable, str(HERE / "peers.py"), "--work", str(WORK / "tables"), "--json", str(result),
        "--engines", "lance-overlay", "--add", f"pennon={HERE / 'pennon_adapter.py'}:Pennon",
        "--only", "read,update,layers", "--rows", "100000", "--fragment-rows", "25000", "--shares", "0.001,0.01,0.1",
        "--layers", "0", "1", "16", "64", "--wide-layers", "0", "1", "16", *extra,
    ]  # fmt: skip
    print("$", " ".join(command), flush=True)
    subprocess.run(command, check=True)
    return json.loads(result.read_text())


def middle(pairs):
    ratios = [a / b for a, b in pairs if b]
    return statistics.median(ratios) if ratios else float("nan")


def summary(result):
    walls = {}
    for record in result["records"]:
        if "wall" in record and record.get("round") is not None:
            key = (record["case"], record.get("layers", record.get("share")))
            walls.setdefault(key, {}).setdefault(record["engine"], {})[record["round"]] = record["wall"]
    print("\n### pylance / pennon, and pennon / its own base\n")
    print("| case | overlays or share | pylance | pennon | pylance / pennon | pennon / its base |")
    print("| --- | --- | --- | --- | --- | --- |")
    for (case, extra), engines in walls.items():
        ours, theirs = engines.get("pennon"), engines.get("lance-overlay")
        if not ours or not theirs:
            continue
        base = walls.get((case, 0), {}).get("pennon", {}) if extra else {}
        own = middle([(ours[r], base[r]) for r in ours if r in base]) if base else float("nan")
        faster = middle([(theirs[r], ours[r]) for r in ours if r in theirs])
        print(
            f"| {case} | {'' if extra is None else extra} | {statistics.median(theirs.values()) * 1e3:.2f} ms "
            f"| {statistics.median(ours.values()) * 1e3:.2f} ms | {faster:.2f} | {'' if own != own else f'{own:.2f}'} |"
        )


if __name__ == "__main__":
    summary(run(sys.argv[1:]))
    if not sys.argv[1:]:
        for script, *options in (["encodings.py"], ["encodings.py", "--one-core"], ["memory.py"]):
            subprocess.run([sys.executable, str(HERE / script), *options], check=True)
