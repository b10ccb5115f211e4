"""In full these suites take hours: then none of them has a time limit."""

from pathlib import Path

import pytest

from support.faults import full

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items if full() else ():
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(0), append=False)
