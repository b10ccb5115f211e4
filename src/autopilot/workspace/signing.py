"""Signs receipts with the user's own git signing key, and says whose signature another one is."""

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autopilot.domain.errors import AgentUnavailable
from autopilot.domain.process import Job, Processes, Ran
from autopilot.files import home_files
from autopilot.workspace.files.beneath import write_atomic
from autopilot.workspace.git import Git, storage_errors

NAMESPACE = "autopilot-receipt"
SECONDS = 30.0
LITERAL = ("ssh-", "ecdsa-", "sk-", "key::")
SSH_HEAD, PGP_HEAD = "-----BEGIN SSH SIGNATURE-----", "-----BEGIN PGP SIGNATURE-----"
Trust = Literal["good", "unknown", "bad"]


@dataclass(frozen=True, slots=True)
class Signature:
    """`good`: by somebody you know. `unknown`: it fits the text, or cannot be checked here. `bad`: it does not fit."""

    trust: Trust
    told: str


class Unsigned(Exception):
    """Why there is no signature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSigner:
    """
    Each text is signed once: the signature is kept in `folder`, so that a landing done again has the same bytes.

    A signature that cannot be made is told once through `warn` and never stops a run.
    """

    git: Git
    processes: Processes
    folder: Path
    warn: Callable[[str], None]
    _told: list[str] = field(default_factory=list)

    def sign(self, text: str) -> str | None:
        kept = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()}.sig"
        with suppress(FileNotFoundError):
            return home_files.read_file(kept).decode()
        try:
            made = self._made(text.encode())
        except Unsigned as why:
            if not self._told:
                self._told.append(str(why))
                self.warn(f"Receipts are not signed: {why}.")
            return None
        with storage_errors("keeping a signature"), home_files.folder(self.folder, make=True) as folder:
            write_atomic(folder, kept.name, made.encode())
        return made

    def verify(self, text: bytes, signature: str) -> Signature:
        try:
            if signature.startswith(SSH_HEAD):
                return self._verified_ssh(text, signature)
            if signature.startswith(PGP_HEAD):
                return self._verified_pgp(text, signature)
        except Unsigned as why:
            return Signature("unknown", f"it could not be checked: {why}")
        return Signature("bad", "it is no signature of ssh or OpenPGP")

    def _made(self, text: bytes) -> str:
        form, key = self._setting("gpg.format") or "openpgp", self._setting("user.signingkey", path=True)
        if not key:
            raise Unsigned("git has no user.signingkey")
        if form == "ssh":
            return self._signed_ssh(text, key)
        if form == "openpgp":
            program = self._setting("gpg.openpgp.program") or self._setting("gpg.program") or "gpg"
            words = (program, "--batch", "--no-tty", "--armor", "--detach-sign", "--local-user", key)
            return self._output(self._run(words, text), PGP_HEAD)
        raise Unsigned(f"gpg.format is {form!r}; ssh and openpgp are known")

    def _signed_ssh(self, text: bytes, key: str) -> str:
        words = (self._ssh, "-Y", "sign", "-n", NAMESPACE, "-f")
        if not key.startswith(LITERAL):
            return self._output(self._run((*words, key), text), SSH_HEAD)
        # A key given as text is the public one; its private half is with the agent of ssh.
        with _file(key.removeprefix("key::").encode() + b"\n") as public:
            return self._output(self._run((*words, public, "-U"), text), SSH_HEAD)

    def _verified_ssh(self, text: bytes, signature: str) -> Signature:
        allowed = self._setting("gpg.ssh.allowedSignersFile", path=True)
        with _file(signature.encode()) as made:
            fits = self._run((self._ssh, "-Y", "check-novalidate", "-n", NAMESPACE, "-s", made), text)
            if fits.exit_code != 0:
                return Signature("bad", "it is not a signature of this receipt")
            who = self._principal(allowed, made) if allowed and Path(allowed).is_file() else None
            if who is None or allowed is None:
                return Signature("unknown", f"{_key(fits)}, which gpg.ssh.allowedSignersFile does not name")
            words = (self._ssh, "-Y", "verify", "-f", allowed, "-I", who, "-n", NAMESPACE, "-s", made)
            if self._run(words, text).exit_code != 0:
                return Signature("bad", f"{who} may not sign receipts, or not with this key")
            return Signature("good", f"{who}, {_key(fits)}")

    def _principal(self, allowed: str, made: str) -> str | None:
        found = self._run((self._ssh, "-Y", "find-principals", "-f", allowed, "-s", made), b"")
        names = found.stdout.decode("utf-8", "replace").splitlines()
        return names[0] if found.exit_code == 0 and names else None

    def _verified_pgp(self, text: bytes, signature: str) -> Signature:
        program = self._setting("gpg.openpgp.program") or self._setting("gpg.program") or "gpg"
        with _file(signature.encode()) as made:
            ran = self._run((program, "--batch", "--no-tty", "--status-fd=1", "--verify", made, "-"), text)
        said = dict(
            re.findall(
                r"^\[GNUPG:\] (GOODSIG|BADSIG|NO_PUBKEY) (.+)$", ran.stdout.decode("utf-8", "replace"), re.MULTILINE
            )
        )
        if ran.exit_code == 0 and "GOODSIG" in said:
            return Signature("good", said["GOODSIG"])
        if "NO_PUBKEY" in said:
            return Signature("unknown", f"key {said['NO_PUBKEY']}, which gpg does not have")
        return Signature("bad", "it is not a signature of this receipt")

    @property
    def _ssh(self) -> str:
        return self._setting("gpg.ssh.program") or "ssh-keygen"

    def _setting(self, name: str, *, path: bool = False) -> str | None:
        kind = ("--type=path",) if path else ()
        ran = self.git.run("config", *kind, "--get", name, ok=(0, 1, 128))
        return ran.stdout.decode("utf-8", "surrogateescape").strip() or None

    def _run(self, argv: tuple[str, ...], stdin: bytes) -> Ran:
        """Nobody is there to type a passphrase: a program that would ask for one fails instead."""
        env = {**self.git.env, "SSH_ASKPASS_REQUIRE": "never"}
        job = Job(argv=argv, cwd=str(self.git.cwd), env=env, stdin=stdin, timeout_s=SECONDS)
        try:
            return self.processes.run(job)
        except AgentUnavailable as error:
            raise Unsigned(error.what) from error

    def _output(self, ran: Ran, head: str) -> str:
        made = ran.stdout.decode("utf-8", "replace")
        if ran.exit_code != 0 or not made.startswith(head):
            said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            raise Unsigned(said[-1][:200] if said else "the signing program gave no signature")
        return made


def _key(ran: Ran) -> str:
    found = re.search(r"with (\S+ key \S+)", ran.stdout.decode("utf-8", "replace"))
    return found[1] if found else "a key of ssh"


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(prefix="autopilot-") as file:
        file.write(content)
        file.flush()
        yield file.name
