"""Values of any annotated type for property tests, small and chosen to sit on the edges that rules look at."""

import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

WORDS = st.sampled_from(["", "x", "0/1", "1/1"])
EDGES: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    str: lambda: WORDS,
    int: lambda: st.integers(0, 3),
    float: lambda: st.sampled_from([-1.0, 0.0, 6.9, 7.0, 8.9, 9.0, 10.0, 11.0]),
    bool: st.booleans,
    type(None): st.none,
    msgspec.UnsetType: lambda: st.just(msgspec.UNSET),
}


def edge_values(kind: Any, named: Mapping[str, st.SearchStrategy[Any]] | None = None) -> st.SearchStrategy[Any]:
    """Any value of the type. `named` says what fields of that name hold, wherever they are."""
    if kind in EDGES:
        return EDGES[kind]()
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(_listed(inner[0], named), max_size=1).map(tuple)
    if origin is dict:
        return st.dictionaries(WORDS, _listed(inner[1], named), max_size=1)
    if origin in {Union, types.UnionType}:
        return st.one_of([edge_values(option, named) for option in inner])
    assert issubclass(kind, msgspec.Struct), kind
    known = named or {}
    hints = get_type_hints(kind).items()
    return st.builds(kind, **{n: known[n] if n in known else edge_values(hint, named) for n, hint in hints})


def _listed(kind: Any, named: Mapping[str, st.SearchStrategy[Any]] | None) -> st.SearchStrategy[Any]:
    """Of values in a list only what rules may look at varies: one of a few words. It keeps the search small."""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return edge_values(kind, named)
    hints = get_type_hints(kind).items()
    return st.builds(kind, **{n: edge_values(hint) for n, hint in hints if get_origin(hint) is Literal})
