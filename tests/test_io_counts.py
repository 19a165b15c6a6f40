"""What reads cost, in bytes and requests of data files: counted at the I/O layer, so the same on every machine.

The table is pylance's, in version 2.2. Where a test removes a file, the read that follows proves that nothing of the
file is needed.
"""

import os
import shutil

import lance
import numpy as np
import pyarrow as pa
import pytest
from lance.file import LanceFileReader

import pennon

ROWS = 200_000
PER_FRAGMENT = 50_000
DIMENSION = 64
COLUMNS = ["a", "f", "s", "e"]
# What a warm read may cost beyond the pages themselves: alignment, directories of pages.
SLACK = 1.05


def noise(count, seed):
    """Values that no encoding makes smaller, so that bytes read tell values read."""
    return np.random.default_rng(seed).integers(-(2**31), 2**31, count, dtype=np.int32)


def embeddings(rows, seed):
    flat = np.random.default_rng(seed).random(rows * DIMENSION, dtype=np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), DIMENSION)


def texts(rows, seed):
    return pa.array([f"{value & 0xffffffff:08x}-{value % 977}" for value in noise(rows, seed).tolist()])


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    uri = str(tmp_path_factory.mktemp("io") / "t.lance")
    table = pa.table({
        "a": noise(ROWS, 1),
        "f": np.random.default_rng(2).random(ROWS, dtype=np.float32),
        "s": texts(ROWS, 3),
        "e": embeddings(ROWS, 4),
    })
    lance.write_dataset(table, uri, max_rows_per_file=PER_FRAGMENT, data_storage_version="2.2")
    return uri, table


@pytest.fixture
def copies(original, tmp_path):
    """Makes copies of the table; their data files are links, which a test may remove but not change."""

    def make(name="copy.lance"):
        shutil.copytree(original[0], tmp_path / name, copy_function=os.link)
        return str(tmp_path / name)

    return make


def cost(dataset, read, *, warm):
    """Bytes and requests of one read, on a handle that has done the same read before if `warm`."""
    if warm:
        read(dataset)
    dataset.io_stats()
    result = read(dataset)
    stats = dataset.io_stats()
    return stats.bytes, stats.requests, result


def scan_cost(uri, columns, *, warm=True):
    read = lambda dataset: dataset.to_table(columns=columns)  # noqa: E731
    return cost(pennon.dataset(uri), read, warm=warm)


def pages(uri, column, names):
    """The pages of a column in the files of that many names: (count, bytes)."""
    count = size = 0
    for name in names:
        for page in LanceFileReader(os.path.join(uri, "data", name)).metadata().columns[column].pages:
            count += 1
            size += sum(buffer.size for buffer in page.buffers)
    return count, size


def base_files(uri):
    return [fragment.data_files[0]["path"] for fragment in pennon.dataset(uri).get_fragments()]


def overlay_files(uri):
    return [(overlay["path"], overlay["bytes"]) for overlay in pennon.dataset(uri).overlays()]


def remove(uri, name):
    os.remove(os.path.join(uri, "data", name))


def overlay(uri, fragment, column, offsets, values):
    pennon.dataset(uri).write_overlay(fragment, {column: (offsets, values)})


def test_facts_read_no_data_file(original):
    dataset = pennon.dataset(original[0])
    assert dataset.count_rows() == ROWS
    assert len(dataset.get_fragments()) == ROWS // PER_FRAGMENT
    assert dataset.versions() and dataset.overlays() == []
    assert dataset.to_table(columns=[], with_row_id=True, with_row_address=True).num_rows == ROWS
    assert dataset.io_stats() == {"bytes": 0, "requests": 0}


@pytest.mark.parametrize("index, column", list(enumerate(COLUMNS)))
def test_a_projection_reads_only_its_column(original, index, column):
    uri, table = original
    count, size = pages(uri, index, base_files(uri))
    read, requests, result = scan_cost(uri, [column])
    assert result[column].equals(table[column])
    assert size * 0.98 <= read <= size * SLACK
    assert requests <= count * SLACK


def test_a_scan_reads_each_page_once(original):
    uri, table = original
    counts, sizes = zip(*(pages(uri, index, base_files(uri)) for index in range(len(COLUMNS))))
    read, requests, result = scan_cost(uri, None)
    assert result.equals(table.select(result.column_names).cast(result.schema))
    assert sum(sizes) * 0.98 <= read <= sum(sizes) * SLACK
    assert requests <= sum(counts) * SLACK


def test_requests_of_a_scan_over_overlays(copies, original):
    uri = copies()
    count, size = pages(uri, 0, base_files(uri))
    expected = original[1]["a"].to_numpy().copy()
    step, files = 40, 12
    for turn in range(files):
        fragment = turn % 4
        offsets = np.arange(turn, PER_FRAGMENT, step)
        values = noise(len(offsets), 100 + turn)
        overlay(uri, fragment, "a", offsets, values)
        expected[fragment * PER_FRAGMENT + offsets] = values
    read, requests, result = scan_cost(uri, ["a"])
    assert (result["a"].to_numpy() == expected).all()
    assert requests <= (count + files) * SLACK
    assert read <= (size + sum(bytes_ for _, bytes_ in overlay_files(uri))) * SLACK
    # A column that no overlay holds costs what it costs without them.
    assert scan_cost(uri, ["f"], warm=False)[:2] == scan_cost(original[0], ["f"], warm=False)[:2]


@pytest.mark.parametrize("column, make", [("a", noise), ("s", texts), ("e", embeddings)])
@pytest.mark.parametrize("shape", ["runs", "scattered"])
def test_a_losing_value_is_never_read(copies, column, make, shape):
    offsets = np.arange(3, PER_FRAGMENT, 17) if shape == "scattered" else np.arange(10_000, 13_000)
    values = make(len(offsets), 7)
    without, shadowed = copies("without.lance"), copies("shadowed.lance")
    overlay(without, 1, column, offsets, values)
    overlay(shadowed, 1, column, offsets, make(len(offsets), 6))
    overlay(shadowed, 1, column, offsets, values)
    for warm in (False, True):
        expected = scan_cost(without, [column], warm=warm)
        found = scan_cost(shadowed, [column], warm=warm)
        assert found[:2] == expected[:2]
        assert found[2].equals(expected[2])
    take = lambda dataset: dataset.take((PER_FRAGMENT + offsets[::7]).tolist(), columns=[column])  # noqa: E731
    expected, found = (cost(pennon.dataset(uri), take, warm=False) for uri in (without, shadowed))
    assert found[:2] == expected[:2]
    assert found[2].equals(expected[2])

    remove(shadowed, overlay_files(shadowed)[0][0])
    assert scan_cost(shadowed, [column])[2].equals(scan_cost(without, [column])[2])


def test_of_a_half_shadowed_overlay_half_is_read(copies):
    uri = copies()
    bare = scan_cost(uri, ["e"])[0]
    overlay(uri, 0, "e", range(0, 20_000), embeddings(20_000, 5))
    overlay(uri, 0, "e", range(10_000, 20_000), embeddings(10_000, 6))
    # 20,000 rows of the base are replaced by 10,000 of either overlay.
    assert scan_cost(uri, ["e"])[0] <= bare * 1.01


@pytest.mark.parametrize("column, make", [("a", noise), ("e", embeddings)])
def test_a_base_column_that_is_all_overlaid_is_not_read(copies, original, column, make):
    uri = copies()
    values = make(PER_FRAGMENT, 8)
    overlay(uri, 2, column, range(PER_FRAGMENT), values)
    base = base_files(uri)
    remove(uri, base[2])
    bytes_, requests, result = scan_cost(uri, [column])
    expected = original[1][column].slice(0, 2 * PER_FRAGMENT).to_pylist() if column == "a" else None
    if expected is not None:
        assert result[column].slice(0, 2 * PER_FRAGMENT).to_pylist() == expected
    assert pa.chunked_array([pa.array(values)]).equals(result[column].slice(2 * PER_FRAGMENT, PER_FRAGMENT))
    others = pages(uri, COLUMNS.index(column), [name for name in base if name != base[2]])
    own = pages(uri, 0, [overlay_files(uri)[0][0]])
    assert bytes_ <= (others[1] + own[1]) * SLACK
    assert requests <= (others[0] + own[0]) * SLACK
    with pytest.raises(FileNotFoundError):
        pennon.dataset(uri).to_table(columns=["f"])


def test_a_base_column_of_text_that_is_all_overlaid_costs_no_page(copies):
    uri = copies()
    overlay(uri, 2, "s", range(PER_FRAGMENT), texts(PER_FRAGMENT, 8))
    base = base_files(uri)
    bytes_, requests, result = scan_cost(uri, ["s"])
    assert result["s"].slice(2 * PER_FRAGMENT, PER_FRAGMENT).combine_chunks().equals(texts(PER_FRAGMENT, 8))
    others = pages(uri, 2, [name for name in base if name != base[2]])
    own = pages(uri, 0, [overlay_files(uri)[0][0]])
    assert bytes_ <= (others[1] + own[1]) * SLACK
    assert requests <= (others[0] + own[0]) * SLACK


def test_a_take_opens_only_the_overlays_that_it_needs(copies, original):
    uri = copies()
    table = original[1]
    overlay(uri, 1, "a", [5, 6, 7, 40_000], [1, 2, 3, 4])
    overlay(uri, 1, "e", range(100, 200), embeddings(100, 9))
    (first, _), (second, _) = overlay_files(uri)
    remove(uri, first)
    elsewhere = [4, PER_FRAGMENT + 4, PER_FRAGMENT + 8, PER_FRAGMENT + 150, ROWS - 1]
    dataset = pennon.dataset(uri)
    assert dataset.take(elsewhere, columns=["a", "f"])["a"].to_pylist() == table["a"].take(elsewhere).to_pylist()
    assert dataset.take([PER_FRAGMENT + 6], columns=["f", "s"]).num_rows == 1
    for rows in ([PER_FRAGMENT + 6], [PER_FRAGMENT + 40_000, 3]):
        with pytest.raises(FileNotFoundError, match=first):
            dataset.take(rows, columns=["a"])
    with pytest.raises(FileNotFoundError, match=first):
        dataset.to_table(columns=["a"])
    # The other overlay is whole.
    taken = dataset.take([PER_FRAGMENT + 150], columns=["e"])["e"].combine_chunks()
    assert taken.equals(embeddings(100, 9).slice(50, 1))
    remove(uri, second)
    dataset = pennon.dataset(uri)
    assert dataset.take([PER_FRAGMENT + 99, PER_FRAGMENT + 200], columns=["e"]).num_rows == 2
    with pytest.raises(FileNotFoundError, match=second):
        dataset.take([PER_FRAGMENT + 150], columns=["e"])


def test_a_take_reads_near_what_it_gives(original):
    uri, table = original
    rows = np.random.default_rng(12).choice(ROWS, 20, replace=False).tolist()
    take = lambda dataset: dataset.take(rows, columns=["e"])  # noqa: E731
    bytes_, requests, result = cost(pennon.dataset(uri), take, warm=True)
    assert result["e"].to_pylist() == table["e"].take(rows).to_pylist()
    assert requests <= len(rows)
    assert bytes_ <= len(rows) * DIMENSION * 4 * 2


def test_a_selective_filter_reads_few_rows_of_the_other_columns(original):
    uri, table = original
    wanted = table["a"][123_456].as_py()
    filtered = lambda dataset: dataset.to_table(columns=["e"], filter=f"a = {wanted}")  # noqa: E731
    bytes_, requests, result = cost(pennon.dataset(uri), filtered, warm=True)
    assert result.num_rows == 1
    count, size = pages(uri, 0, base_files(uri))
    assert bytes_ <= size * SLACK + 16_384
    assert requests <= count * SLACK + 2


def test_one_column_of_many_costs_no_more_than_of_few(tmp_path):
    def cost_of_one(columns):
        uri = str(tmp_path / f"{columns}.lance")
        table = pa.table({f"c{i}": noise(1000, i) for i in range(columns)})
        lance.write_dataset(table, uri, data_storage_version="2.2")
        asked = f"c{columns // 2}"
        read, requests, result = scan_cost(uri, [asked], warm=False)
        assert result[asked].equals(table[asked])
        return read, requests

    few, many = cost_of_one(10), cost_of_one(1000)
    # The tail, what of the offset tables is not in it, the column's metadata, its page.
    assert many[1] <= 4
    # A column more is an entry of 16 bytes in the table of offsets; no metadata of its own is read.
    assert many[0] <= few[0] + 990 * 16 + 4096
