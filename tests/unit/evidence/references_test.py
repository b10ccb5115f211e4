"""Who mentions a new file: the search behind the wire check (WIRE-01, WIRE-02)."""

from pathlib import Path

import pytest

from autopilot.evidence import references
from support.engine import Told, make_engine
from support.repos import write


def orphaned(folder: Path, path: str, *, mentioned_in: dict[str, str]) -> bool:
    write(folder, {path: "itself letter\n", **mentioned_in})
    return references.unreferenced(str(folder), [path]) == (path,)


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("src/letter.py", {"src/post.py": "from src.letter import Letter\n"}),
        ("ui/letter-box.tsx", {"ui/App.tsx": 'import { LetterBox } from "./letter-box"\n'}),
        ("app/letter_box.rb", {"app/post.rb": "LetterBox.new\n"}),
        ("post/send.go", {"main.go": 'import "example.org/app/post"\n'}),
        ("src/letter.rs", {"src/lib.rs": "mod letter;\n"}),
    ],
    ids=["python", "react", "by its type", "by its package", "rust"],
)
def test_a_file_another_one_names_is_wired(tmp_path: Path, path: str, other: dict[str, str]) -> None:
    assert not orphaned(tmp_path, path, mentioned_in=other)


@pytest.mark.parametrize(
    "other",
    [{}, {"a.py": "loveletters = 1\n"}, {"README.md": "see letter\n"}, {".planning/PLAN.md": "letter\n"},
     {"a.bin": "\0letter"}],
    ids=["alone", "part of a word", "prose", "planning", "binary"],
)  # fmt: skip
def test_a_file_nobody_names_is_an_orphan(tmp_path: Path, other: dict[str, str]) -> None:
    assert orphaned(tmp_path, "src/letter.py", mentioned_in=other)


def test_a_link_out_of_the_checkout_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside.py": "import letter\n", "in/letter.py": "x\n"})
    (tmp_path / "in" / "link.py").symlink_to(tmp_path / "outside.py")

    assert references.unreferenced(str(tmp_path / "in"), ["letter.py"]) == ("letter.py",)


def test_the_search_is_made_on_the_commit_and_not_on_the_user_s_files(tmp_path: Path) -> None:
    engine = make_engine(tmp_path)
    commit = engine.bench.seal({"src/letter.py": "x = 1\n", "src/wired.py": "y = 1\n", "src/b.py": "import wired\n"})
    write(engine.bench.root, {"uncommitted.py": "import letter\n"})

    facts = engine.hands(Told()).facts
    assert facts.unreferenced(commit, ["src/letter.py", "src/wired.py"]) == ("src/letter.py",)
