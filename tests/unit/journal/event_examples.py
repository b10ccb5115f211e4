"""Events of every kind, made from their types, so that a new field is covered the day it is added."""

import types
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from autopilot.domain.attempt import Spec
from autopilot.domain.events import AgentAnswered, Event, Noted, PhaseSkipped, RunStarted, StepStarted
from autopilot.domain.evidence import Usage
from autopilot.domain.phase import Phase
from autopilot.domain.settings import Settings

KINDS: tuple[type[Any], ...] = get_args(Event)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=3,
)
PLAIN: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    str: lambda: TEXT,
    int: lambda: st.integers(-(2**62), 2**62),
    float: lambda: NUMBER,
    bool: st.booleans,
    type(None): st.none,
    msgspec.UnsetType: lambda: st.just(msgspec.UNSET),
    Any: lambda: JSON,
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of the annotated type."""
    if kind in PLAIN:
        return PLAIN[kind]()
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=2)
    if origin in {Union, types.UnionType}:
        return st.sampled_from(inner).flatmap(values)
    assert issubclass(kind, msgspec.Struct), kind
    return st.deferred(lambda: st.builds(kind, **{name: values(hint) for name, hint in get_type_hints(kind).items()}))


def run_started(run: str = "run-2026-01-01-120000", phases: int = 2) -> RunStarted:
    listed = tuple(Phase(id=str(n + 1), name=f"phase {n + 1}") for n in range(phases))
    return RunStarted(
        run=run,
        root="/project",
        branch="main",
        base="a" * 40,
        spec=Spec(path=".planning/ROADMAP.md", sha256="5" * 64),
        roadmap=".planning/ROADMAP.md",
        phases=listed,
        targets=tuple(phase.id for phase in listed),
        settings=Settings(agent="scripted:answers.toml"),
    )


def samples() -> tuple[Event, ...]:
    """A few different events for tests that do not care which."""
    return (
        run_started(),
        PhaseSkipped(phase="2", reason="already_completed"),
        Noted(event="rubber_stamp_warning", details={"größe": "∞", "liste": [1, 2.5, None]}),
        StepStarted(step="plan", n=0, base="a" * 40, nonce="n", boot="b"),
        AgentAnswered(
            call="c",
            role="plan",
            outcome="ok",
            answer="{}",
            text="naïve 😀",
            usage=Usage(),
            commands=("ls",),
            seconds=1.5,
        ),
    )
