"""Readers are forked: what kills one of them costs the outline of one text, and nothing else."""

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from autopilot.codemap.grammars import missing
from autopilot.codemap.reader import MOST_BYTES, encoder, texts
from support.repos import git

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"the extra `map` is not installed: {missing()}")

# Forking is for a process with one thread, which that of the tests is not.
CODE = """
import json, os, sys
from autopilot.codemap import reader, reader_pool as readers
from autopilot.codemap.bare_io import PlainGit
readers.WORTH_SPLITTING = int(sys.argv[3])
def fragile(git, keys, asked, answers):
    plain = reader.outline
    def outline(grammar, text):
        return os.abort() if b"deadly" in text else plain(grammar, text)
    reader.outline = outline
    reader.read(git, keys, asked, answers)
made = readers.Readers(PlainGit(["git"]), sys.argv[1] + "/scratch", int(sys.argv[4]), fragile)
print(json.dumps({key: answer.decode() for key, answer in made.answers(sys.argv[2].split())}))
"""

# A reader whose parent is killed while it is at its first text.
ORPHAN = """
import os, signal, sys, time
from autopilot.codemap import reader, reader_pool as readers
from autopilot.codemap.bare_io import PlainGit
reading, writing = os.pipe()
def outline(grammar, text):
    parent = os.getppid()
    os.write(writing, text[:1])
    while os.getppid() == parent:
        time.sleep(0.01)
    return {}
reader.outline = outline
middle = os.fork()
if middle == 0:
    os.close(reading)
    list(readers.Readers(PlainGit(["git"]), sys.argv[1] + "/scratch", 0).answers(sys.argv[2].split()))
os.close(writing)
seen = os.read(reading, 1)
os.kill(middle, signal.SIGKILL)
while more := os.read(reading, 10):
    seen += more
print(seen.decode())
"""


def kept(folder: Path, sources: list[str]) -> list[str]:
    git(folder, "init", "-q")
    keys = []
    for number, source in enumerate(sources):
        (folder / f"{number}.py").write_text(source)
        keys.append(git(folder, "hash-object", "-w", f"{number}.py") + ":python")
    return keys


def answers(folder: Path, sources: list[str], least: int = 300, workers: int = 0) -> list[str]:
    """The name each text exports first, empty where there is none."""
    keys = kept(folder, sources)
    argv = [sys.executable, "-c", CODE, str(folder), " ".join(keys), str(least), str(workers)]
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=True, text=True)
    told = {key: json.loads(line.split(" ", 5)[5]) for key, line in json.loads(done.stdout).items()}
    return [next((export["name"] for export in told[key].get("exports", ())), "") for key in keys]


@pytest.mark.parametrize(("least", "workers"), [(300, 0), (1, 2)], ids=["one reader", "two readers"])
def test_a_text_that_kills_the_reader_costs_only_its_own_outline(tmp_path: Path, least: int, workers: int) -> None:
    sources = ["def a(): ...\n", "deadly = 1\n", "def b(): ...\n", "def c(): ...\n", "deadly = 2\n"]

    assert answers(tmp_path, sources, least, workers) == ["a", "", "b", "c", ""]


def test_few_texts_are_read_without_a_fork(tmp_path: Path) -> None:
    """The reader that dies is only that of forks."""
    assert answers(tmp_path, ["def a(): ...\n", "deadly = 1\n"], workers=2) == ["a", "deadly"]


def test_readers_that_all_die_are_given_up(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        answers(tmp_path, [f"deadly = {n}\n" for n in range(102)])

    assert "101 readers died" in raised.value.stderr


def test_a_reader_whose_parent_is_gone_reads_no_further_text(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", ORPHAN, str(tmp_path), " ".join(kept(tmp_path, ["a = 1\n", "b = 1\n", "c = 1\n"]))]

    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, check=True, text=True).stdout == "a\n"


def test_no_file_is_left_beside_the_book(tmp_path: Path) -> None:
    answers(tmp_path, ["def a(): ...\n", "deadly = 1\n"])

    assert not [*tmp_path.glob("scratch*")]


def test_a_text_that_is_too_big_or_gone_is_passed_over() -> None:
    big = MOST_BYTES + 1
    said = b"aa blob 3\nabc\nbb missing\ncc blob %d\n%b\ndd blob 0\n\n" % (big, b"x" * big)

    assert [*texts(BytesIO(said))] == [b"abc", None, None, b""]


@pytest.mark.parametrize("count", [1, 10_000], ids=["few", "many"])
def test_both_encoders_write_one_line_that_says_the_same(count: int) -> None:
    raw: dict[str, list[dict[str, object]]] = {"exports": [{"name": 'é\n"\x01', "type": "const", "line": 1}]}
    written = encoder(count)(raw)

    assert (json.loads(written), b"\n" in written) == (raw, False)
