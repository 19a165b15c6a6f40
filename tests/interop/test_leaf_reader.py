"""Dictionary columns, packed structs, blobs and types stored as others, written by the reference library."""

import pyarrow as pa
import pytest

from . import leaf_cases
from .test_file_reader import check_column, run_tool, same

lance = pytest.importorskip("lance")
lance_file = pytest.importorskip("lance.file")


def write(path, field, batches, version):
    """Writes one column; small buffers, so that each batch becomes a page."""
    schema = pa.schema([field])
    with lance_file.LanceFileWriter(str(path), schema, version=version, data_cache_bytes=256) as writer:
        for array in batches:
            writer.write_batch(pa.RecordBatch.from_arrays([array], schema=schema))


CASES = [(name, version) for name, (_, _, versions) in leaf_cases.CASES.items() for version in versions]


@pytest.mark.parametrize("name, version", CASES)
def test_leaf(name, version, tmp_path):
    field, batches, _ = leaf_cases.CASES[name]
    path = tmp_path / "f.lance"
    try:
        write(path, field, batches, version)
    except (Exception, BaseException) as error:  # noqa: B014 (the reference library panics on some)
        pytest.skip(f"the reference library refuses it: {str(error)[:80]}")
    expected = pa.chunked_array(batches).combine_chunks()
    if "blob" not in name:
        read = lance_file.LanceFileReader(str(path)).read_all().to_table().column(0)
        if "view" in name:
            expected = read.combine_chunks()  # the library gives views back as strings
        assert same(expected, read)
    schema = pa.schema([field.with_type(expected.type)])
    check_column(path, schema, 0, 0, expected, tmp_path)


def test_pages_with_other_dictionaries_are_read(tmp_path):
    """The case above has several pages whose dictionaries differ."""
    field, batches, _ = leaf_cases.CASES["dict of other items in each page"]
    path = tmp_path / "f.lance"
    write(path, field, batches, "2.2")
    metadata = lance_file.LanceFileReader(str(path)).metadata()
    assert len(metadata.columns[0].pages) >= 3
    [(verdict, array)], _ = run_tool(path, pa.schema([field]), [(0, 0, "all", [])], tmp_path)
    assert verdict == "ok"
    assert len(array.dictionary) == 4 * 30 + 1


@pytest.mark.parametrize("version", leaf_cases.BOTH)
def test_blob_fixture(version, fixtures_dir, tmp_path):
    case = fixtures_dir / f"layout_blob_column_{version.replace('.', '_')}"
    with pa.ipc.open_file(str(case / "expected.arrow")) as reader:
        expected = reader.read_all().column("b").combine_chunks()
    [path] = (case / "dataset.lance" / "data").glob("*.lance")
    schema = pa.schema([pa.field("b", pa.large_binary(), metadata=leaf_cases.BLOB)])
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
    [(verdict, _)], _ = run_tool(path, pa.schema([field]), [(0, 0, "all", [])], tmp_path)
    assert verdict.startswith("unsupported") and "outside of their table" in verdict


def test_a_take_of_blobs_reads_little(tmp_path):
    """Descriptors in two rounds, then one joined read for each run of blobs."""
    values = pa.array([bytes([i]) * 100_000 for i in range(100)], pa.large_binary())
    field = pa.field("c", values.type, metadata=leaf_cases.BLOB)
    path = tmp_path / "f.lance"
    write(path, field, [values], "2.1")
    [(verdict, array)], requests = run_tool(path, pa.schema([field]), [(0, 0, 2, [(20, 1, 0), (80, 1, 1)])], tmp_path)
    assert verdict == "ok" and array[0] == values[20] and array[1] == values[80]
    assert requests <= 5
