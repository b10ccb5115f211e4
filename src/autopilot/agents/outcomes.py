"""How a call ended, from what its program said of its own trouble: tables, read from the top."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from autopilot.agents.call_log import Account
from autopilot.agents.stream_events import Failed
from autopilot.domain.agent_call import Outcome


def _status(numbers: str) -> str:
    """A service's answer by its number; not a line, a place in a file, a part of a path."""
    return rf"(?:(?:status|code|http|error)\W{{0,4}}|(?<![\w:/.,#\\-])(?<!line ))(?:{numbers})(?![\w/:-]|[.,]\d)"


# Words of programs and of the services behind them. The first row that is found says what it was.
WORDS: tuple[tuple[str, Outcome], ...] = (
    (
        (
            r"usage limit|(?:hour|hourly|daily|weekly|monthly|session|opus|sonnet|spending|spend|plan) limit"
            r"|hit your limit|quota|credit balance|insufficient (?:credits|funds|balance)|out of (?:credits|usage)"
            r"|billing|premium requests"
        ),
        "usage_limited",
    ),
    (
        (
            r"prompt is too long|input is too long|too many (?:input )?tokens|context.?(?:window|length|size|limit)"
            r"|maximum context|ran out of room"
        ),
        "context_exhausted",
    ),
    (
        (
            _status("401|403")
            + r"|unauthori[sz]ed|unauthenticated|invalid.api.key|api.key.(?:is |was )?(?:invalid|missing|not)"
            r"|authentication|not (?:logged|signed) in|(?:log|sign) ?in (?:to|again|first)|/login|oauth token"
            r"|permission_error"
        ),
        "auth",
    ),
    (_status("429") + r"|rate.?limit|too many requests|resource.?exhausted", "rate_limited"),
    (r"max(?:imum)?.(?:number of )?(?:session )?turns|turn limit|maximum budget|max_turns", "limit_hit"),
    (
        (
            _status(r"5\d\d") + r"|overloaded|high demand|server.?error|bad gateway|unavailable|try again in a moment"
            r"|network|connection|disconnect|socket|stream|terminated|timed? ?out|fetch failed|econn\w+|enotfound"
        ),
        "overloaded",
    ),
)
STATUSES: Mapping[int, Outcome] = {
    401: "auth",
    402: "usage_limited",
    403: "auth",
    408: "overloaded",
    413: "context_exhausted",
    429: "rate_limited",
}
PLAIN = frozenset({401, 402})
LIMIT_STATUS = 429
SERVER_TROUBLE = 500
LAST_LINES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanings:
    """What a program's own words for its trouble mean: `kinds` it names in a field, and `exits` it ends with."""

    kinds: Mapping[str, Outcome] = field(default_factory=dict)
    exits: Mapping[int, Outcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the process ended: `exit_code` is None when we ended it, `interruption` says what ended it from outside."""

    exit_code: int | None
    stderr: str = ""
    interruption: str = ""


def outcome_of(account: Account, ending: Ending, meanings: Meanings, *, answered: bool) -> Outcome:
    """A result that was told counts, whatever became of the process behind it."""
    if account.failure is not None:
        named = _of_failure(account, account.failure, meanings)
        if ending.interruption:
            return "cancelled" if named == "crashed" else named
        # A turn that was left off in a process we ended was left off because we asked for it.
        return "timeout" if named == "cancelled" and ending.exit_code is None else named
    if account.over:
        return "ok" if answered else "bad_output"
    if ending.interruption:
        return "cancelled"
    if ending.exit_code is None:
        return "timeout"
    return meanings.exits.get(ending.exit_code) or _of_words(_last(ending)) or "crashed"


def _of_failure(account: Account, failure: Failed, meanings: Meanings) -> Outcome:
    if failure.kind in meanings.kinds:
        return meanings.kinds[failure.kind]
    status = failure.status or 0
    if status == LIMIT_STATUS and account.window is not None and account.window.rejected:
        return "usage_limited"
    if status in PLAIN or status >= SERVER_TROUBLE:
        return STATUSES.get(status, "overloaded")
    return _of_words(failure.text) or STATUSES.get(status) or "crashed"


def _of_words(text: str) -> Outcome | None:
    return next((outcome for words, outcome in WORDS if re.search(words, text, re.IGNORECASE)), None)


def _last(ending: Ending) -> str:
    """The end of what a failed program complained of; one that left in peace complained of nothing."""
    return "\n".join(ending.stderr.strip().splitlines()[-LAST_LINES:]) if ending.exit_code else ""
