from itertools import combinations

import pytest

from autopilot.cli import options as mode_options
from autopilot.cli.parser import parse
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.settings import CLASHES, Modes

FLAGS = {
    "--complete": ["--complete"],
    "--map": ["--map"],
    "--force": ["--force", "3"],
    "--quality": ["--quality", "3"],
    "--gaps": ["--gaps", "3"],
    "--discuss": ["--discuss"],
    "--sequential": ["--sequential"],
    "--checkpoint-every": ["--checkpoint-every", "2"],
    "--jobs": ["--jobs", "2"],
    "--lenient": ["--lenient"],
    "--visual": ["--visual"],
}
ILLEGAL = {
    frozenset(pair): rule
    for pair, rule in (
        (("--force", "--quality"), "FLAG-01"),
        (("--force", "--gaps"), "FLAG-02"),
        (("--force", "--complete"), "FLAG-03"),
        (("--gaps", "--complete"), "FLAG-04"),
        (("--force", "--map"), "section 2"),
        (("--sequential", "--jobs"), "opposites"),
    )
}
PAIRS = tuple(combinations(FLAGS, 2))


def asked(*words: str) -> Modes:
    return mode_options.chosen(parse("run", list(words)))


@pytest.mark.parametrize("pair", [p for p in PAIRS if frozenset(p) not in ILLEGAL], ids=" ".join)
def test_every_other_pair_of_flags_is_allowed_in_either_order(pair: tuple[str, str]) -> None:
    one, other = (FLAGS[flag] for flag in pair)

    assert asked(*one, *other) == asked(*other, *one)
    assert set(asked(*one, *other).flags) == set(pair) - {"--lenient", "--visual"}


@pytest.mark.parametrize("pair", [tuple(sorted(p)) for p in ILLEGAL], ids=" ".join)
def test_flags_that_exclude_each_other_are_refused_with_words_of_their_own(pair: tuple[str, str]) -> None:
    """FLAG-01, FLAG-02, FLAG-03, FLAG-04: the error names both flags and what to do instead."""
    one, other = (FLAGS[flag] for flag in pair)

    with pytest.raises(UsageInvalid) as caught:
        asked(*one, *other)

    assert all(flag in caught.value.what for flag in pair)
    assert caught.value.exit_code == 2


def test_no_two_refusals_say_the_same() -> None:
    assert {frozenset(clash.flags) for clash in CLASHES} == set(ILLEGAL)
    assert len({(clash.what, clash.why, clash.do) for clash in CLASHES}) == len(CLASHES)


def test_force_and_quality_are_refused_in_the_words_of_the_rule() -> None:
    """FLAG-01: the sentence is fixed."""
    with pytest.raises(UsageInvalid) as caught:
        asked("--force", "--quality")

    told = f"{caught.value.what} {caught.value.do}"
    assert told == (
        "Cannot combine --force (redo from scratch) with --quality (refine existing). Use one or the other."
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--force", Modes(force="")),
        ("--force 3", Modes(force="3")),
        ("--quality --gaps 3", Modes(quality="", gaps="3")),
        ("--map 3-5", Modes(map="3-5")),
        ("--discuss 3-7 --complete", Modes(discuss="3-7", complete=True)),
        ("3 --checkpoint-every 2", Modes(checkpoint_every=2)),
    ],
)
def test_a_flag_may_name_phases_or_leave_them_open(words: str, expected: Modes) -> None:
    """INV-08: the options and what may stand behind them."""
    assert asked(*words.split()) == expected


@pytest.mark.parametrize(
    "words", ["--checkpoint-every 0", "--checkpoint-every x", "--jobs 0", "--jobs 65", "--jobs -1"]
)
def test_a_number_out_of_range_is_refused(words: str) -> None:
    with pytest.raises(UsageInvalid) as caught:
        parse("run", words.split())

    assert words.split(maxsplit=1)[0] in caught.value.what
