"""Decides when an answer does not count and gets one more try (AMB-34)."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from autopilot.domain.answers import TaskEvidence, VerifyOpinion
from autopilot.domain.phase import Criterion
from autopilot.domain.verdict import Retry
from autopilot.history.record import PhaseRecord
from autopilot.policy.deferral import person_only
from autopilot.policy.score_caps import located

UNSHOWN = "Already-implemented claims lack sufficient evidence."
UNJUSTIFIED = "needs_human_verification returned without structured justification. Re-spawning."
SHOW = "Give in files_checked at least one entry a criterion, each as `path:line -- what stands there`."


def rejected(record: PhaseRecord) -> int:
    """How many answers about the phase were rejected, those of the passes this one mends included."""
    own = sum(isinstance(step.verdict, Retry) and bool(step.verdict.rejects) for step in record.counted)
    return record.brief.rejected + own


def too_shallow(observed: int | None, checks: int, seconds: float, least: float) -> bool:
    """VRFY-03a, AMB-17: seen running nothing, or in too short a time fewer commands than there are criteria."""
    return observed is not None and (observed == 0 or (seconds < least and observed < checks))


def to_show(record: PhaseRecord) -> tuple[str, ...]:
    """RET-08: the criteria that need a place in the code behind them, since no commit of this run met them."""
    brief = record.brief
    if record.commit != brief.base or brief.cycle or brief.done or person_only(record):
        return ()
    planned = (c for task in (record.plan.tasks if record.plan else ()) for c in task.criteria)
    return tuple(dict.fromkeys(map(_named, (*record.phase.criteria, *planned))))


def _named(criterion: Criterion) -> str:
    return criterion.command or criterion.text


def places(opinion: VerifyOpinion | None) -> tuple[str, ...]:
    """INTG-08: what the verifier points to, file and line."""
    if opinion is None:
        return ()
    rows = tuple(f"{row.criterion}: {row.evidence}" for row in opinion.criteria_results if located(row.evidence))
    listed = tuple(dict.fromkeys(entry for entry in opinion.files_checked if located(entry)))
    return max(listed, rows, key=len)


VERDICTS = frozenset({"status", "assessment", "score_band"})
"""Texts that say how the work is. The other verdicts are words of a list, numbers or yes and no, which nothing fits."""
WORDS: dict[type, str] = {TaskEvidence: "criteria_met"}
"""The field that a plain text stands for where an object is wanted. Only claims are here."""


def fitted(given: Any, wanted: Any) -> Any:
    """
    The value in the shape that the type asks for.

    Several texts become one, one becomes a list of one, a number becomes a text, and a single object a list of it.
    What fits no such case is returned as it is: then it is for the reader to refuse it.
    """
    wanted = _without_none(wanted)
    if wanted is str:
        return _text(given)
    if get_origin(wanted) is tuple:
        return _list(given, get_args(wanted)[0])
    if get_origin(wanted) is dict and isinstance(given, dict):
        return {key: fitted(value, get_args(wanted)[1]) for key, value in given.items()}
    if _is_object(wanted):
        return _object(given, wanted)
    return given


def _text(given: Any) -> Any:
    if isinstance(given, list) and given and all(isinstance(item, str) for item in given):
        return "; ".join(given)
    return str(given) if isinstance(given, int | float) and not isinstance(given, bool) else given


def _list(given: Any, item: Any) -> Any:
    if isinstance(given, str) and (item is str or item in WORDS):
        given = [given] if given.strip() else []
    elif isinstance(given, dict) and _is_object(item) and given.keys() & _types(item).keys():
        given = [given]
    return [fitted(one, item) for one in given] if isinstance(given, list) else given


def _object(given: Any, wanted: type[msgspec.Struct]) -> Any:
    if isinstance(given, str) and wanted in WORDS:
        return {WORDS[wanted]: [given]}
    if not isinstance(given, dict):
        return given
    types = _types(wanted)
    return {
        key: fitted(value, types[key]) if key in types and key not in VERDICTS else value
        for key, value in given.items()
    }


def _is_object(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)


def _types(wanted: type[msgspec.Struct]) -> Mapping[str, Any]:
    return {field.encode_name: field.type for field in msgspec.structs.fields(wanted)}


def _without_none(wanted: Any) -> Any:
    if get_origin(wanted) not in {Union, UnionType}:
        return wanted
    left = [kind for kind in get_args(wanted) if kind is not NoneType]
    return left[0] if len(left) == 1 else wanted
