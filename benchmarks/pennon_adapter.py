"""pennon as an engine of peers.py: `--add pennon=benchmarks/pennon_adapter.py:Pennon`."""

import glob
import os

import numpy as np

import pennon
from peers import Engine


class Pennon(Engine):
    name = "pennon"
    format = "lance"

    def __init__(self):
        self.dataset = None

    def open(self, uri):
        self.dataset = pennon.dataset(uri)
        return self.dataset.version

    def write_overlay(self, change):
        """The writer knows the row positions: one overlay a fragment touched, as the pylance engine does."""
        first = 0
        pieces = []
        for fragment in self.dataset.get_fragments():
            count = fragment.physical_rows
            low, high = np.searchsorted(change.rows, [first, first + count])
            if high > low:
                pieces.append((fragment.fragment_id, change.rows[low:high] - first, change.values.slice(low, high - low)))
            first += count
        for fragment_id, offsets, values in pieces:
            self.dataset.write_overlay(fragment_id, {change.column: (offsets, values)})

    def scan(self, columns=None):
        return sum(batch.num_rows for batch in self.dataset.to_batches(columns=columns))

    def take(self, rows, columns=None):
        return self.dataset.take(np.asarray(rows), columns=columns)

    def filter(self, column, low, high, columns):
        text = f"{column} = {low}" if low == high else f"{column} >= {low} AND {column} <= {high}"
        return self.dataset.to_table(filter=text, columns=columns)

    def column_batches(self, column):
        for batch in self.dataset.to_batches(columns=["id", column]):
            yield batch["id"], batch[column]

    def state(self):
        newest = glob.glob(os.path.join(self.dataset.uri, "_versions", "*.manifest"))
        return {
            "fragments": len(self.dataset.get_fragments()),
            "overlays": len(self.dataset.overlays()),
            "manifest_bytes": max((os.path.getmtime(p), os.path.getsize(p)) for p in newest)[1] if newest else 0,
        }
