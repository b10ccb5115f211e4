"""Call after call, each ending in another way: nothing adds up, no process, no open file, no folder, no held call."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from support.players import LIMITS, STREAMS
from support.real_runs import processes_about

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(sys.platform != "linux", reason="keepers need Linux"),
]
SOAKER = Path(__file__).with_name("soaker.py")
NO_SANDBOX = 4
# So many in the ordinary suite, a third in each tier; `make faults` has more.
CALLS = int(os.environ.get("AUTOPILOT_SOAK", "33"))
TELLS = 'cat "$here/told"'
# What the program does, how its call ends, and the seconds it is given.
MODES = {
    "answers": (TELLS, "ok", 120),
    "usage limit": ('cat "$here/limit"; exit 1', "usage_limited", 120),
    "crash": ("echo boom >&2; exit 3", "crashed", 120),
    "hang": ("sleep 600", "timeout", 1),
    "stall": ('head -n 1 "$here/told"; sleep 600', "timeout", 1),
    "garbage": ("printf '{\"half\": \\377\\376\\n'", "crashed", 120),
    "terminated": ("kill -TERM $$; sleep 600", "cancelled", 120),
    "leaves a daemon": (f"(setsid sleep 600 &); {TELLS}", "ok", 120),
    "does not leave": (f"{TELLS}; exec sleep 600", "ok", 120),
    "flood": (f'head -c 9000000 /dev/zero | tr "\\0" x; echo; {TELLS}', "ok", 120),
    "no such program": ("exec /nonexistent/program", "crashed", 120),
}


def install(folder: Path) -> None:
    """One program a mode, and the list of them."""
    (folder / "programs").mkdir()
    for name, events in {"told": STREAMS["claude"], "limit": LIMITS["claude"]}.items():
        text = "".join(f"{msgspec.json.encode(event).decode()}\n" for event in events)
        (folder / "programs" / name).write_text(text)
    listed = {}
    for number, (mode, (script, _, seconds)) in enumerate(MODES.items()):
        program = folder / "programs" / f"program{number}"
        program.write_text(f"#!/bin/sh\nhere={folder}/programs\ncat > /dev/null\n{script}\n")
        program.chmod(0o755)
        listed[mode] = (str(program), seconds)
    (folder / "programs.json").write_text(json.dumps(listed))


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock", "none"])
def test_nothing_adds_up_over_many_calls(tier: str, tmp_path: Path) -> None:
    for name in ("scratch", "work"):
        (tmp_path / name).mkdir()
    install(tmp_path)
    argv = [sys.executable, str(SOAKER), str(tmp_path), tier, str(CALLS // 3)]
    env = {**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    run = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if run.returncode == NO_SANDBOX:
        pytest.skip(run.stderr)
    told = json.loads(run.stdout)

    assert [outcome for _, outcome in told["ended"]] == [MODES[mode][1] for mode, _ in told["ended"]]
    assert len(told["ended"]) == CALLS // 3
    assert told["open"][0] == told["open"][1]
    assert processes_about(tmp_path) == []
    assert [list((tmp_path / name).iterdir()) for name in ("scratch", "keep", "work")] == [[], [], []]
