"""Questions to a repository map: who imports this, who calls that, where something is."""

from collections.abc import Iterator

from autopilot.domain.codemap import Export, MappedFile, RepoMap
from autopilot.domain.value import Value
from autopilot.policy.map_imports import import_graph


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
