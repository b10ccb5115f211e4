"""Joins the mentions of a roadmap into phases. The key of a phase is its milestone and its number."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autopilot.planning.roadmap import ids, milestones
from autopilot.planning.roadmap import ids as names
from autopilot.planning.roadmap.depends_on import Known, Needs
from autopilot.planning.roadmap.mentions import Mention
from autopilot.planning.roadmap.milestones import Milestones


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """
    All mentions of one phase. `key` is its milestone's, `milestone` the label as the roadmap writes it.

    `id` is the number alone, and milestone and number where another milestone has the same numbers.
    """

    key: str
    number: str
    mentions: tuple[Mention, ...]
    milestone: str = ""
    id: str = ""


class Keyed:
    """The phases of a roadmap, and what a number means in each of its milestones."""

    def __init__(self, groups: Sequence[Group], active: str, active_label: str) -> None:
        self.groups, self.active, self.active_label = tuple(groups), active, active_label
        self._spaces: dict[str, tuple[dict[str, str], Known]] = {}

    def resolve(self, needs: Needs, own: Group) -> tuple[str, ...]:
        """The ids of the phases needed. A number means a phase of the same milestone, if that has it."""
        space, known = self._space(own)
        return tuple(dict.fromkeys(space.get(number, number) for number in needs.resolve(known, own.number)))

    def find(self, number: str, own: Group) -> str:
        return self._space(own)[0].get(number, number)

    def _space(self, own: Group) -> tuple[dict[str, str], Known]:
        """Every number as a phase of this milestone means it."""
        if own.key not in self._spaces:
            others = {group.number: group.id for group in self.groups}
            active = {group.number: group.id for group in self.groups if group.key == self.active}
            same = {group.number: group.id for group in self.groups if group.key == own.key}
            space = others | active | same
            self._spaces[own.key] = space, Known(tuple(sorted(space, key=ids.sort_key)))
        return self._spaces[own.key]


def grouped(mentions: Sequence[Mention], known: Milestones, stated: str) -> Keyed:
    """`stated` is the milestone that STATE.md names."""
    wanted = milestones.key(stated) or milestones.key(f"milestone {stated}")
    keys = {mention.line: _sure(mention, known) for mention in mentions}
    used = [key for key in known.known if key in set(keys.values()) or known.spans.get(key)]
    active = known.active(wanted, used) if used else wanted
    joined: dict[tuple[str, str], list[Mention]] = {}
    by_number: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_number.setdefault(_number(mention, known), []).append(mention)
    for number, own in by_number.items():
        sure = {key: [m for m in own if keys[m.line] == key] for key in dict.fromkeys(keys[m.line] for m in own) if key}
        for mention in own:
            key = keys[mention.line] or _meant(mention, sure, known, active)
            joined.setdefault((key, number), []).append(mention)
    return _named(joined, known, active, stated)


def _sure(mention: Mention, known: Milestones) -> str:
    """The milestone that the mention names itself (`Phase M3-1`, a table's column), or whose section it is in."""
    return _prefixed(mention, known) or milestones.key(mention.milestone) or known.at(mention.line)


def _prefixed(mention: Mention, known: Milestones) -> str:
    found = milestones.key(ids.prefix(mention.id))
    return found if found in known.known else ""


def _number(mention: Mention, known: Milestones) -> str:
    return mention.id.rpartition("-")[2] if _prefixed(mention, known) else mention.id


def _meant(mention: Mention, sure: dict[str, list[Mention]], known: Milestones, active: str) -> str:
    """The milestone of a phase outside every section: by its name, by the milestones' lists, else the active one."""
    shared = {key: max(names.overlap(mention.name, one.name) for one in group) for key, group in sure.items()}
    best = max(shared, key=lambda key: (shared[key], key == active), default="")
    if best and (shared[best] or not mention.name):
        return best
    holding = known.holding(mention.id)
    return active if active in holding or not holding else holding[-1]


def _named(joined: dict[tuple[str, str], list[Mention]], known: Milestones, active: str, stated: str) -> Keyed:
    labels = {key: milestone.label for key, milestone in known.known.items()}
    if active and active not in labels:
        labels[active] = stated.split(maxsplit=1)[0] if milestones.key(stated) == active else active.upper()
    restarted = _restarted(joined)
    groups = [
        Group(
            key=key,
            number=number,
            mentions=tuple(found),
            milestone=labels.get(key, ""),
            id=ids.normalise(f"{labels[key]}-{number}") if key in restarted - {active, ""} else number,
        )
        for (key, number), found in joined.items()
    ]
    return Keyed(groups, active, labels.get(active, ""))


def _restarted(keys: Iterable[tuple[str, str]]) -> set[str]:
    """The milestones that have a number in common with another one."""
    holders: dict[str, list[str]] = {}
    for key, number in keys:
        holders.setdefault(number, []).append(key)
    return {key for held in holders.values() if len(held) > 1 for key in held}
