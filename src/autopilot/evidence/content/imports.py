"""Whether what a changed source file of a user interface refers to by a relative path is there (PTV-03)."""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from autopilot.domain.evidence import Finding
from autopilot.evidence.content.tree_files import TreeFiles

RULE = "PTV-03"
SCRIPTS = frozenset({".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".astro"})
STYLES = frozenset({".css", ".scss", ".sass", ".less"})
PAGES = frozenset({".html", ".htm"})
# What an import may leave out at its end, and what a bundler reads in place of `.js`.
ENDINGS = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json", ".vue", ".svelte",
           ".astro", ".css", ".scss", ".sass", ".less", ".node", ".wasm")  # fmt: skip
_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\w])//[^\n]*", re.DOTALL)
_IMPORT = re.compile(
    r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*(["'])(?P<path>\.{1,2}/[^"'\n$]*|\.{1,2})\1"""
)
_STYLE = re.compile(r"""@(?:import|use|forward)\s+(?:url\(\s*)?(["'])(?P<path>\.{1,2}/[^"'\n]+)\1""")
_PAGE = re.compile(
    r"""<(?:script\b[^>]*?\bsrc|link\b[^>]*?\bhref)\s*=\s*(["'])(?P<path>(?![a-z]+:|//|/|\#|data:)[^"'{}<>\n]+)\1""",
    re.IGNORECASE,
)
# Written by the framework while it builds, so never in the tree.
_GENERATED = re.compile(r"(?:^|/)(?:\$types|\+types|generated|__generated__|dist|build|\.next|\.nuxt)(?:/|$|\.)")


def findings(path: str, tree: TreeFiles, claimed: Collection[str]) -> Iterator[Finding]:  # noqa: ARG001 - one signature
    suffix = PurePosixPath(path).suffix.lower()
    pattern = next((p for kinds, p in ((SCRIPTS, _IMPORT), (STYLES, _STYLE), (PAGES, _PAGE)) if suffix in kinds), None)
    content = tree.read(path) if pattern else None
    if pattern is None or content is None:
        return
    text = content.decode("utf-8", "replace")
    bare = text if suffix in PAGES else _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in pattern.finditer(bare):
        name = re.split(r"[?#]", found["path"].strip())[0]
        if name and not _GENERATED.search(name) and not resolves(name, path, tree):
            line = bare.count("\n", 0, found.start("path")) + 1
            yield Finding(rule=RULE, where=f"{path}:{line}", what=f"refers to '{name}', which is not there")


def resolves(name: str, path: str, tree: TreeFiles) -> bool:
    """As the file itself, with an ending it may leave out, as a folder's index, or as a partial of a style."""
    place = PurePosixPath(os.path.normpath(PurePosixPath(path).parent / name))
    sources = (place.with_suffix(""),) if place.suffix in {".js", ".jsx", ".mjs", ".cjs"} else ()
    partial = place.parent / f"_{place.name}"
    bases = (place, *sources, place / "index", place / "package.json", partial)
    return any(tree.has(f"{base}{ending}") for base in bases for ending in ENDINGS)
