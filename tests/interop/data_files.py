"""Data files written and read by either engine: pennon through the tools of tests/tools, pylance through lance.file."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

lance_file = pytest.importorskip("lance.file")

ROOT = Path(__file__).resolve().parents[2]
READ_FILE = Path(os.environ.get("PENNON_READ_FILE", ROOT / "build/release/bin/read_file"))
WRITE_FILE = Path(os.environ.get("PENNON_WRITE_FILE", ROOT / "build/release/bin/write_file"))
VERSIONS = ["2.0", "2.1", "2.2"]


class Refused(Exception):
    """An engine does not write or read this; the message is the engine's."""


def is_truthy(metadata, key):
    return metadata.get(key, b"").lower() in (b"1", b"true", b"on", b"yes", b"y")


def is_packed(field):
    metadata = field.metadata or {}
    return pa.types.is_struct(field.type) and any(is_truthy(metadata, k) for k in (b"packed", b"lance-encoding:packed"))


def is_blob(field):
    return b"lance-encoding:blob" in (field.metadata or {})


def child_fields(t):
    if pa.types.is_struct(t):
        return list(t)
    if pa.types.is_map(t):
        return [t.key_field, t.item_field]
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return [t.value_field]
    return []


def is_plain_fixed_size_list(t):
    """A fixed-size list whose items are in its own column."""
    return pa.types.is_fixed_size_list(t) and not pa.types.is_struct(t.value_type)


def count_columns(field, version):
    """How many columns of the file the field owns."""
    children = child_fields(field.type)
    if is_packed(field) or is_blob(field) or is_plain_fixed_size_list(field.type) or not children:
        return 1
    own = 1 if version == "2.0" and not pa.types.is_fixed_size_list(field.type) else 0
    return own + sum(count_columns(child, version) for child in children)


def first_columns(schema, version):
    first, out = 0, []
    for field in schema:
        out.append(first)
        first += count_columns(field, version)
    return out


def write_by_pylance(path, schema, batches, version, **options):
    """`batches`: lists of arrays, none of them a slice, for pylance fails on some slices of structs."""
    try:
        with lance_file.LanceFileWriter(str(path), schema, version=version, **options) as writer:
            for arrays in batches:
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    except BaseException as error:  # its panics are no Exceptions
        raise_refusal(error)


def raise_refusal(error):
    if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
        raise error
    raise Refused(f"{type(error).__name__}: {error}") from error


def read_by_pylance(path, kind, *args, columns=None, batch_size=1 << 17):
    """The table of `kind` all, range (first, count) or rows (numbers)."""
    try:
        reader = lance_file.LanceFileReader(str(path), columns=columns)
        if kind == "all":
            return reader.read_all(batch_size=batch_size).to_table()
        if kind == "range":
            return reader.read_range(*args, batch_size=batch_size).to_table()
        return reader.take_rows(*args, batch_size=batch_size).to_table()
    except BaseException as error:
        raise_refusal(error)


def without_offsets(table):
    """The table in one batch of arrays that are no slices, as pylance needs them."""
    if table.num_rows == 0:
        return table
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def write_ipc(table, path, batches=3):
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=max(1, table.num_rows // batches)):
            writer.write_batch(batch)


def write_by_pennon(path, tables, version, folder, skip=0):
    """Writes the columns of all tables but for `skip` rows at both ends; gives the lines `FIELD COLUMN` as pairs."""
    inputs = []
    for i, table in enumerate(tables):
        inputs.append(folder / f"in{i}.arrow")
        write_ipc(table, inputs[-1])
    done = subprocess.run([WRITE_FILE, version, str(skip), path, *inputs], capture_output=True, text=True, timeout=300)
    for file in inputs:
        file.unlink()
    assert done.returncode in (0, 1), f"killed by signal {-done.returncode}: {done.stderr[-2000:]}"
    if done.returncode != 0:
        raise Refused(done.stderr)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


def run_jobs(path, schema, jobs, folder):
    """Runs read_file; gives one (verdict, table or None) a job, and the requests it took.

    A job is (field or "*", first column, slots or "all", [(first, count, slot)]).
    """
    schema_path, out = folder / "schema.arrow", folder / "out"
    with pa.ipc.new_file(str(schema_path), schema):
        pass
    lines = "".join(
        f"{field} {column} {length} " + " ".join(f"{a}:{n}:{slot}" for a, n, slot in ranges) + "\n"
        for field, column, length, ranges in jobs
    )
    done = subprocess.run(
        [str(READ_FILE), str(path), str(schema_path), str(out)], input=lines, capture_output=True, text=True, timeout=300
    )
    assert done.returncode >= 0, f"killed by signal {-done.returncode}: {done.stderr[-2000:]}"
    text = done.stdout.splitlines()
    if done.returncode != 0:
        return [(text[-1] if text else done.stderr, None)] * len(jobs), 0
    results = []
    for i in range(len(jobs)):
        verdict = text[i].split(" ", 1)[1]
        table = None
        if verdict == "ok":
            with pa.OSFile(f"{out}.{i}") as source, pa.ipc.open_file(source) as reader:
                table = reader.read_all()
            os.remove(f"{out}.{i}")
        results.append((verdict, table))
    return results, int(text[len(jobs)].split()[1])


def random_ranges(rng, length):
    """Ranges of rows with gaps, some with slots left free: (slots, [(first, count, slot)])."""
    ranges, row, slot = [], 0, 0
    while row < length and len(ranges) < 12:
        row += rng.choice([0, 1, 3, rng.randrange(length)])
        if row >= length:
            break
        count = min(length - row, rng.choice([1, 2, 7, 64, rng.randrange(1, length + 1)]))
        slot += rng.choice([0, 0, 0, 5])
        ranges.append((row, count, slot))
        row, slot = row + count, slot + count
    return slot + rng.choice([0, 3]), ranges


def random_reads(rng, length, ranges=2, rows=2):
    """What to read of a column: all, some ranges, single rows, many rows: (slots or "all", ranges)."""
    reads = [("all", [])]
    if length == 0:
        return reads
    reads += [random_ranges(rng, length) for _ in range(ranges)]
    reads += [(1, [(rng.randrange(length), 1, 0)]) for _ in range(rows)]
    some = sorted(rng.sample(range(length), min(length, 20)))
    return [*reads, (len(some), [(row, 1, slot) for slot, row in enumerate(some)])]


def same(a, b):
    """Whether two arrays, chunked or not, have the same type and values, bit for bit; NaN is NaN."""
    if a.type != stored_type(b.type) or len(a) != len(b):
        return False
    # Chunk by chunk, for pyarrow cannot join all dictionaries.
    b, at = joined(b), 0
    for chunk in a.chunks if isinstance(a, pa.ChunkedArray) else [a]:
        if not same_values(chunk, b.slice(at, len(chunk))):
            return False
        at += len(chunk)
    return True


def joined(array):
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else pa.nulls(0, array.type)


def plain(array):
    """`array` in a form whose equality is that of its values: no dictionaries, no floats, no views."""
    t = array.type
    if pa.types.is_dictionary(t):
        return plain(array.dictionary_decode())
    if pa.types.is_floating(t):
        return array.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[t.bit_width])
    return array if stored_type(t) == t else array.cast(stored_type(t))


def same_values(a, b):
    a, b = plain(a), plain(b)
    if len(a) != len(b):
        return False
    if a.equals(b):
        return True
    t = a.type
    if pa.types.is_struct(t):
        return a.is_valid().equals(b.is_valid()) and all(map(same_values, a.flatten(), b.flatten()))
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        lengths = pc.list_value_length(a).equals(pc.list_value_length(b))
        return lengths and same_values(a.flatten(), b.flatten())
    return pa.types.is_map(t) and repr(a.to_pylist()) == repr(b.to_pylist())


def stored_type(t):
    """Files have no views: they come back as strings."""
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(t, t)


def stored_schema(schema):
    return pa.schema([field.with_type(stored_type(field.type)) for field in schema])


def stored(table):
    """What pennon's file writer takes: the types that a file has."""
    columns = [column if column.type == stored_type(column.type) else column.cast(stored_type(column.type))
               for column in table.columns]
    return pa.Table.from_arrays(columns, schema=stored_schema(table.schema))


def differing(got, want, read):
    """Names of the columns of `got` that are not what `read` of `want` is."""
    slots, ranges = read
    bad = []
    for name in want.column_names:
        array, expected = got[name], want[name]
        if slots == "all":
            ok = same(array, expected)
        else:
            ok = len(array) == slots and all(
                same(array.slice(slot, count), expected.slice(first, count)) for first, count, slot in ranges)
            free = np.ones(slots, bool)
            for _, count, slot in ranges:
                free[slot : slot + count] = False
            if ok and free.any() and not pa.types.is_null(array.type):
                ok = bool(array.is_valid().to_numpy()[free].all())  # slots that no range names are valid
        if not ok:
            bad.append(name)
    return bad


def wrong_for_pennon(path, want, version, rng, folder, **counts):
    """(column, read) of all that pennon does not read from the file as it is in `want`; refusals among them."""
    reads = random_reads(rng, want.num_rows, **counts)
    schema = stored_schema(want.schema)
    results, _ = run_jobs(path, schema, [("*", 0, *read) for read in reads], folder)
    bad = []
    for read, (verdict, table) in zip(reads, results):
        if verdict == "ok":
            bad += [(name, str(read)[:100]) for name in differing(table, want, read)]
        else:
            bad.append((verdict[:300], str(read)[:100]))
    return bad


def wrong_for_pylance(path, want, rng):
    """The same, read by pylance: all, in small batches, a range, some rows."""
    length = want.num_rows
    reads = [("all",), ("all", max(700, length // 20))]
    if length > 0:
        first = rng.randrange(length)
        rows = sorted(rng.sample(range(length), min(length, 12)))
        reads += [("range", first, rng.randrange(1, length - first + 1)), ("rows", rows)]
    bad = []
    for kind, *args in reads:
        options = {"batch_size": args.pop()} if kind == "all" and args else {}
        try:
            got = read_by_pylance(path, kind, *args, **options)
        except Refused as error:
            bad.append((f"pylance refuses: {str(error)[:300]}", kind))
            continue
        expected = want
        if kind == "range":
            expected = want.slice(*args)
        elif kind == "rows":  # not Table.take: pyarrow 26 takes wrong items from lists of lists of fixed size
            expected = pa.concat_tables([want.slice(row, 1) for row in args[0]])
        bad += [(name, kind) for name in want.column_names if not same(got[name], expected[name])]
    return bad
