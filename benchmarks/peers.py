"""Time cell updates and reads over several table engines, side by side.

Each engine lives in a worker process of its own, so that its memory and its
I/O counters are its own.  For every measurement the engines take turns
(engine A, B, C, A, B, C, ...), so a machine which gets slower for a while is
slower for all of them; what to quote are the ratios, which are formed within
one round.

  python peers.py --work DIR --json result.json            # everything
  python peers.py --work DIR --only update --engines lance-overlay,duckdb
  python peers.py --work DIR --add pennon=adapter.py:Pennon # one more engine

To plug in an engine, write a class with the methods of ``Engine`` that it
supports (see ``Engine`` and, for a program that is started anew for each
call, ``CommandEngine``) and name it with ``--add NAME=FILE.py:CLASS``;
``--python NAME=/path/to/python`` runs a worker with another interpreter.
An engine which reads Lance data sets gets the very same files as pylance: set
``format = "lance"`` and it needs no ``build``.

What is measured for each call: wall and CPU seconds, bytes through read and
write calls (``rchar``/``wchar`` of /proc/self/io), the growth of the table's
folder, and the peak of the resident memory above its level before the call.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import numpy as np  # noqa: E402

import workload  # noqa: E402
from peer_engines import ENGINES, CommandEngine, Engine, Unsupported  # noqa: E402, F401  adapters import them from here
from peer_worker import Worker  # noqa: E402

# --------------------------------------------------------------------------
# driver


def folder_bytes(path):
    seen, total = set(), 0
    for folder, _, files in os.walk(path):
        for name in files:
            status = os.lstat(os.path.join(folder, name))
            if status.st_ino not in seen:
                seen.add(status.st_ino)
                total += status.st_size
    return total


def new_bytes(path, since):
    """Bytes in files of ``path`` that were not there, or not like this, before."""
    return sum(size for name, (size, when) in listing(path).items() if since.get(name) != (size, when))


def listing(path):
    """{file: (size, time of change)}; inode numbers would not do, since a
    replaced file's number is given out again."""
    out = {}
    for folder, _, files in os.walk(path):
        for name in files:
            full = os.path.join(folder, name)
            status = os.lstat(full)
            out[full] = (status.st_size, status.st_mtime_ns)
    return out


class Bench:
    def __init__(self, args):
        self.args = args
        self.work = os.path.abspath(args.work)
        os.makedirs(self.work, exist_ok=True)
        self.records, self.notes = [], []
        self.workers = {}
        self.tables, self.stash, self.forks = {}, {}, 0
        names = args.engines.split(",") if args.engines else list(ENGINES)
        added = dict(item.split("=", 1) for item in args.add)
        pythons = dict(item.split("=", 1) for item in args.python)
        for name in [*names, *(a for a in added if a not in names)]:
            text = added.get(name, name)
            if ":" in text:
                text = os.path.abspath(text)
            try:
                self.workers[name] = Worker(name, text, pythons.get(name, sys.executable))
            except Exception as error:  # noqa: BLE001
                self.note(f"{name} left out: {error}")

    def note(self, text):
        self.notes.append(text)
        print("#", text, file=sys.stderr, flush=True)

    # -- tables ------------------------------------------------------------
    def base(self, spec, worker):
        """The folder of the unchanged table in the worker's format."""
        key = (spec.key, worker.format)
        if key not in self.tables:
            uri = os.path.join(self.work, f"{spec.key}-{worker.format}.lance")
            builder = worker
            if worker.format == "lance":
                # any engine reads the same files, written by pylance
                builder = next((w for n, w in self.workers.items() if n.startswith("lance-")), worker)
            if not os.path.exists(uri + ".done"):
                shutil.rmtree(uri, ignore_errors=True)
                got = builder.ask("build", spec, uri=uri)
                if got.get("error"):
                    self.note(f"{worker.name} build {spec.key}: {got['error']}")
                    self.tables[key] = None
                    return None
                open(uri + ".done", "w").close()
            self.tables[key] = uri
        return self.tables[key]

    def fork(self, spec, worker, label):
        """A private copy, by hard links where files are never changed."""
        source = self.base(spec, worker)
        if source is None:
            return None
        if not worker.movable:  # work on the table itself; ``drop`` undoes it
            if source not in self.stash:
                files = [os.path.join(d, f) for d, _, fs in os.walk(source) for f in fs]
                small = {f: open(f, "rb").read() for f in files if os.path.getsize(f) < 1 << 20}
                self.stash[source] = (set(files), small)
            return source
        self.forks += 1  # a name is never used twice: engines may cache by path
        target = os.path.join(self.work, f"run{self.forks}-{worker.name}-{label}.lance")
        shutil.rmtree(target, ignore_errors=True)
        if worker.hard_links:
            shutil.copytree(source, target, copy_function=os.link)
        else:
            shutil.copytree(source, target)
        return target

    def drop(self, uri):
        """Forget a forked table."""
        if uri not in self.stash:
            shutil.rmtree(uri, ignore_errors=True)
            return
        known, small = self.stash[uri]
        for folder, _, files in os.walk(uri):
            for name in files:
                if os.path.join(folder, name) not in known:
                    os.unlink(os.path.join(folder, name))
        for path, content in small.items():
            with open(path, "wb") as out:
                out.write(content)

    # -- measuring ---------------------------------------------------------
    def record(self, experiment, case, worker, got, **extra):
        entry = {"experiment": experiment, "case": case, "engine": worker.name, **extra}
        if got.get("error"):
            entry["error"] = got["error"]
        else:
            entry.update(got.get("figures") or {})
            if got.get("result") is not None:
                entry["result"] = got["result"]
        self.records.append(entry)
        return entry

    def rounds(self, experiment, case, calls, repeats, warm=1):
        """``calls``: {engine: function(round) -> reply}; engines take turns."""
        failed, spent = set(), {}
        for round_ in range(-warm, repeats):
            for name, call in calls.items():
                if name in failed or (round_ > 0 and spent.get(name, 0) > self.args.patience):
                    continue
                begin = time.perf_counter()
                got = call(round_)
                spent[name] = spent.get(name, 0) + time.perf_counter() - begin
                if got.get("error"):
                    failed.add(name)
                if round_ >= 0 or got.get("error"):
                    self.record(experiment, case, self.workers[name], got, round=round_)

    # -- experiments -------------------------------------------------------
    def update(self, spec, label, shares, repeats):
        """Cost of an update of a share of the rows, and of the scan after it."""
        for share in shares:
            cells = max(1, round(spec.rows * share))
            case = f"{label} {share:.2%}"
            want, spent = workload.expected(spec, [workload.update(spec, share, 0)]), {}
            for round_ in range(repeats):
                for name, worker in self.workers.items():
                    if worker.max_cells and cells > worker.max_cells:
                        if round_ == 0:
                            self.record("update", case, worker, {"error": f"skipped: more than {worker.max_cells} cells"})
                        continue
                    if any(r["engine"] == name and r["case"] == case and "error" in r for r in self.records):
                        continue
                    if round_ > 1 and spent.get(name, 0) > self.args.patience:
                        continue
                    begin = time.perf_counter()
                    uri = self.fork(spec, worker, "update")
                    if uri is None:
                        continue
                    worker.ask("open", uri=uri)
                    worker.ask("stage", spec, share=share, round=0)
                    known, size = listing(uri), folder_bytes(uri)
                    got = worker.ask("write_overlay")
                    extra = {"round": round_, "cells": cells, "value_bytes": cells * spec.value_bytes()}
                    extra["new_bytes"] = new_bytes(uri, known) if worker.hard_links else max(0, folder_bytes(uri) - size)
                    self.record("update", case, worker, got, **extra)
                    if not got.get("error"):
                        if round_ == 0:
                            digest = worker.ask("digest", spec)
                            same = not digest.get("error") and workload.same_digest(digest["result"], want)
                            self.record("check", case, worker, digest, right=bool(same))
                            if not same:
                                self.note(f"{name} {case}: result differs: {digest} != {want}")
                        for what, columns in (("all columns", None), (spec.value_column, [spec.value_column])):
                            scan = worker.ask("scan", columns=columns)
                            self.record("scan after update", f"{case} {what}", worker, scan, round=round_)
                    self.drop(uri)
                    spent[name] = spent.get(name, 0) + time.perf_counter() - begin

    def read(self, spec, label, repeats):
        """Scan, projected scan, take and filter on the unchanged table."""
        ready = self._opened(spec, {})
        self._reads("read base", label, spec, ready, repeats)

    def _opened(self, spec, changes):
        ready = {}
        for name, worker in self.workers.items():
            uri = self.base(spec, worker)
            if uri and not worker.ask("open", uri=uri).get("error"):
                ready[name] = worker
        return ready

    def _reads(self, experiment, label, spec, ready, repeats, takes=(1000, 10_000)):
        def calls(make):
            return {name: make(worker) for name, worker in ready.items()}

        value = [spec.value_column]
        self.rounds(experiment, f"{label} scan all", calls(lambda w: lambda r: w.ask("scan", columns=None)), repeats)
        self.rounds(experiment, f"{label} scan {value[0]}", calls(lambda w: lambda r: w.ask("scan", columns=value)), repeats)
        for count in takes:
            self.rounds(
                experiment,
                f"{label} take {count} {value[0]}",
                calls(lambda w: lambda r: w.ask("take", spec, count=count, round=r, columns=value)),
                repeats,
            )
            self.rounds(
                experiment,
                f"{label} take {count} all",
                calls(lambda w: lambda r: w.ask("take", spec, count=count, round=r)),
                repeats,
            )

    def layers(self, spec, label, counts, shapes, repeats, share=0.01):
        """W3 and W4: how reads depend on the number of overlays."""
        engines = {n: w for n, w in self.workers.items() if w.format == "lance" and n in self.args.overlay_engines}
        for overlapping in shapes:
            shape = "overlapping" if overlapping else "disjoint"
            opened = {}
            for count in counts:
                updates = workload.stack(spec, count, share, overlapping)
                want = workload.expected(spec, updates) if count else None
                writer = next(iter(engines.values()))
                uri = self.fork(spec, writer, f"layers-{spec.kind}-{shape}-{count}")
                writer.ask("open", uri=uri)
                if count:
                    writer.ask("stage", spec, stack={"layers": count, "share": share, "overlapping": overlapping})
                    got = writer.ask("write_overlay", all=True)
                    self.record("stack write", f"{label} {shape} {count}", writer, got, layers=count)
                opened[count] = (uri, want)
            # engines and layer counts take turns, so that ratios hold
            for what in ("open", "scan value", "scan all", "take 1000 value", "take 10000 value", "filter"):
                for round_ in range(-1, repeats):
                    for count, (uri, want) in opened.items():
                        for worker in engines.values():
                            got = worker.ask("open", uri=uri)
                            if what.startswith("scan"):
                                # a new handle first, then the same handle again
                                columns = [spec.value_column] if what == "scan value" else None
                                cold = worker.ask("scan", columns=columns)
                                if round_ >= 0:
                                    self.record("layers", f"{label} {shape} {what} first", worker, cold, layers=count, round=round_)
                                got = worker.ask("scan", columns=columns)
                            elif what.startswith("take"):
                                # one call to warm the handle: metadata is then cached
                                number = int(what.split()[1])
                                cold = worker.ask("take", spec, count=number, round=100, columns=[spec.value_column])
                                if round_ >= 0:
                                    self.record("layers", f"{label} {shape} {what} first", worker, cold, layers=count, round=round_)
                                got = worker.ask("take", spec, count=number, round=round_, columns=[spec.value_column])
                            elif what == "filter":
                                if spec.kind != "narrow":
                                    continue
                                got = worker.ask("filter", column=spec.value_column, low=990, high=1010, columns=["id", spec.value_column])
                            if round_ >= 0:
                                self.record("layers", f"{label} {shape} {what}", worker, got, layers=count, round=round_)
            for count, (uri, want) in opened.items():
                for worker in engines.values():
                    worker.ask("open", uri=uri)
                    if want:
                        digest = worker.ask("digest", spec)
                        same = not digest.get("error") and workload.same_digest(digest["result"], want)
                        self.record("check", f"{label} {shape} {count}", worker, digest, right=bool(same))
                    self.record("layers state", f"{label} {shape}", worker, worker.ask("state"), layers=count)
            for count, (uri, _) in opened.items():
                shutil.rmtree(uri, ignore_errors=True)

    def stale_filter(self, spec, label, repeats):
        """W5: an index on the column of which a share of the cells is stale."""
        for name in self.args.index_engines:
            worker = self.workers.get(name)
            if worker is None:
                continue
            tables = {}
            for share in (0.0, 0.01, 0.1):
                uri = self.fork(spec, worker, f"stale-{share}")
                worker.ask("open", uri=uri)
                self.record("index build", f"{label} btree", worker, worker.ask("index", column=spec.value_column, kind="btree"))
                if share:
                    worker.ask("stage", spec, share=share, round=0)
                    self.record("stale update", f"{label} {share:.0%}", worker, worker.ask("write_overlay"))
                tables[share] = uri
            for what, low, high in (("point", 500, 500), ("range 1%", 500, 509), ("new value", 1500, 1500)):
                for round_ in range(-1, repeats):
                    for share, uri in tables.items():
                        worker.ask("open", uri=uri)
                        arguments = dict(column=spec.value_column, low=low, high=high, columns=["id", spec.value_column])
                        worker.ask("filter", **arguments)
                        got = worker.ask("filter", **arguments)
                        if round_ >= 0:
                            self.record("stale filter", f"{label} {what}", worker, got, share=share, round=round_)
            for uri in tables.values():
                shutil.rmtree(uri, ignore_errors=True)

    def stale_nearest(self, spec, label, kind, repeats):
        """W6: the same with a vector index."""
        for name in self.args.index_engines:
            worker = self.workers.get(name)
            if worker is None:
                continue
            tables = {}
            indexed = self.fork(spec, worker, "nearest-base")
            worker.ask("open", uri=indexed)
            self.record("index build", f"{label} {kind}", worker, worker.ask("index", column=spec.value_column, kind=kind))
            for share in (0.0, 0.01, 0.1):
                uri = os.path.join(self.work, f"run-{name}-nearest-{share}.lance")
                shutil.rmtree(uri, ignore_errors=True)
                shutil.copytree(indexed, uri, copy_function=os.link)
                worker.ask("open", uri=uri)
                if share:
                    worker.ask("stage", spec, share=share, round=0)
                    worker.ask("write_overlay")
                tables[share] = uri
            for round_ in range(-1, repeats):
                for share, uri in tables.items():
                    worker.ask("open", uri=uri)
                    worker.ask("nearest", spec, k=10, round=500)
                    got = worker.ask("nearest", spec, k=10, round=round_)
                    if got.get("result"):
                        got["result"] = None
                    if round_ >= 0:
                        self.record("stale nearest", f"{label} {kind}", worker, got, share=share, round=round_)
            for uri in [*tables.values(), indexed]:
                shutil.rmtree(uri, ignore_errors=True)

    def compaction(self, spec, label, layers, repeats):
        """W7: fold or merge a stack."""
        for overlapping in (False, True):
            shape = "overlapping" if overlapping else "disjoint"
            want = workload.expected(spec, workload.stack(spec, layers, 0.01, overlapping))
            for mode in ("fold", "merge"):
                for round_ in range(repeats):
                    for name in self.args.overlay_engines:
                        worker = self.workers.get(name)
                        if worker is None:
                            continue
                        uri = self.fork(spec, worker, "compact")
                        worker.ask("open", uri=uri)
                        worker.ask("stage", spec, stack={"layers": layers, "share": 0.01, "overlapping": overlapping})
                        worker.ask("write_overlay", all=True)
                        known, size = listing(uri), folder_bytes(uri)
                        got = worker.ask("compact", mode=mode)
                        case = f"{label} {shape} {layers} {mode}"
                        extra = {"round": round_, "new_bytes": new_bytes(uri, known), "table_bytes": size}
                        self.record("compaction", case, worker, got, **extra)
                        if not got.get("error") and round_ == 0:
                            digest = worker.ask("digest", spec)
                            same = not digest.get("error") and workload.same_digest(digest["result"], want)
                            self.record("check", case, worker, digest, right=bool(same))
                        self.drop(uri)
                        if got.get("error"):
                            break

    def startup(self, repeats):
        """Import and first answer of each engine's process."""
        code = {
            "lance-overlay": "import os; os.environ['%s']='1'; import lance" % workload.OVERLAY_SWITCH,
            "duckdb": "import duckdb; duckdb.connect()",
            "deltalake": "import deltalake",
            "pyiceberg": "import pyiceberg.catalog.sql, pyiceberg.table",
            "parquet-rewrite": "import pyarrow.dataset, pyarrow.parquet",
            "python alone": "pass",
        }
        peak = "\nprint([l for l in open('/proc/self/status') if l.startswith('VmHWM')][0].split()[1])"
        for round_ in range(-1, repeats):
            for name, text in code.items():
                begin = time.perf_counter()
                child = subprocess.run([sys.executable, "-c", text + peak], capture_output=True, text=True)
                wall = time.perf_counter() - begin
                if round_ < 0 or child.returncode:
                    continue
                self.records.append(
                    {
                        "experiment": "startup",
                        "case": "import",
                        "engine": name,
                        "round": round_,
                        "wall": wall,
                        "peak": int(child.stdout) * 1024,
                    }
                )

    def limits(self):
        """What the machine can do, next to which the engines stand."""
        out = {}
        size = 256 << 20
        a, b = np.ones(size // 8), np.zeros(size // 8)
        np.copyto(b, a)
        out["memcpy_GBps"] = _best(lambda: np.copyto(b, a), size)
        path = os.path.join(self.work, "limit.bin")
        data = np.random.default_rng(0).bytes(size)

        def write(sync):
            with open(path, "wb", buffering=0) as file:
                file.write(data)
                if sync:
                    os.fsync(file.fileno())

        out["write_page_cache_GBps"] = _best(lambda: write(False), size)
        out["write_fsync_GBps"] = _best(lambda: write(True), size)
        buffer = bytearray(4 << 20)

        def read():
            with open(path, "rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass

        out["read_page_cache_GBps"] = _best(read, size)

        def cold():
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)

        out["read_disk_GBps"] = _best(read, size, before=cold)
        handle = os.open(path, os.O_RDONLY)
        places = (np.random.default_rng(1).integers(0, size // 4096, 20_000) * 4096).tolist()

        def random_reads():
            for place in places:
                os.pread(handle, 3072, place)

        out["pread_3KB_from_page_cache_us"] = _best(random_reads, 1, invert=True) / len(places) * 1e6
        os.close(handle)
        os.unlink(path)
        index = np.random.default_rng(2).integers(0, len(a), 2_000_000)
        out["gather_8B_random_ns"] = _best(lambda: a[index], 1, invert=True) / len(index) * 1e9
        try:
            import zstandard

            text = (" ".join(workload._NOUNS) * 40_000).encode()[: 16 << 20]
            mixed = b"".join(bytes(str(i * 7919 % 100003), "ascii") for i in range(2_000_000))
            for label, raw in (("repetitive", text), ("digits", mixed)):
                packed = zstandard.ZstdCompressor(level=3).compress(raw)
                decoder = zstandard.ZstdDecompressor()
                out[f"zstd_decode_{label}_GBps"] = _best(lambda: decoder.decompress(packed), len(raw))
        except ImportError:
            pass
        try:
            import pyroaring

            cover = pyroaring.BitMap(np.sort(np.random.default_rng(3).choice(1_000_000, 10_000, replace=False)))
            stored = list(cover)
            out["roaring_rank_from_python_ns"] = (
                _best(lambda: [cover.rank(v) for v in stored], 1, invert=True) / len(stored) * 1e9
            )
            out["roaring_bytes_per_1pct_of_1M"] = len(cover.serialize())
        except ImportError:
            pass
        return {k: round(v, 3) for k, v in out.items()}

    # -- all ---------------------------------------------------------------
    def run(self):
        args, only = self.args, set(self.args.only.split(",")) if self.args.only else None

        def wanted(name):
            return only is None or name in only

        w1 = workload.wide(args.rows, args.dim, args.fragment_rows)
        w2 = workload.narrow(args.narrow_rows, args.narrow_fragment_rows)
        w6 = workload.vector(args.vector_rows, args.vector_dim, args.fragment_rows)
        result = {"specs": {"W1": w1.__dict__, "W2": w2.__dict__, "W6": w6.__dict__}}
        clock, result["seconds"] = time.perf_counter(), {}

        def lap(name):
            nonlocal clock
            now = time.perf_counter()
            result["seconds"][name] = round(now - clock, 1)
            self.note(f"{name}: {now - clock:.0f} s")
            clock = now

        if wanted("limits"):
            result["limits"] = self.limits()
            lap("limits")
        if wanted("startup"):
            self.startup(args.repeats)
            lap("startup")
        shares = [float(s) for s in args.shares.split(",")]
        if wanted("read"):
            self.read(w1, "W1", args.repeats)
            self.read(w2, "W2", args.repeats)
            lap("read")
        if wanted("update"):
            self.update(w1, "W1", shares, args.update_repeats)
            lap("update W1")
            self.update(w2, "W2", shares, args.update_repeats)
            lap("update W2")
        if wanted("layers"):
            self.layers(w2, "W3 narrow", args.layers, (False, True), args.repeats)
            lap("layers narrow")
            self.layers(w1, "W3 wide", args.wide_layers, (False, True), args.repeats)
            lap("layers wide")
        if wanted("filter"):
            self.stale_filter(w2, "W5", args.repeats)
            lap("filter")
        if wanted("nearest"):
            self.stale_nearest(w6, "W6", "ivf_pq", args.repeats)
            lap("nearest")
        if wanted("compaction"):
            self.compaction(w2, "W7 narrow", 16, args.update_repeats)
            self.compaction(w1, "W7 wide", 16, args.update_repeats)
            lap("compaction")
        result["notes"], result["records"] = self.notes, self.records
        for worker in self.workers.values():
            worker.stop()
        return result


def _best(call, amount, before=None, repeats=5, invert=False):
    """Median of seconds (invert) or of GB/s."""
    seconds = []
    for _ in range(repeats):
        if before:
            before()
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    middle = statistics.median(seconds)
    return middle if invert else amount / middle / 1e9


# --------------------------------------------------------------------------
# report


def _number(value):
    if value is None:
        return ""
    if value == 0:
        return "0"
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def _time(seconds):
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"


def tables(result, reference="lance-overlay"):
    """Markdown: one row per (experiment, case, engine[, layers or share])."""
    groups = {}
    for r in result["records"]:
        extra = r.get("layers", r.get("share"))
        groups.setdefault((r["experiment"], r["case"]), {}).setdefault((r["engine"], extra), []).append(r)
    lines, current = [], None
    seen = list(dict.fromkeys(experiment for experiment, _ in groups))
    for (experiment, case), engines in sorted(groups.items(), key=lambda item: seen.index(item[0][0])):
        if experiment in ("check", "layers state"):
            continue
        if experiment != current:
            lines += ["", f"### {experiment}", ""]
            lines += ["| case | engine | wall median (min-max) | ratio | CPU s | read | written | new files | peak memory |"]
            lines += ["| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
            current = experiment
        first_extra = next(iter(engines))[1]
        anchor = engines.get((reference, first_extra)) or next(iter(engines.values()))
        anchor = {r.get("round"): r["wall"] for r in anchor if "wall" in r}
        for (engine, extra), rows in engines.items():
            name = engine if extra is None else f"{engine} @ {extra}"
            good = [r for r in rows if "wall" in r]
            if not good:
                lines.append(f"| {case} | {name} | {rows[0].get('error', '')} | | | | | | |")
                continue
            walls = [r["wall"] for r in good]
            ratios = [r["wall"] / anchor[r.get("round")] for r in good if anchor.get(r.get("round"))]
            middle = lambda key: statistics.median([r[key] for r in good if key in r]) if any(key in r for r in good) else None  # noqa: E731
            cpu = middle("cpu")
            lines.append(
                f"| {case} | {name} | {_time(statistics.median(walls))} ({_time(min(walls))}-{_time(max(walls))}) "
                f"| {statistics.median(ratios) if ratios else float('nan'):.2f} | {'' if cpu is None else f'{cpu:.3f}'} "
                f"| {_number(middle('read'))} | {_number(middle('written'))} | {_number(middle('new_bytes'))} "
                f"| {_number(max((r['peak'] for r in good if 'peak' in r), default=None))} |"
            )
    wrong = [r for r in result["records"] if r["experiment"] == "check" and not r.get("right")]
    right = sum(1 for r in result["records"] if r["experiment"] == "check" and r.get("right"))
    lines += ["", f"results checked: {right} right, {len(wrong)} wrong"]
    lines += [f"- wrong: {r['engine']} {r['case']} {r.get('error', r.get('result'))}" for r in wrong]
    states = [r for r in result["records"] if r["experiment"] == "layers state" and r.get("result")]
    if states:
        lines += ["", "| stack | layers | overlays | manifest bytes |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {r['case']} ({r['engine']}) | {r['layers']} | {r['result'].get('overlays')} | {_number(r['result'].get('manifest_bytes'))} |"
            for r in states
        ]
    if result.get("limits"):
        lines += ["", "| limit | value |", "| --- | --- |"] + [f"| {k} | {v} |" for k, v in result["limits"].items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default="peers-work", help="folder for the tables (about 10 GB at full size)")
    parser.add_argument("--json", default="peers.json")
    parser.add_argument("--engines", help="comma list; default: all of " + ", ".join(ENGINES))
    parser.add_argument("--add", action="append", default=[], metavar="NAME=FILE.py:CLASS")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--only", help="limits,startup,read,update,layers,filter,nearest,compaction")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--fragment-rows", type=int, default=50_000)
    parser.add_argument("--narrow-rows", type=int, default=5_000_000)
    parser.add_argument("--narrow-fragment-rows", type=int, default=1_000_000)
    parser.add_argument("--vector-rows", type=int, default=200_000)
    parser.add_argument("--vector-dim", type=int, default=128)
    parser.add_argument("--shares", default="0.0001,0.001,0.01,0.1")
    parser.add_argument("--layers", type=int, nargs="*", default=[0, 1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--wide-layers", type=int, nargs="*", default=[0, 1, 4, 16])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--update-repeats", type=int, default=3)
    parser.add_argument("--patience", type=float, default=8, help="seconds after which a slow engine gets fewer rounds")
    parser.add_argument("--overlay-engines", nargs="*", default=["lance-overlay"], help="engines that stack and fold overlays")
    parser.add_argument("--index-engines", nargs="*", default=["lance-overlay", "lance-move-rows"])
    args = parser.parse_args()
    for name in (item.split("=")[0] for item in args.add):
        for group in (args.overlay_engines, args.index_engines):
            if name not in group:
                group.append(name)
    result = Bench(args).run()
    with open(args.json, "w") as out:
        json.dump(result, out, indent=1)
    print(tables(result))


if __name__ == "__main__":
    main()
