"""Rust and Go projects with dependencies are tested in every sandbox, from what the user's tools downloaded before."""

import hashlib
import http.server
import io
import json
import os
import shutil
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Sandbox
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from support.waiting import PATIENCE_S

pytestmark = pytest.mark.sandbox
TIERS: tuple[SandboxChoice, ...] = ("bubblewrap", "landlock")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of the user's; rustup's programs stay where they are."""
    rustup = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
    made = tmp_path / "ada"
    made.mkdir()
    for name in ("CARGO_HOME", "GOPATH", "GOMODCACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUSTUP_HOME", rustup)
    monkeypatch.setenv("HOME", str(made))
    return made


def sandbox(tier: SandboxChoice) -> Sandbox:
    try:
        return choose(tier, ChildProcesses()).sandbox()
    except SandboxUnavailable as error:
        pytest.skip(error.what)


def run(folder: Path, *words: str, **more: str) -> None:
    done = subprocess.run(words, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def crate(name: str, version: str) -> bytes:
    files = {
        "Cargo.toml": f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n',
        "src/lib.rs": "pub fn twice(n: i32) -> i32 { 2 * n }\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def rust_project(folder: Path, registry: Path) -> None:
    """A package whose dependency is in a registry that is gone once its crates were downloaded."""
    packed = crate("twofold", "1.0.0")
    row = {
        "name": "twofold", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
        "cksum": hashlib.sha256(packed).hexdigest(),
    }  # fmt: skip
    write(registry, {"index/tw/of/twofold": json.dumps(row) + "\n"})
    (registry / "dl/twofold/1.0.0").mkdir(parents=True)
    (registry / "dl/twofold/1.0.0/download").write_bytes(packed)
    with served(registry) as address:
        write(registry, {"index/config.json": json.dumps({"dl": f"{address}/dl"})})
        manifest = '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n'
        test = "#[test]\nfn doubles() { assert_eq!(twofold::twice(2), 4); }\n"
        write(folder, {
            "Cargo.toml": f'{manifest}twofold = {{ version = "1", registry = "near" }}\n',
            ".cargo/config.toml": f'[registries.near]\nindex = "sparse+{address}/index/"\n',
            "src/lib.rs": test,
        })  # fmt: skip
        run(folder, "cargo", "fetch")


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
@pytest.mark.parametrize("locked", [True, False], ids=["with a lock file", "without one"])
@pytest.mark.parametrize("tier", TIERS)
def test_cargo_finds_the_crates_that_were_downloaded_and_no_credentials(
    tier: SandboxChoice, home: Path, tmp_path: Path, locked: bool
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    rust_project(folder, tmp_path / "registry")
    write(home, {".cargo/credentials.toml": "token", ".cargo/config.toml": "", ".netrc": "token"})
    if not locked:
        (folder / "Cargo.lock").unlink()

    confined = sandbox(tier)
    ran = confined.run("cargo test --quiet", str(folder), PATIENCE_S)

    assert ran.exit_code == 0, ran.stderr.decode()
    assert b"1 passed" in ran.stdout
    seen = confined.run("ls -A ~ ~/.cargo; ls -A " + str(home / ".cargo") + " || true", str(folder), PATIENCE_S).stdout
    assert b"credentials" not in seen
    assert b"config.toml" not in seen
    assert b".netrc" not in seen
    tried = confined.run("echo x >> ~/.cargo/registry/cache/*/twofold-1.0.0.crate", str(folder), PATIENCE_S)
    assert tried.exit_code != 0, "what the user downloaded is read-only"


def module(path: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"{path}@v1.0.0/go.mod", f"module {path}\n\ngo 1.17\n")
        archive.writestr(f"{path}@v1.0.0/two.go", "package two\n\nfunc Twice(n int) int { return 2 * n }\n")
    return packed.getvalue()


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
@pytest.mark.parametrize("tier", TIERS)
def test_go_finds_the_modules_that_were_downloaded(tier: SandboxChoice, home: Path, tmp_path: Path) -> None:
    folder, proxy, name = tmp_path / "project", tmp_path / "proxy", "example.org/two"
    write(proxy, {
        f"{name}/@v/list": "v1.0.0\n",
        f"{name}/@v/v1.0.0.info": json.dumps({"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}),
        f"{name}/@v/v1.0.0.mod": f"module {name}\n\ngo 1.17\n",
    })  # fmt: skip
    (proxy / name / "@v/v1.0.0.zip").write_bytes(module(name))
    write(folder, {
        "go.mod": f"module example.org/sums\n\ngo 1.17\n\nrequire {name} v1.0.0\n",
        "sums_test.go": 'package sums\n\nimport (\n\t"testing"\n\n\t"example.org/two"\n)\n\n'
        "func TestTwice(t *testing.T) {\n\tif two.Twice(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n",
    })  # fmt: skip
    run(folder, "go", "mod", "tidy", GOPROXY=proxy.as_uri(), GOSUMDB="off", GOFLAGS="-modcacherw")
    write(home, {"go/pkg/mod/cache/vcs/clone/config": "url = https://ada:token@example.org"})

    confined = sandbox(tier)
    ran = confined.run("go test ./...", str(folder), PATIENCE_S)

    assert ran.exit_code == 0, (ran.stdout + ran.stderr).decode()
    assert confined.run("ls ~/go/pkg/mod/cache/vcs", str(folder), PATIENCE_S).exit_code != 0
    assert confined.run(f"cat {home}/go/pkg/mod/cache/vcs/clone/config", str(folder), PATIENCE_S).exit_code != 0
