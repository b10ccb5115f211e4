"""Answers questions about a code map: who imports a file, who calls a function."""

from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath

from autopilot.domain.codemap import Export, Import, Language, MappedFile, RepoMap
from autopilot.domain.value import Value

SCRIPTS = ("ts", "tsx", "d.ts", "js", "jsx", "mjs", "cjs", "mts", "cts", "json", "vue", "svelte")
ENDINGS: dict[Language, tuple[str, ...]] = {
    "python": ("py", "pyi"),
    "typescript": SCRIPTS,
    "javascript": SCRIPTS,
    "rust": ("rs",),
    "java": ("java",),
    "ruby": ("rb",),
    "php": ("php",),
}
INDEX: dict[Language, tuple[str, ...]] = {
    "python": ("__init__",),
    "typescript": ("index",),
    "javascript": ("index",),
    "rust": ("mod",),
}
ALIASES = ("@/", "~/", "#/", "src/", "$lib/")
SUPER = "super"


class Paths:
    """Every path of a map, to be found whole, by its end, or by its folder."""

    def __init__(self, files: Iterable[MappedFile]) -> None:
        self.all = frozenset(file.path for file in files)
        self._by_name: dict[str, list[str]] = {}
        self._by_folder: dict[str, list[str]] = {}
        for path in sorted(self.all):
            folder, _, name = path.rpartition("/")
            self._by_name.setdefault(name, []).append(path)
            self._by_folder.setdefault(folder.rpartition("/")[2], []).append(path)

    def ending(self, tail: str) -> Iterator[str]:
        """Paths that are the tail or end in `/` and the tail."""
        for path in self._by_name.get(tail.rpartition("/")[2], ()):
            if path == tail or path.endswith(f"/{tail}"):
                yield path

    def inside(self, folder: str, suffix: str) -> Iterator[str]:
        """Files right in a folder whose path is the end of `folder`, or the other way round."""
        for path in self._by_folder.get(folder.rpartition("/")[2], ()):
            own = dirname(path)
            same = own == folder or own.endswith(f"/{folder}") or folder.endswith(f"/{own}")
            if same and path.endswith(suffix):
                yield path


def targets(file: MappedFile, needed: Import, paths: Paths) -> frozenset[str]:
    """The files of the map the import of the file may mean; none for a library. A file does not import itself."""
    match file.language:
        case "python":
            found = _python(file.path, needed, paths)
        case "typescript" | "javascript":
            found = _script(file, needed.source, paths)
        case "go":
            found = paths.inside(needed.source, ".go")
        case "rust":
            found = _rust(file, needed, paths)
        case "java" | "php":
            found = _named_types(file, needed, paths)
        case "c" | "cpp":
            found = _included(file.path, needed.source, paths)
        case "ruby":
            found = _plain(file, needed.source, paths)
        case _:
            found = iter(())
    return frozenset(found) - {file.path}


def _variants(place: str, language: Language) -> Iterator[str]:
    """The file a name without an ending means, and the index of the folder of that name."""
    endings = ENDINGS[language]
    yield from (f"{place}.{ending}" for ending in endings)
    yield from (f"{place}/{index}.{ending}" for index in INDEX.get(language, ()) for ending in endings)


def _python(path: str, needed: Import, paths: Paths) -> Iterator[str]:
    dots = len(needed.source) - len(needed.source.lstrip("."))
    module = needed.source.lstrip(".").replace(".", "/")
    names = [name for name in needed.names if name.isidentifier()]
    if dots:
        base = path
        for _ in range(dots):
            base = dirname(base)
        start = join(base, module) if module else base
        places = [start, *(join(start, name) for name in names)]
        yield from (found for place in places for found in _variants(place, "python") if found in paths.all)
        return
    places = [module, *(f"{module}/{name}" for name in names)]
    yield from (found for place in places for tail in _variants(place, "python") for found in paths.ending(tail))


def _script(file: MappedFile, source: str, paths: Paths) -> Iterator[str]:
    bare = source.partition("?")[0]
    if bare.startswith("."):
        place = normpath(join(dirname(file.path), bare))
        yield from (found for found in _script_variants(place) if found in paths.all)
    elif "/" in bare:
        tail = next((bare.removeprefix(alias) for alias in ALIASES if bare.startswith(alias)), bare)
        yield from (found for place in _script_variants(tail) for found in paths.ending(place))


def _script_variants(place: str) -> Iterator[str]:
    """Also the source a bundler takes where `.js` is written."""
    stem, dot, ending = place.rpartition(".")
    yield place
    yield from _variants(place, "typescript")
    if dot and ending in {"js", "jsx", "mjs", "cjs"}:
        yield from (f"{stem}.{other}" for other in SCRIPTS)


def _rust(file: MappedFile, needed: Import, paths: Paths) -> Iterator[str]:
    parts = needed.source.split("::")
    folder, _, name = file.path.rpartition("/")
    stem = name.removesuffix(".rs")
    here = folder if stem in {"mod", "lib", "main"} else join(folder, stem)
    tails = ["/".join((*parts[1:], *more)) for more in ((), needed.names[:1])]
    if parts[0] == "self":
        places = [normpath(join(here, tail)) for tail in tails if tail]
    elif parts[0] == SUPER:
        places = [normpath(join(dirname(here), tail)) for tail in tails if tail]
    else:
        own = tails if parts[0] == "crate" else ["/".join((*parts, *more)) for more in ((), needed.names[:1])]
        yield from (f for tail in own if tail for v in _variants(tail, "rust") for f in paths.ending(v))
        return
    yield from (found for place in places for found in _variants(place, "rust") if found in paths.all)


def _named_types(file: MappedFile, needed: Import, paths: Paths) -> Iterator[str]:
    """`a.b.C` lies in `a/b/C`; what stands before may be cut off, as a namespace that starts at a folder of its own."""
    if needed.source.startswith("./"):
        yield from _included(file.path, needed.source, paths)
        return
    parts = needed.source.replace("\\", "/").replace(".", "/")
    ending = ENDINGS[file.language][0]
    if "*" in needed.names:
        yield from paths.inside(parts, f".{ending}")
    tails = [parts, *(f"{parts}/{name}" for name in needed.names if name != "*")]
    for tail in tails:
        yield from paths.ending(f"{tail}.{ending}")
        if file.language == "php" and "/" in tail:
            yield from paths.ending(f"{tail.partition('/')[2]}.{ending}")


def _included(path: str, source: str, paths: Paths) -> Iterator[str]:
    near = normpath(join(dirname(path), source))
    if near in paths.all:
        yield near
    elif not source.startswith("."):
        yield from paths.ending(source)


def _plain(file: MappedFile, source: str, paths: Paths) -> Iterator[str]:
    bare = source.removesuffix(".rb")
    if source.startswith("."):
        place = normpath(join(dirname(file.path), bare))
        yield from (found for found in _variants(place, file.language) if found in paths.all)
    else:
        yield from (f for tail in _variants(bare, file.language) for f in paths.ending(tail))


def import_graph(files: Iterable[MappedFile]) -> Mapping[str, tuple[str, ...]]:
    """Every file that is imported, with those that do so."""
    listed = tuple(files)
    paths = Paths(listed)
    users: dict[str, dict[str, None]] = {}
    for file in listed:
        for needed in file.imports:
            for target in targets(file, needed, paths):
                users.setdefault(target, {})[file.path] = None
    return {path: tuple(own) for path, own in users.items()}


class Place(Value, frozen=True, kw_only=True):
    """Where something is; `what` is its kind."""

    path: str
    line: int
    name: str
    what: str

    def __str__(self) -> str:
        return f"{self.name} ({self.what}, {self.path}:{self.line})"


def file_at(told: RepoMap, path: str) -> MappedFile | None:
    return next((file for file in told.files if file.path == path), None)


def exists(told: RepoMap, path: str) -> bool:
    """Whether the path is a file, or a folder with files in it."""
    bare = path.removeprefix("./").rstrip("/")
    return any(file.path == bare or file.path.startswith(f"{bare}/") for file in told.files)


def defined(told: RepoMap, name: str) -> bool:
    """Whether some file defines the name, as `Class.method` too, or imports it from elsewhere, or is called so."""
    return any(
        any(_means(own, name) for own in (*(place.name for place in places(file)), *_methods(file)))
        or any(name in needed.names for needed in file.imports)
        or name in file.path.partition(".")[0].split("/")
        for file in told.files
    )


def _methods(file: MappedFile) -> Iterator[str]:
    return (f"{owner.name}.{method}" for owner in file.classes for method in owner.methods)


def importers_of(told: RepoMap, path: str) -> tuple[str, ...]:
    return import_graph(told.files).get(path, ())


def exports_of(told: RepoMap, path: str) -> tuple[Export, ...]:
    file = file_at(told, path)
    return file.exports if file else ()


def callers_of(told: RepoMap, name: str) -> tuple[Place, ...]:
    """`name` is a function, or a method as `Class.method` or by its own name."""
    return tuple(
        Place(path=file.path, line=calls.line, name=calls.caller, what="caller")
        for file in told.files
        for calls in file.call_graph
        if any(_means(callee, name) for callee in calls.callees)
    )


def callees_of(told: RepoMap, name: str) -> tuple[str, ...]:
    graphs = (calls for file in told.files for calls in file.call_graph if _means(calls.caller, name))
    return tuple(dict.fromkeys(callee for calls in graphs for callee in calls.callees))


def where_is(told: RepoMap, name: str) -> tuple[Place, ...]:
    """Every class, function and export of that name, each once."""
    return tuple(place for file in told.files for place in places(file) if place.name == name)


def places(file: MappedFile) -> Iterator[Place]:
    """What the file defines, each thing once."""
    seen = set[tuple[str, int]]()
    listed = (
        *((c.name, c.line, "class") for c in file.classes),
        *((f.name, f.line, "function") for f in file.functions),
        *((e.name, e.line, e.type) for e in file.exports),
    )
    for name, line, what in listed:
        if (name, line) not in seen:
            seen.add((name, line))
            yield Place(path=file.path, line=line, name=name, what=what)


def _means(found: str, name: str) -> bool:
    return found == name or found.rpartition(".")[2] == name
