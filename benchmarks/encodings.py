"""Decode speed of each encoding, scans and takes: pennon and pylance on the same files, interleaved in one run.

    python benchmarks/encodings.py [--rounds 5] [--only WORDS] [--one-core] [--version 2.2]

Files are written by pylance once and kept. A row of the first table is a scan of a one-column table; MB are
those of the Arrow result, memcpy copies as many. A row of the second is a take of 1,000 random rows: with a warm
handle, and with a new handle after the file left the page cache. The figures are medians, the ratio is the median
of the ratios of the rounds: pylance / pennon, above 1: pennon is faster. --one-core pins the process to one core.
"""

import argparse
import glob
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

WORK = Path(__file__).resolve().parent.parent / "build" / "bench" / "encodings"


def plain(table):
    """Dictionaries as their values: engines may number these differently."""
    column = table["c"]
    return column.cast(column.type.value_type) if str(column.type).startswith("dictionary") else column


def seconds(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def interleave(calls, rounds):
    """Runs each call once a round, the order turned from round to round; a list of times for each, and results."""
    times, results = {name: [] for name in calls}, {}
    names = list(calls)
    for number in range(rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            took, results[name] = seconds(calls[name])
            if number > 0:  # the first round warms up
                times[name].append(took)
    return times, results


def ratio(times):
    return statistics.median(a / b for a, b in zip(times["pylance"], times["pennon"]))


def prepare(name, array, hints, version, lance, encoding_cases):
    uri = WORK / version / "".join(c if c.isalnum() else "_" for c in name)
    if not (uri / "_versions").exists():
        shutil.rmtree(uri, ignore_errors=True)
        lance.write_dataset(encoding_cases.table(array, hints), str(uri), data_storage_version=version)
    return str(uri)


def forget(uri):
    """Drops the table's data from the page cache."""
    for path in glob.glob(os.path.join(uri, "data", "*")):
        with open(path, "rb") as data:
            os.fsync(data.fileno())
            os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def scan_row(name, uri, rounds, lance, pennon, numpy):
    ours, theirs, mapped = pennon.dataset(uri), lance.dataset(uri), pennon.dataset(uri, memory_map=True)
    calls = {"pylance": theirs.to_table, "pennon": ours.to_table, "mapped": mapped.to_table}
    times, results = interleave(calls, rounds)
    size = results["pennon"].nbytes
    source = numpy.ones(size, numpy.uint8)
    copies, _ = interleave({"memcpy": source.copy}, rounds)
    for engine in ("pennon", "mapped"):
        if not plain(results[engine]).equals(plain(results["pylance"])):
            print(f"WRONG: {name}, {engine}", file=sys.stderr)
    speed = {key: size / 1e6 / statistics.median(value) for key, value in {**times, **copies}.items()}
    print(f"| {name} | {size / 1e6:.1f} | {speed['pylance']:.0f} | {speed['pennon']:.0f} | {speed['mapped']:.0f} "
          f"| {speed['memcpy']:.0f} | {ratio(times):.2f} |", flush=True)
    return ratio(times)


def take_row(name, uri, rounds, lance, pennon, numpy):
    ours, theirs = pennon.dataset(uri), lance.dataset(uri)
    rows = numpy.random.default_rng(3).integers(0, ours.count_rows(), 1000)

    def cold(open_dataset):
        def call():
            return open_dataset(uri).take(rows)

        return call

    warm, results = interleave({"pylance": lambda: theirs.take(rows), "pennon": lambda: ours.take(rows)}, rounds * 3)
    if not plain(results["pennon"]).equals(plain(results["pylance"])):
        print(f"WRONG take: {name}", file=sys.stderr)
    fresh = {"pylance": [], "pennon": []}
    for _ in range(rounds):
        for key, call in (("pylance", cold(lance.dataset)), ("pennon", cold(pennon.dataset))):
            forget(uri)
            fresh[key].append(seconds(call)[0])
    middle = {key: statistics.median(value) * 1e3 for key, value in warm.items()}
    first = {key: statistics.median(value) * 1e3 for key, value in fresh.items()}
    print(f"| {name} | {middle['pylance']:.2f} | {middle['pennon']:.2f} | {ratio(warm):.2f} "
          f"| {first['pylance']:.2f} | {first['pennon']:.2f} | {ratio(fresh):.2f} |", flush=True)
    return ratio(warm), ratio(fresh)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--one-core", action="store_true")
    parser.add_argument("--version", default="2.2", help="of the files: 2.0, 2.1 or 2.2")
    arguments = parser.parse_args()
    if arguments.one_core:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    import encoding_cases
    import lance
    import numpy
    import pennon

    WORK.mkdir(parents=True, exist_ok=True)
    tables = [(name, prepare(name, array, hints, arguments.version, lance, encoding_cases))
              for name, array, hints in encoding_cases.cases() if arguments.only in name]
    cores = len(os.sched_getaffinity(0))
    print(f"\n### Scans, {cores} core{'s' * (cores > 1)}\n")
    print("| column | MB | pylance MB/s | pennon MB/s | pennon, mapped | memcpy MB/s | pylance / pennon |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    scans = [scan_row(name, uri, arguments.rounds, lance, pennon, numpy) for name, uri in tables]
    print(f"\nmedian {statistics.median(scans):.2f}, least {min(scans):.2f}\n")
    print(f"### Takes of 1,000 random rows, {cores} core{'s' * (cores > 1)}\n")
    print("| column | pylance ms | pennon ms | pylance / pennon | pylance, not cached | pennon | pylance / pennon |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    takes = [take_row(name, uri, arguments.rounds, lance, pennon, numpy) for name, uri in tables]
    for label, values in (("warm", [a for a, _ in takes]), ("not cached", [b for _, b in takes])):
        print(f"\n{label}: median {statistics.median(values):.2f}, least {min(values):.2f}")


if __name__ == "__main__":
    main()
