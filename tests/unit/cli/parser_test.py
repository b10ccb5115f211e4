"""From words on the command line to a request, or to an error that helps."""

import pytest

from autopilot.cli.help import HELP, VERBS
from autopilot.cli.main import verb_of
from autopilot.cli.parser import parse, parser_of
from autopilot.cli.verbs.phase_options import PHASE_VERBS
from autopilot.cli.verbs.receipt_options import RECEIPT_VERBS
from autopilot.cli.verbs.run import caps_of, request_of
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import RunCaps


def asked(*words: str) -> RunRequest:
    verb, rest = verb_of(list(words))
    assert verb == "run"
    return request_of(parse(verb, rest), folder="/p")


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ((), RunRequest(folder="/p")),
        (("3-7", "--lenient"), RunRequest(folder="/p", phases="3-7", lenient=True)),
        (("run", "3-7", "--lenient"), RunRequest(folder="/p", phases="3-7", lenient=True)),
        (("7", "8", "9.1"), RunRequest(folder="/p", phases="7 8 9.1")),
        (("3", "--lenient", "5"), RunRequest(folder="/p", phases="3 5", lenient=True)),
        (("all",), RunRequest(folder="/p", phases="all")),
        (("all", "--visual"), RunRequest(folder="/p", phases="all", visual=True)),
        (("next", "--model", "opus"), RunRequest(folder="/p", phases="next", model="opus")),
        (("--agent", "exec:python3 a.py", "3"), RunRequest(folder="/p", phases="3", agent="exec:python3 a.py")),
        (("3", "--unsandboxed"), RunRequest(folder="/p", phases="3", sandbox="none")),
        (("3", "--reviewer=codex", "--sandbox=none"), RunRequest(folder="/p", phases="3", reviewer="codex", sandbox="none")),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, tuple) else "",
)  # fmt: skip
def test_words_become_a_request(words: tuple[str, ...], request_: RunRequest) -> None:
    assert asked(*words) == request_


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_what_follows_it(verb: str) -> None:
    assert verb_of([verb, "--json"]) == (verb, ["--json"])


@pytest.mark.parametrize(
    ("words", "what", "do"),
    [
        (
            ["run", "3", "--fast"],
            "Unknown option '--fast' after 'run'.",
            "--agent, --reviewer, --model, --complete, --lenient",
        ),
        (["3", "--len"], "Unknown option '--len' after 'run'.", "--lenient"),
        (["stop", "now"], "Unknown word 'now' after 'stop'.", "Options of stop: --now."),
        (["rebuild", "--json"], "Unknown option '--json' after 'rebuild'.", "Options of rebuild: none."),
        (["3", "--sandbox", "docker"], "Argument --sandbox: invalid choice: 'docker'", "--sandbox"),
        (["3", "--agent"], "Argument --agent: expected one argument.", "--agent"),
        (
            ["frobnicate"],
            "Unknown verb 'frobnicate'.",
            "Verbs: run, resume, stop, retry, status, replay, rebuild, adopt, demo, explain",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_understood_is_never_ignored(words: list[str], what: str, do: str) -> None:
    with pytest.raises(UsageInvalid) as caught:
        parse(*verb_of(words))

    assert what in caught.value.what
    assert do in caught.value.do
    assert caught.value.exit_code == 2


def test_the_help_text_names_every_verb_and_flag_and_no_other() -> None:
    verbs = (*VERBS, *(f"phases {v}" for v in PHASE_VERBS), *(f"receipt {v}" for v in RECEIPT_VERBS))
    flags = {flag for verb in verbs for flag in parser_of(verb).flags()} | {"--help", "--project", "--version"}
    named = {word.strip("[],|'") for word in HELP.split() if word.startswith("--")}

    assert named == flags
    assert all(f"\n  {verb} " in HELP for verb in VERBS)


def test_the_help_text_fits_a_terminal() -> None:
    assert max(map(len, HELP.splitlines())) <= 80


def test_caps_are_taken_by_run_and_by_resume() -> None:
    words = ["--max-usd", "2.5", "--max-tokens", "1_000_000", "--max-hours", "0.5"]

    assert request_of(parse("run", ["3", *words]), "/p").caps == RunCaps(usd=2.5, tokens=1_000_000, hours=0.5)
    assert caps_of(parse("resume", [*words, "--now"])) == RunCaps(usd=2.5, tokens=1_000_000, hours=0.5)


@pytest.mark.parametrize("word", ["-1", "nan", "inf", "many", "1e12"])
def test_a_cap_that_is_no_amount_is_refused(word: str) -> None:
    with pytest.raises(UsageInvalid):
        parse("run", ["3", f"--max-usd={word}"])
