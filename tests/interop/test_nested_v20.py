"""Files of version 2.0 by the reference library, of columns that are not flat, read by pennon: whole, in ranges, by row.

The judge is what was written, and the reference library's own file reader.
"""

import random

import pyarrow as pa
import pytest

from . import nested_v20_cases as cases
from .test_file_reader import check_column, lance_file

PAGES = {
    "one page": ({}, None),
    "many pages": ({"data_cache_bytes": 1}, 130),
    "pages of any size": ({"data_cache_bytes": 3000, "max_page_bytes": 700}, 77),
}


def write(path, field, array, options, batch):
    """Writes the column; gives its schema and values as the reference library reads them."""
    schema = pa.schema([field])
    with lance_file.LanceFileWriter(str(path), schema, version="2.0", **options) as writer:
        for at in range(0, len(array), batch or len(array)):
            part = array.slice(at, batch or len(array))
            if pa.types.is_struct(array.type):  # the writer fails on slices of structs
                part = array.take(pa.array(range(at, at + len(part))))
            writer.write_batch(pa.record_batch([part], schema=schema))
    return schema


def check(path, field, array, folder):
    judged = lance_file.LanceFileReader(str(path)).read_all(batch_size=1 << 20).to_table().column(0)
    assert judged.to_pylist() == array.to_pylist()
    check_column(path, pa.schema([field]), 0, 0, array, folder)


@pytest.mark.parametrize("pages", PAGES)
@pytest.mark.parametrize("name", cases.CASES)
def test_named(name, pages, tmp_path):
    field, array = cases.CASES[name]
    options, batch = PAGES[pages]
    path = tmp_path / "n.lance"
    write(path, field, array, options, batch)
    check(path, field, array, tmp_path)


@pytest.mark.parametrize("seed", range(40))
def test_random(seed, tmp_path):
    field, array = cases.random_column(seed)
    rng = random.Random(seed)
    options = {"data_cache_bytes": rng.choice([1, 5000, 10**8]), "max_page_bytes": rng.choice([300, 5000, 10**7])}
    path = tmp_path / "r.lance"
    write(path, field, array, options, rng.randrange(1, len(array) + 1))
    check(path, field, array, tmp_path)
