"""`autopilot adopt`: shows whose journal it is and what is in it, and asks before it becomes the user's."""

from typing import Protocol

from autopilot.app.adoption import Offer
from autopilot.cli import console, terminal
from autopilot.domain.errors import ConsentMissing
from autopilot.text.clean import clean

_MOST = 400


class Adopter(Protocol):
    """The part of the program this verb needs."""

    def adoption_of(self, folder: str) -> Offer: ...

    def adopt(self, offer: Offer) -> str: ...


def perform(folder: str, app: Adopter) -> int:
    offer = app.adoption_of(folder)
    if offer.own:
        console.say("The journal here is yours already: nothing to adopt.")
        return 0
    for line in offer.lines:
        console.warn(clean(line, _MOST))
    _confirm()
    console.say(app.adopt(offer))
    return 0


def _confirm() -> None:
    """Only the word `yes`, typed at a terminal, is one."""
    if not terminal.present():
        raise ConsentMissing(
            "The journal was not adopted: nobody confirmed it.",
            why="Runs go on by their journal, and only you can say whether this one is yours.",
            do="Type `autopilot adopt` at a terminal in this project.",
        )
    if terminal.ask("Did you move this project yourself, or lose your key? Type yes to adopt it: ").lower() != "yes":
        raise ConsentMissing(
            "The journal was not adopted.",
            why="The answer was not yes. Nothing was changed.",
            do="If it came with the repository, remove the folder .autopilot and start a new run.",
        )
