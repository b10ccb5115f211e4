"""
The receipt of a phase: an in-toto Statement with a test-result predicate, and beside it what Autopilot saw itself.

Names in the file are written in camel case, as in-toto's are. `SCHEMA` grows when a reader has to know more.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Annotated, Literal

import msgspec

from autopilot.domain.phase import Expectation
from autopilot.domain.value import Value
from autopilot.domain.verdict import Outcome

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
SCHEMA = 2
NOT_RUN = "not run"
FILE, SIGNATURE = "RECEIPT.json", "RECEIPT.json.sig"

Result = Literal["PASSED", "WARNED", "FAILED"]
# What git may be handed from a file that anybody can have written.
ObjectId = Annotated[str, msgspec.Meta(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
PlanningPath = Annotated[str, msgspec.Meta(pattern=r"^\.planning/(?!(?:.*/)?\.\.(?:/|$))[^\0]+$")]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400)]


class Resource(Value, frozen=True, kw_only=True):
    """in-toto's ResourceDescriptor, as far as we use it."""

    name: str
    digest: dict[str, str] = {}


class DecidingRun(Value, frozen=True, kw_only=True, rename="camel"):
    """
    One command that decided, on the tree of `commit`.

    `laid`: the frozen test files lay over the checkout. `restored` are the paths put back to what they were at
    `restored_from`, else at the phase's base, so that an old check meets new code.
    """

    step: str
    kind: Literal["criterion", "gate", "test", "old"]
    when: Literal["before", "after"]
    task: str | None = None
    check: str
    what: str
    command: str
    expect: Expectation = Expectation()
    exit_code: int | None
    passed: bool
    seconds: float
    output_sha256: str
    commit: ObjectId
    tree: str
    sandbox: str
    laid: bool = False
    restored: tuple[str, ...] = ()
    restored_from: ObjectId | None = None

    @property
    def name(self) -> str:
        """What the check is called in the lists of tests."""
        return f"gate:{self.check}" if self.kind == "gate" else self.check


class FrozenFile(Value, frozen=True, kw_only=True):
    path: PlanningPath
    sha256: Sha256


class Source(Value, frozen=True, kw_only=True):
    """A file that says which commands decide, by the name of its blob in git."""

    what: Literal["roadmap", "config", "plan"]
    path: str
    blob: ObjectId


class HashedFile(Value, frozen=True, kw_only=True):
    path: str
    sha256: str


class Counts(Value, frozen=True, kw_only=True):
    total: int
    passed: int
    warned: int
    failed: int


class TimeLimits(Value, frozen=True, kw_only=True, rename="camel"):
    command_seconds: Seconds = 60
    gate_seconds: Seconds = 600


class JournalHead(Value, frozen=True, kw_only=True):
    """The last entry of the pass; its hash covers every entry the journal had before it."""

    stream: str
    entry: int
    sha256: str


class Proof(Value, frozen=True, kw_only=True, rename="camel"):
    """
    The `autopilot` object: all that is needed to do the deciding again.

    `base` is the commit the phase's first pass began on, `begun` the one its run did. `sources` are the roadmap at
    `base`, the config at `begun`, and the plans, the one in force first; what git does not have there is not named.
    `unused` are detected gates that did not run where the run took place. `outcome` is set where the phase counts as
    done without having passed at its bar.
    """

    schema: int
    run: str
    phase: str
    name: str
    dir: str
    number: int
    cycle: int
    verdict: str
    reason: str
    anchor: Literal["anchored", "unanchored"]
    score: float | None
    threshold: float
    base: ObjectId
    commit: ObjectId
    tree: str
    spec: HashedFile
    plan_sha256: str | None
    frozen_tests: tuple[FrozenFile, ...]
    checks: Counts
    runs: tuple[DecidingRun, ...]
    limits: TimeLimits
    tools: dict[str, str]
    earlier_tools: tuple[dict[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    journal: JournalHead
    outcome: Outcome | None = None
    begun: ObjectId
    sources: tuple[Source, ...] = ()
    unused: dict[str, str] = {}


class Predicate(Value, frozen=True, kw_only=True, rename="camel"):
    result: Result
    configuration: tuple[Resource, ...]
    passed_tests: tuple[str, ...] = ()
    warned_tests: tuple[str, ...] = ()
    failed_tests: tuple[str, ...] = ()
    autopilot: Proof


class Statement(Value, frozen=True, kw_only=True, rename="camel"):
    type: str = msgspec.field(name="_type", default=STATEMENT)
    subject: tuple[Resource, ...]
    predicate_type: str = PREDICATE
    predicate: Predicate

    @property
    def proof(self) -> Proof:
        return self.predicate.autopilot


class Repeated(Value, frozen=True, kw_only=True):
    """One command run again. `same` compares exit code, result and tree; what was printed may differ."""

    name: str
    when: str
    command: str
    then: str
    now: str
    same: bool
    note: str = ""


class Recheck(Value, frozen=True, kw_only=True):
    """
    What came of checking a receipt. `signer` is whom the user's own settings know the signature's key as.

    `finding` is all that may be said of it: what nobody signed is reproduced at best.
    """

    phase: str
    run: str
    commit: str
    result: Result
    same: bool
    repeated: tuple[Repeated, ...] = ()
    differences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""
    signer: str = ""
    finding: str = ""


def finding_of(*, same: bool, signer: str) -> str:
    if not same:
        return "differs"
    return f"signed by {signer}, reproduced" if signer else "reproduced"


Blobs = Callable[[str, tuple[str, ...]], Mapping[str, str]]
"""Of a commit and paths of the project: the blobs of those that are there."""
PLACES: dict[Literal["roadmap", "config"], tuple[str, ...]] = {
    "roadmap": (".planning/ROADMAP.md", "ROADMAP.md"),
    "config": (".planning/config.json",),
}


def no_blobs(commit: str, paths: tuple[str, ...]) -> Mapping[str, str]:  # noqa: ARG001 - as every other one
    return {}


def blob_id(content: bytes, like: str) -> str:
    """What git calls the content, in the format of the id `like`."""
    digest = hashlib.sha256 if len(like) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    return digest(f"blob {len(content)}\0".encode() + content).hexdigest()
