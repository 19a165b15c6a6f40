"""Overlays committed by pylance, through what it makes public: value files and the DataOverlay operation."""

import os
import uuid

import lance
from lance.bitmap import Bitmap
from lance.file import LanceFileWriter
from lance.fragment import DataFile


def field_ids(dataset):
    return {f.name(): f.id() for f in dataset.lance_schema.fields()}


def overlay_file(dataset, offsets, table):
    """One dense overlay (not committed): ``table`` has a row for each of the ascending ``offsets``."""
    ids = field_ids(dataset)
    name = f"{uuid.uuid4()}.lance"
    path = os.path.join(dataset.uri, "data", name)
    with LanceFileWriter(path, table.schema, version=dataset.data_storage_version) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    major, minor = (int(x) for x in dataset.data_storage_version.split("."))
    fields = [ids[n] for n in table.schema.names]
    file = DataFile(name, fields, list(range(len(fields))), major, minor, os.path.getsize(path))
    return lance.LanceOperation.DataOverlayFile(file, Bitmap(list(offsets)))


def commit_overlay(dataset, fragment, offsets, table):
    """Commits one dense overlay; returns the new dataset."""
    group = lance.LanceOperation.DataOverlayGroup(fragment, [overlay_file(dataset, offsets, table)])
    return lance.LanceDataset.commit(
        dataset.uri, lance.LanceOperation.DataOverlay(groups=[group]), read_version=dataset.version
    )
