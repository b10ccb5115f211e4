"""`autopilot init`: the planning files of a new project, from flags, a file, or questions at the terminal."""

import argparse
from pathlib import Path
from typing import Protocol

from autopilot.cli import console, terminal
from autopilot.domain.errors import UsageInvalid
from autopilot.text.clean import clean

Asked = tuple[str, tuple[str, ...]]
CRITERIA = (
    "A phase is proven by a command that fails now and passes when it is done. "
    "A criterion that holds already, such as `all tests pass`, proves nothing new."
)


class Prepared(Protocol):
    """Files worked out; `save` writes them."""

    @property
    def paths(self) -> tuple[str, ...]: ...
    def save(self) -> None: ...


class Desk(Protocol):
    """The planning files of a repository."""

    @property
    def root(self) -> Path: ...
    def refuse_begun(self) -> None: ...
    def start(self, name: str, goal: str, phases: tuple[Asked, ...], file: str | None) -> Prepared: ...


def perform(options: argparse.Namespace, desk: Desk) -> int:
    name, goal = options.name or "", options.goal or ""
    phases: tuple[Asked, ...] = tuple((text, ()) for text in options.phase)
    if options.from_file is None and not (goal and phases):
        _refuse_silence()
        desk.refuse_begun()
        name, goal, phases = _questions(name or desk.root.name, goal, phases)
    if not options.from_file:
        name = name or desk.root.name
    prepared = desk.start(name, goal, phases, options.from_file)
    prepared.save()
    console.say("\n".join(f"Written: {path}" for path in prepared.paths))
    if not options.from_file:
        console.say("Give each phase a criterion that fails now: one that holds already proves nothing new.")
    console.say("Next: look at .planning/ROADMAP.md, then: autopilot phases check, autopilot next")
    return 0


def _refuse_silence() -> None:
    if not terminal.present():
        raise UsageInvalid(
            "There is no terminal to ask the questions of init at.",
            why="The roadmap needs a goal and phases, and nobody is here to give them. Nothing was written.",
            do='Give a file with --from-file, or --goal "..." and --phase "Name: what it achieves" for each phase.',
        )


def _questions(name: str, goal: str, phases: tuple[Asked, ...]) -> tuple[str, str, tuple[Asked, ...]]:
    console.warn("A few questions; Ctrl-C leaves without writing anything.")
    console.warn(CRITERIA)
    name = terminal.ask(f"Name of the project [{clean(name)}]: ") or name
    goal = goal or _needed("What is to be reached, in a sentence: ")
    while True:
        number = len(phases) + 1
        text = terminal.ask(f"Phase {number}, as `name: what it achieves` (empty to end): ")
        if not text and phases:
            return name, goal, phases
        if text:
            proof = terminal.ask("  How is it seen to be done, as in: it starts - verified by `make run` (or empty): ")
            phases = (*phases, (text, (proof,) if proof else ()))


def _needed(question: str) -> str:
    while not (answer := terminal.ask(question)):
        pass
    return answer
