"""A few rounds of the soak, so that it is known to work when it is wanted for hours."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.faults import seed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="memory and processes are read from /proc"),
]
SOAK = Path(__file__).with_name("soak.py")


def test_rounds_of_every_kind_leave_nothing_wrong(tmp_path: Path) -> None:
    told = tmp_path / "soak.json"
    words = ["--minutes", "0", "--rounds", "3", "--seed", str(seed()), "--json", str(told)]
    ran = subprocess.run([sys.executable, str(SOAK), *words], capture_output=True, text=True, check=False)

    summary = json.loads(told.read_text(encoding="utf-8"))
    assert summary["violations"] == [], ran.stderr
    assert sum(summary["rounds"].values()) == 3
    assert any(kind.startswith("killed") for kind in summary["rounds"])
    assert summary["steps"] > 60
    assert summary["descriptors_flat"]
