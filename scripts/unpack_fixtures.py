#!/usr/bin/env python3
"""Unpacks testdata/fixtures.tar.xz into build/fixtures-<hash of the archive> and prints the path of its data/.

Safe to call from several processes at once; does nothing when that is done. build/fixtures links to the newest one,
and /lance-fixtures, the base path that a few of the tables name (testdata/README.md), links there where the
file system lets us.
"""

import hashlib
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARCHIVE = ROOT / "testdata/fixtures.tar.xz"
BASE_LINK = Path("/lance-fixtures")


def replace_link(link: Path, target: Path) -> bool:
    """Points `link` at `target` in one step; False if that is not allowed or `link` is something else."""
    if link.is_symlink() and os.readlink(link) == str(target):
        return True
    if link.exists() and not link.is_symlink():
        return False
    try:
        fresh = link.with_name(f"{link.name}.{os.getpid()}")
        fresh.symlink_to(target)
        fresh.replace(link)
    except OSError:
        return False
    return True


def unpack() -> Path:
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()[:16]
    folder = ROOT / f"build/fixtures-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix="fixtures-part-", dir=folder.parent))
        with tarfile.open(ARCHIVE) as archive:
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from Python 3.11.4 on
            archive.extractall(part, **safe)
        part.chmod(0o755)
        try:
            part.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(part)
    data = folder / "data"
    replace_link(ROOT / "build/fixtures", data)
    replace_link(BASE_LINK, data)
    return data


if __name__ == "__main__":
    print(unpack())
