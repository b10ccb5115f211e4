"""Homes that agents are lent in tests: below the test's own folder, as a run has them below the cache."""

from collections.abc import Callable, Mapping
from pathlib import Path

from autopilot.agents.accounts.homes import Homes
from autopilot.workspace.files.removal import remove


def homes_at(
    folder: Path,
    carry: Mapping[str, tuple[str, ...]] | None = None,
    contacted: Callable[[str], frozenset[str] | None] = lambda _: None,
) -> Homes:
    return Homes(folder / "lent", folder / "vault", carry=carry, contacted=contacted, remove=remove)
