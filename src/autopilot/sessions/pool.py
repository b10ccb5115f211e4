"""Work for several agents at once: bounded, one failure harms no other, a stop only keeps new work from starting."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pooled(Generic[T]):
    """What came back by name, what failed and with what words, and what was never started."""

    results: Mapping[str, T] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    unstarted: tuple[str, ...] = ()


def run_pool(
    tasks: Sequence[tuple[str, Callable[[], T]]], most: int, aborted: Callable[[], bool] = lambda: False
) -> Pooled[T]:
    """Work that has begun is waited for, however long it takes. Raises `ValueError` for equal names or no workers."""
    names = [name for name, _ in tasks]
    if most < 1:
        raise ValueError("at least one worker is needed")
    if len(set(names)) < len(names):
        raise ValueError(f"two tasks are called {next(name for name in names if names.count(name) > 1)!r}")
    results: dict[str, T] = {}
    errors: dict[str, str] = {}
    unstarted: list[str] = []

    def perform(name: str, work: Callable[[], T]) -> None:
        if aborted():
            unstarted.append(name)
            return
        try:
            results[name] = work()
        except Exception as error:  # noqa: BLE001 - whatever one task dies of, the others go on
            errors[name] = str(error)

    with ThreadPoolExecutor(max_workers=most) as workers:
        for name, work in tasks:
            workers.submit(perform, name, work)
    ordered = {name: results[name] for name in names if name in results}
    failed = {name: errors[name] for name in names if name in errors}
    return Pooled(results=ordered, errors=failed, unstarted=tuple(name for name in names if name in unstarted))
