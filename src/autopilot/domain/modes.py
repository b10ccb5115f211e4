"""The modes of a run: what its flags ask for, and which of them exclude each other."""

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.value import Value


class Modes(Value, frozen=True, kw_only=True):
    """
    What was asked for besides the phases.

    A flag that may name phases is None when it was not given, and empty when it was given without a name. `jobs` is how
    many phases may be worked on at a time, `checkpoint_every` after how many the run pauses for a person. `debug`: the
    run looks for the cause of a problem that the user reported, outside the roadmap.
    """

    complete: bool = False
    map: str | None = None
    force: str | None = None
    quality: str | None = None
    gaps: str | None = None
    discuss: str | None = None
    sequential: bool = False
    checkpoint_every: int | None = None
    jobs: int = 1
    debug: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The phases named behind flags that work on them."""
        return tuple(text for text in (self.force, self.quality, self.gaps) if text)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags in force, as they are typed."""
        given = {
            "--complete": self.complete,
            "--map": self.map is not None,
            "--force": self.force is not None,
            "--quality": self.quality is not None,
            "--gaps": self.gaps is not None,
            "--discuss": self.discuss is not None,
            "--sequential": self.sequential,
            "--checkpoint-every": self.checkpoint_every is not None,
            "--jobs": self.jobs > 1,
        }
        return tuple(flag for flag, is_given in given.items() if is_given)


def asks(modes: Modes) -> bool:
    """Whether people are asked before anything is run."""
    return modes.map is not None or modes.discuss is not None


class Clash(Value, frozen=True, kw_only=True):
    """Two flags that exclude each other: what each is for, and what to do instead."""

    flags: tuple[str, str]
    what: str
    why: str
    do: str


CLASHES = (
    Clash(
        flags=("--force", "--quality"),
        what="Cannot combine --force (redo from scratch) with --quality (refine existing).",
        why="One plans and builds a phase anew, the other keeps its plan and mends what lowered its score.",
        do="Use one or the other.",
    ),
    Clash(
        flags=("--force", "--gaps"),
        what="Cannot combine --force (redo from scratch) with --gaps (close what is missing).",
        why="The gaps of the work as it is say nothing about work that is yet to be done anew.",
        do="Use --force first; when the phase has its new score, use --gaps.",
    ),
    Clash(
        flags=("--force", "--complete"),
        what="Cannot combine --force (completed phases) with --complete (outstanding phases).",
        why="No phase is both, so one of the two would have nothing to do.",
        do="Run autopilot --complete for what is outstanding, or autopilot --force N for phase N.",
    ),
    Clash(
        flags=("--force", "--map"),
        what="Cannot combine --force (redo from scratch) with --map (ask before the first try).",
        why="Mapping asks what an outstanding phase is about; --force is for phases that are completed.",
        do="Run autopilot --map N first and autopilot --force N after it; or use --discuss with --force.",
    ),
    Clash(
        flags=("--gaps", "--complete"),
        what="Cannot combine --gaps (completed phases) with --complete (outstanding phases).",
        why="Gaps are read from the score of a phase that is completed, and --complete leaves those alone.",
        do="Run autopilot --complete first and autopilot --gaps when it is over.",
    ),
    Clash(
        flags=("--sequential", "--jobs"),
        what="Cannot combine --sequential (one phase at a time) with --jobs (several at a time).",
        why="They say the opposite of each other.",
        do="Leave out one of them; without --jobs phases run one after the other.",
    ),
)


class FlagsClash(UsageInvalid):
    """Two flags that exclude each other were given together."""

    event = "flag_mutual_exclusivity_error"


def check(modes: Modes) -> None:
    """Raises `FlagsClash` for flags that exclude each other (FLAG-01..04)."""
    given = set(modes.flags)
    for clash in CLASHES:
        if given.issuperset(clash.flags):
            raise FlagsClash(clash.what, why=clash.why, do=clash.do)
