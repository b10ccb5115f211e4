"""What a person's verdict sets free without any agent being asked: landing, skipping, ending. Nothing else."""

from typing import Protocol

from autopilot.domain.events import RunFinished
from autopilot.domain.people import Inbox
from autopilot.engine.decide.next_move import End, Land, Skip, next_phase
from autopilot.engine.decide.parallel_moves import is_shared, next_moves
from autopilot.engine.perform.context import LandingHands
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.moves import land, noted
from autopilot.engine.run.verdicts import attend
from autopilot.history.record import RunRecord


class Settler(LandingHands, Protocol):
    """The hands it takes to settle a run."""

    @property
    def inbox(self) -> Inbox: ...


def settle_run(hands: Settler, streams: Streams) -> RunFinished | None:
    """To the run's end, or None where an agent is needed to go on. Cut off anywhere, it is finished the next time."""
    while True:
        attend(hands.inbox, streams)
        run = streams.run()
        match next_move(run):
            case Land() as landing:
                streams.append_run(land(landing, run, hands, streams))
            case Skip() | End() as told:
                event = noted(told)
                streams.append_run(event)
                if isinstance(event, RunFinished):
                    return event
            case _:
                return None


def next_move(run: RunRecord) -> Skip | Land | End | None:
    """The one that can be done at once and without an agent, where several phases may be at work; None without one."""
    moves = next_moves(run, {}, 1) if is_shared(run) else (next_phase(run),)
    return next((move for move in moves if isinstance(move, Land | Skip | End)), None)
