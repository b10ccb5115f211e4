"""Signatures with the user's own key: made once, told apart when they do not fit."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.workspace.git import COMMON, Git
from autopilot.workspace.signing import GitSigner
from support.processes import PlainProcesses
from support.programs import needs
from support.repos import git, make_repo

TEXT = '{"a": 1}\n'
ENV = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def signer(root: Path, told: list[str], **env: str) -> GitSigner:
    processes = PlainProcesses()
    own = Git(processes=processes, cwd=root, env={**ENV, **env}, flags=COMMON)
    return GitSigner(git=own, processes=processes, folder=root.parent / "kept", warn=told.append)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    made = make_repo(tmp_path / "user", {})
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    git(made, "config", "gpg.format", "ssh")
    git(made, "config", "user.signingkey", str(tmp_path / "key"))
    return made


@pytest.fixture
def keyring() -> Iterator[str]:
    """A GnuPG home with one key; short, because sockets live in it."""
    needs("gpg")
    with tempfile.TemporaryDirectory(prefix="k", ignore_cleanup_errors=True) as home:
        env = {**os.environ, "GNUPGHOME": home}
        words = ["gpg", "-q", "--batch", "--passphrase", "", "--quick-gen-key", "ada@example.org", "ed25519", "sign"]
        subprocess.run(words, env=env, check=True, capture_output=True)
        yield home
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=env, check=False)


def test_a_text_is_signed_once_and_the_signature_kept(root: Path) -> None:
    told: list[str] = []
    first = signer(root, told).sign(TEXT)
    git(root, "config", "user.signingkey", "/nonexistent")

    assert first is not None
    assert first.startswith("-----BEGIN SSH SIGNATURE-----")
    assert (signer(root, told).sign(TEXT), told) == (first, [])


@pytest.mark.parametrize("known", [True, False], ids=["a known signer", "an unknown signer"])
def test_a_signature_says_by_whom_it_is(root: Path, known: bool) -> None:
    made = signer(root, []).sign(TEXT) or ""
    if known:
        (root.parent / "signers").write_text(f"ada@example.org {(root.parent / 'key.pub').read_text()}")
        git(root, "config", "gpg.ssh.allowedSignersFile", str(root.parent / "signers"))
    found = signer(root, []).verify(TEXT.encode(), made)

    assert found.trust == ("good" if known else "unknown")
    assert "ED25519 key SHA256:" in found.told
    assert found.told.startswith("ada@example.org, ") is known


@pytest.mark.parametrize("text", ["", '{"a": 2}\n', TEXT * 2], ids=["nothing", "another", "twice"])
def test_a_signature_of_something_else_is_bad(root: Path, text: str) -> None:
    made = signer(root, []).sign(TEXT) or ""

    assert signer(root, []).verify(text.encode(), made).trust == "bad"
    assert signer(root, []).verify(TEXT.encode(), "signed: Ada").trust == "bad"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("user.signingkey", "/nonexistent", "Couldn't load"),
        ("gpg.format", "x509", "gpg.format is 'x509'"),
        ("gpg.ssh.program", "/nonexistent", "nonexistent"),
    ],
    ids=["no key file", "another format", "no program"],
)
def test_what_cannot_be_signed_is_told_once(root: Path, name: str, value: str, said: str) -> None:
    told: list[str] = []
    git(root, "config", name, value)
    own = signer(root, told)

    assert (own.sign(TEXT), own.sign("more")) == (None, None)
    assert len(told) == 1
    assert said in told[0]


def test_a_key_of_gnupg_signs_as_well(tmp_path: Path, keyring: str) -> None:
    root = make_repo(tmp_path / "user", {})
    git(root, "config", "user.signingkey", "ada@example.org")
    own = signer(root, [], GNUPGHOME=keyring)
    made = own.sign(TEXT) or ""

    assert (own.verify(TEXT.encode(), made).trust, own.verify(b"other", made).trust) == ("good", "bad")
    assert "ada@example.org" in own.verify(TEXT.encode(), made).told
    assert signer(root, [], GNUPGHOME=str(tmp_path)).verify(TEXT.encode(), made).trust == "unknown"
