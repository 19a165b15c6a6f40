"""What all Python tests share: the fixtures of testdata/, unpacked once."""

import os
import sys
from pathlib import Path

import pytest

# pylance looks at this when it is imported; without it, it refuses tables with overlays.
os.environ.setdefault("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import unpack_fixtures  # noqa: E402


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """The folder of fixture cases (testdata/README.md). Shared by all tests: copy a table before writing to it."""
    return unpack_fixtures.unpack()


@pytest.fixture(scope="session")
def project_dir() -> Path:
    return ROOT
