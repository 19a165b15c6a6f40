"""Dictionaries that differ from page to page, and blobs in and beside data files, written by the reference library."""

import numpy as np
import pyarrow as pa
import pytest

from .columns import NULLS, make
from .data_files import lance_file, write_by_pylance
from .matrix_cases import BLOB
from .test_file_reader import check_column, read_column

lance = pytest.importorskip("lance")


def test_pages_with_other_dictionaries_are_read(tmp_path):
    t = pa.dictionary(pa.int16(), pa.string())
    parts = [make(t, "plain", NULLS["some"], 700, np.random.default_rng(seed)) for seed in range(4)]
    schema, path = pa.schema([("c", t)]), tmp_path / "f.lance"
    write_by_pylance(path, schema, [[part] for part in parts], "2.2", data_cache_bytes=256)
    metadata = lance_file.LanceFileReader(str(path)).metadata()
    assert len(metadata.columns[0].pages) >= 3
    verdict, array, _ = read_column(path, schema, (0, 0, "all", []), tmp_path)
    assert verdict == "ok"
    assert array.dictionary_decode() == pa.concat_arrays([part.dictionary_decode() for part in parts])
    assert len(array.dictionary) == len(pa.concat_arrays([part.dictionary for part in parts]).unique())


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_blob_fixture(version, fixtures_dir, tmp_path):
    case = fixtures_dir / f"layout_blob_column_{version.replace('.', '_')}"
    with pa.ipc.open_file(str(case / "expected.arrow")) as reader:
        expected = reader.read_all().column("b").combine_chunks()
    [path] = (case / "dataset.lance" / "data").glob("*.lance")
    schema = pa.schema([pa.field("b", pa.large_binary(), metadata=BLOB)])
    check_column(path, schema, 0, 1, expected, tmp_path)


def test_blobs_inside_and_beside_the_data_file(tmp_path):
    """A blob.v2 column: small values in the data file, larger ones in side files, many in one or one in each."""
    values = [b"abc", b"", None, b"x" * 100_000, b"y" * 70_000, b"z" * 5_000_000, None, b"w" * 200_000]
    table = pa.table({"id": pa.array(range(8)), "b": lance.blob_array(values)})
    dataset = lance.write_dataset(table, str(tmp_path / "t"), data_storage_version="2.2")
    kinds = [row and row["kind"] for row in dataset.to_table().column("b").to_pylist()]
    assert set(kinds) == {None, 0, 1, 2}
    [path] = (tmp_path / "t" / "data").glob("*.lance")
    field = pa.field("b", pa.large_binary(), metadata={"ARROW:extension:name": "lance.blob.v2"})
    check_column(path, pa.schema([field]), 0, 1, pa.array(values, pa.large_binary()), tmp_path)


def test_a_blob_outside_of_the_table_is_refused(tmp_path):
    (tmp_path / "outside.bin").write_bytes(b"outside")
    table = pa.table({"b": lance.blob_array([f"file://{tmp_path}/outside.bin"])})
    lance.write_dataset(
        table, str(tmp_path / "t"), data_storage_version="2.2", allow_external_blob_outside_bases=True
    )
    [path] = (tmp_path / "t" / "data").glob("*.lance")
    field = pa.field("b", pa.large_binary(), metadata={"ARROW:extension:name": "lance.blob.v2"})
    verdict, _, _ = read_column(path, pa.schema([field]), (0, 0, "all", []), tmp_path)
    assert verdict.startswith("unsupported") and "outside of their table" in verdict


def test_a_take_of_blobs_reads_little(tmp_path):
    """Descriptors in two rounds, then one joined read for each run of blobs."""
    values = pa.array([bytes([i]) * 100_000 for i in range(100)], pa.large_binary())
    field = pa.field("c", values.type, metadata=BLOB)
    schema, path = pa.schema([field]), tmp_path / "f.lance"
    write_by_pylance(path, schema, [[values]], "2.1")
    verdict, array, requests = read_column(path, schema, (0, 0, 2, [(20, 1, 0), (80, 1, 1)]), tmp_path)
    assert verdict == "ok" and array[0] == values[20] and array[1] == values[80]
    assert requests <= 5
