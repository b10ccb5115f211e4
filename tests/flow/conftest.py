"""Where whole runs take place."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.runs import playground


@pytest.fixture
def place() -> Iterator[Path]:
    with playground() as folder:
        yield folder
