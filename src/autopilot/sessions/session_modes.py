"""The modes a session can be in, which of them Autopilot carries out, and which may run beside another."""

from typing import Literal, get_args

Mode = Literal["housekeeping", "feature", "deep", "discovery", "evolve", "plan-retro"]
Executed = Literal["feature", "deep", "housekeeping"]
Exclusivity = Literal["exclusive", "parallel-ok", "always-ok"]

MODES: tuple[Mode, ...] = get_args(Mode)
EXECUTED: tuple[Executed, ...] = get_args(Executed)
DEFAULT: Mode = "feature"
# A swap never leads into these: they look and think, and leave nothing to judge a session by.
NOT_SWAPPED_INTO = frozenset({"discovery", "plan-retro"})
TIERS: dict[str, Mode] = {"fast": "housekeeping", "standard": "feature", "deep": "deep"}

_BESIDE: dict[str, Exclusivity] = {
    **dict.fromkeys(("bootstrap", "housekeeping", "memory-cleanup"), "exclusive"),
    **dict.fromkeys(("deep", "feature"), "parallel-ok"),
    **dict.fromkeys(("discovery", "evolve", "plan", "plan-retro", "repo-audit", "portfolio"), "always-ok"),
}
KNOWN = frozenset(_BESIDE)


def exclusivity(mode: str) -> Exclusivity:
    """Whether a session in this mode may run while another does; of an unknown mode it may not."""
    return _BESIDE.get(mode, "exclusive")
