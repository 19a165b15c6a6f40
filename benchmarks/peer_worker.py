"""A worker process of peers.py: it runs one engine and measures each call."""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402

import workload  # noqa: E402
from peer_engines import ENGINES, Unsupported  # noqa: E402



def _io_counters():
    out = {}
    with open("/proc/self/io") as source:
        for line in source:
            key, value = line.split(":")
            out[key] = int(value)
    return out


def _memory(reset=False):
    """(resident now, peak since the last reset), in bytes."""
    now = peak = 0
    with open("/proc/self/status") as source:
        for line in source:
            if line.startswith("VmRSS:"):
                now = int(line.split()[1]) * 1024
            elif line.startswith("VmHWM:"):
                peak = int(line.split()[1]) * 1024
    if reset:
        try:
            with open("/proc/self/clear_refs", "w") as out:
                out.write("5")
        except OSError:
            pass
    return now, peak


def _cpu():
    own, child = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + child.ru_utime + child.ru_stime


def _give_back():
    """Return freed memory, so that many workers fit beside each other."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass


def _measure(call):
    if _memory()[0] > 1 << 30:
        _give_back()
    _memory(reset=True)
    before = _memory()[0]
    io, cpu, begin = _io_counters(), _cpu(), time.perf_counter()
    result = call()
    wall, cpu_after, io_after = time.perf_counter() - begin, _cpu(), _io_counters()
    peak = _memory()[1]
    return result, {
        "wall": wall,
        "cpu": cpu_after - cpu,
        "read": io_after["rchar"] - io["rchar"],
        "written": io_after["wchar"] - io["wchar"],
        "peak": max(0, peak - before),
        "resident": before,
    }


def _load(spec_text):
    if spec_text in ENGINES:
        return ENGINES[spec_text]()
    path, cls = spec_text.rsplit(":", 1)
    spec = importlib.util.spec_from_file_location("added_engine", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, cls)()


def worker(engine_text):
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries which print do not disturb the channel
    engine, staged = None, None

    def reply(**message):
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    try:
        engine = _load(engine_text)
    except Exception as error:  # noqa: BLE001
        reply(error=f"{type(error).__name__}: {error}")
        return
    gc.freeze()
    reply(format=engine.format, hard_links=engine.hard_links, movable=engine.movable, max_cells=engine.max_cells)
    for line in sys.stdin:
        request = json.loads(line)
        call, arguments = request["call"], request.get("arguments", {})
        spec = workload.Spec(**request["spec"]) if request.get("spec") else None
        try:
            figures, result = None, None
            if call == "stop":
                reply(result=True)
                return
            if call == "build":
                result = engine.build(spec, arguments["uri"])
            elif call == "stage":
                staged = (
                    workload.stack(spec, **arguments["stack"])
                    if "stack" in arguments
                    else [workload.update(spec, arguments["share"], arguments["round"])]
                )
            elif call == "write_overlay":
                if arguments.get("all"):  # a whole stack, as separate commits
                    def run():
                        for change in staged:
                            engine.write_overlay(change)
                    _, figures = _measure(run)
                else:
                    _, figures = _measure(lambda: engine.write_overlay(staged[0]))
            elif call == "digest":
                parts = (workload.digest(v, np.asarray(i)) for i, v in engine.column_batches(spec.value_column))
                result = workload.add_digests(parts)
            elif call == "take":
                rows = workload.random_rows(spec, arguments["count"], arguments["round"] % 1000)
                got, figures = _measure(lambda: engine.take(rows, arguments.get("columns")))
                result = {"rows": got if isinstance(got, int) else got.num_rows}
            elif call == "nearest":
                vector = workload.query_vector(spec, arguments["round"] % 1000)
                got, figures = _measure(lambda: engine.nearest(spec.value_column, vector, arguments["k"]))
                result = {"ids": got["id"].to_pylist()}
            elif call in ("open", "scan", "filter", "compact"):
                got, figures = _measure(lambda: getattr(engine, call)(**arguments))
                result = {"rows": got if isinstance(got, int) else getattr(got, "num_rows", None)}
            elif call in ("index", "state"):
                begin = time.perf_counter()
                result = getattr(engine, call)(**arguments)
                figures = {"wall": time.perf_counter() - begin}
            else:
                raise Unsupported(call)
            got = None
            if call in ("digest", "build", "stage"):
                _give_back()
            reply(result=result, figures=figures)
        except Exception as error:  # noqa: BLE001
            if os.environ.get("PEERS_TRACE"):
                traceback.print_exc()
            text = str(error).strip().splitlines()
            kind = "unsupported" if isinstance(error, Unsupported) else type(error).__name__
            reply(error=f"{kind}: {text[0][:200] if text else ''}")


class Worker:
    def __init__(self, name, engine_text, python):
        self.name = name
        command = [python, os.path.abspath(__file__), engine_text]
        quiet = {"LANCE_LOG": "error", **os.environ}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=quiet)
        hello = json.loads(self.process.stdout.readline() or '{"error": "worker died at start"}')
        if "error" in hello:
            raise RuntimeError(f"{name}: {hello['error']}")
        self.format, self.hard_links = hello["format"], hello["hard_links"]
        self.movable, self.max_cells = hello["movable"], hello["max_cells"]

    def ask(self, call, spec=None, **arguments):
        message = {"call": call, "arguments": arguments}
        if spec is not None:
            message["spec"] = spec.__dict__
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except (BrokenPipeError, OSError):
            line = ""
        return json.loads(line) if line else {"error": "worker died"}

    def stop(self):
        self.ask("stop")
        self.process.stdin.close()
        self.process.wait(timeout=30)


if __name__ == "__main__":
    worker(sys.argv[1])
