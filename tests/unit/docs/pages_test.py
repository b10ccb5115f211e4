"""The pages hold together: links lead somewhere, and generated parts are current."""

import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links(page: Path) -> Iterator[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return (found["target"] for found in LINK.finditer(text) if "://" not in found["target"])


def anchors(page: Path) -> set[str]:
    """Those of headings as GitHub makes them (lower case, punctuation dropped, spaces to dashes), and those written."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#{1,6} +(.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"></a>', text))


def generator() -> Callable[[str], str]:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    renewed: Callable[[str], str] = module.renewed
    return renewed


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("page", [p for p in PAGES if "<!-- generated: " in p.read_text(encoding="utf-8")], ids=name_of)
def test_generated_parts_are_as_the_code_has_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert generator()(text) == text, "write them anew: python docs/generate.py"


def test_a_stale_part_is_noticed() -> None:
    stale = "<!-- generated: limits -->\nold\n<!-- end of limits -->\n"

    assert "command_seconds" in generator()(stale)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"\btests/[\w/]+_test\.py\b", page.read_text(encoding="utf-8")))

    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            places = [page.parent / target.partition("#")[0] for target in links(page)]
            waiting += [file for p in places for file in (p.glob("*.md") if p.is_dir() else [p]) if file.is_file()]

    assert {name_of(page) for page in PAGES if page.is_relative_to(ROOT / "docs")} <= {name_of(p) for p in reached}


@pytest.mark.parametrize("fragment", sorted((ROOT / "changes").iterdir()), ids=name_of)
def test_a_change_is_one_sentence_with_its_kind_in_the_name(fragment: Path) -> None:
    text = fragment.read_text(encoding="utf-8")

    assert re.fullmatch(r"[\w-]+\.(feature|fix|removal|internal)\.md", fragment.name)
    assert re.fullmatch(r"[^\n]+\.\n", text)
