"""A run of the tests ends with why some were skipped."""

import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import pytest

def test_one(): pytest.skip("no rustc")
def test_two(): pytest.skip("no rustc")
@pytest.mark.skip(reason="no node")
def test_three(): pass
def test_four(): pass
"""


def test_skips_are_grouped_and_counted(tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "some_test.py").write_text(TESTS, encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "some_test.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()

    at = next(number for number, line in enumerate(lines) if "3 skipped, and why" in line)
    assert lines[at + 1 : at + 3] == ["    2  no rustc", "    1  no node"]
    assert "1 passed, 3 skipped" in lines[-1]
