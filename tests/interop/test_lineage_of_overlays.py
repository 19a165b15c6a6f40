"""Row versions after overlay commits, with the sequences inline and spilled into a data file's column."""

import lance
import pyarrow as pa
import pytest

import pennon

UPDATED = "_row_last_updated_at_version"
CREATED = "_row_created_at_version"


def make(uri, spilled):
    table = pa.table({"id": pa.array(range(50), pa.int64()), "v": pa.array(range(50), pa.int32())})
    dataset = lance.write_dataset(table, uri, enable_stable_row_ids=True)
    if spilled:
        dataset.update_config({"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "1"})
    dataset = lance.write_dataset(table.slice(0, 30), uri, mode="append")
    dataset.delete("id % 7 = 3")
    dataset.optimize.compact_files(target_rows_per_fragment=1000)
    return lance.dataset(uri)


@pytest.mark.parametrize("spilled", [False, True])
def test_an_update_stamps_the_covered_rows(tmp_path, spilled):
    uri = str(tmp_path / "t.lance")
    before = make(uri, spilled)
    fields = [field for fragment in before.get_fragments() for file in fragment.metadata.files for field in file.fields]
    assert (-5 in fields) == spilled  # the hidden column of last-updated versions
    expected = before.to_table(columns=["id", "v", UPDATED, CREATED]).to_pylist()

    pennon.dataset(uri).update({"v": "v + 1"}, where="id IN (2, 5, 49)")
    for row in expected:
        if row["id"] in (2, 5, 49):
            row["v"] += 1
            row[UPDATED] = before.version + 1
    assert sum(row[UPDATED] == before.version + 1 for row in expected) == 5

    columns = ["id", "v", UPDATED, CREATED]
    assert lance.dataset(uri).to_table(columns=columns).to_pylist() == expected
    assert pennon.dataset(uri).to_table(columns=columns).to_pylist() == expected
    assert pennon.dataset(uri).count_rows(f"{UPDATED} > {before.version}") == 5

    # And pylance goes on from there.
    lance.write_dataset(pa.table({"id": pa.array([99], pa.int64()), "v": pa.array([9], pa.int32())}), uri, mode="append")
    lance.dataset(uri).delete("id = 5")
    live = [row for row in expected if row["id"] != 5]
    assert pennon.dataset(uri).to_table(columns=columns).to_pylist()[: len(live)] == live
