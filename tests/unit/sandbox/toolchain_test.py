"""What a confined command sees of the user's machine."""

from pathlib import Path

import pytest

from autopilot.sandbox.toolchain import Toolchain, look, private_places


def folder(base: Path, *names: str) -> Path:
    base.joinpath(*names).mkdir(parents=True, exist_ok=True)
    return base.joinpath(*names)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return folder(tmp_path, "home", "ada")


def seen(home: Path, *path: Path) -> Toolchain:
    return look({"HOME": str(home), "PATH": ":".join(map(str, path))})


def test_an_installation_below_home_is_shown_as_a_whole(home: Path) -> None:
    folder(home, ".nvm/versions/node/v20/lib")

    assert seen(home, folder(home, ".nvm/versions/node/v20/bin")).folders[-1] == str(home / ".nvm")


def test_a_virtual_environments_interpreter_is_shown_where_it_really_is(home: Path) -> None:
    real = folder(home, "pythons/3.12/bin") / "python3"
    folder(home, "pythons/3.12/lib")
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    scripts = folder(home, "venv/bin")
    (home / "venv/pyvenv.cfg").touch()
    (scripts / "python3").symlink_to(real)

    assert set(seen(home, scripts).folders) == {str(home / "venv"), str(home / "pythons/3.12")}


@pytest.mark.parametrize("place", ["bin", ".local/bin"])
def test_of_the_home_folder_only_the_programs_themselves_are_shown(home: Path, place: str) -> None:
    folder(home, "lib")
    folder(home, ".local/share/keyrings")

    assert seen(home, folder(home, place)).folders == (str(home / place),)


def test_the_same_holds_for_a_home_that_is_reached_by_a_link(home: Path, tmp_path: Path) -> None:
    folder(home, ".local/share/keyrings")
    folder(home, ".local/bin")
    link = tmp_path / "link"
    link.symlink_to(home)

    assert set(seen(link, link / ".local/bin").folders) == {str(home / ".local/bin"), str(link / ".local/bin")}


@pytest.mark.parametrize("name", ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"])
def test_no_installation_is_shown_that_the_users_own_files_lie_in(home: Path, tmp_path: Path, name: str) -> None:
    folder(tmp_path, "tools/lib")
    programs, own = folder(tmp_path, "tools/bin"), folder(tmp_path, "tools/own")

    assert look({"HOME": str(home), "PATH": str(programs), name: str(own)}).folders == (str(programs),)
    assert look({"HOME": str(home), "PATH": str(own), name: str(own)}).folders == ()
    assert look({"HOME": str(home), "PATH": str(programs)}).folders == (str(tmp_path / "tools"),)


def test_neither_home_nor_a_folder_around_it_is_ever_shown(home: Path, tmp_path: Path) -> None:
    folder(tmp_path, "lib")

    assert seen(home, home, tmp_path, folder(tmp_path, "bin")).folders == (str(tmp_path / "bin"),)


def test_a_project_with_planning_files_is_not_shown_for_its_programs(home: Path) -> None:
    folder(home, "project/.planning")
    folder(home, "project/lib")

    assert seen(home, folder(home, "project/bin")).folders == (str(home / "project/bin"),)


def test_relative_and_missing_folders_of_the_path_are_left_out(home: Path) -> None:
    found = look({"HOME": str(home), "PATH": f".:tools:{home}/missing:/usr/bin"})

    assert found.path == ("/usr/bin",)
    assert found.folders == ()


def test_nothing_inside_the_checkout_is_on_its_path(home: Path, tmp_path: Path) -> None:
    checkout = folder(tmp_path, "checkout")
    tools = seen(home, folder(checkout, "node_modules/.bin"), Path("/usr/bin"))

    assert tools.environment(str(checkout), "/h", "/t")["PATH"] == "/usr/bin"


def test_rust_is_told_where_its_toolchains_are(home: Path) -> None:
    folder(home, ".rustup/toolchains")
    tools = seen(home, folder(home, ".cargo/bin"))

    assert tools.folders == (str(home / ".cargo/bin"), str(home / ".rustup"))
    assert tools.environment("/x", "/h", "/t")["RUSTUP_HOME"] == str(home / ".rustup")


def test_what_only_we_may_read_is_found_and_never_through_a_link(tmp_path: Path) -> None:
    for name, mode in (
        ("open", 0o644),
        ("key", 0o600),
        ("group", 0o640),
        ("folder/inner", 0o600),
        ("closed/any", 0o644),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(mode)
    (tmp_path / "closed").chmod(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "key")

    found = [str(Path(place).relative_to(tmp_path)) for place in private_places(str(tmp_path))]
    assert found == ["closed", "folder/inner", "group", "key"]


def test_of_cargo_and_go_only_the_packages_are_lent(home: Path) -> None:
    for name in (".cargo/registry/cache", ".cargo/git/db", "go/pkg/mod/example.org", "go/pkg/mod/cache/download"):
        folder(home, name)
    folder(home, "go/pkg/mod/cache/vcs/clone")
    folder(home, ".cargo/registry/index")
    (home / ".cargo/credentials.toml").touch()

    found = seen(home)

    assert [below for below, _ in found.lent] == [
        ".cargo/registry/cache", ".cargo/registry/index", ".cargo/git/db",
        "go/pkg/mod/example.org", "go/pkg/mod/cache/download",
    ]  # fmt: skip
    assert all(place == str(home / below) for below, place in found.lent)
    assert not any(str(home) in shown for shown in found.folders)
    assert found.environment("/work", "/home", "/tmp")["CARGO_NET_OFFLINE"] == "true"
    assert "CARGO_NET_OFFLINE" not in found.environment("/work", "/home", "/tmp", online=True)


def test_packages_are_found_where_variables_say(home: Path, tmp_path: Path) -> None:
    folder(tmp_path, "crates/registry/src")
    folder(tmp_path, "modules/example.org")

    found = look({"HOME": str(home), "CARGO_HOME": f"{tmp_path}/crates", "GOMODCACHE": f"{tmp_path}/modules"})

    assert found.lent == (
        (".cargo/registry/src", f"{tmp_path}/crates/registry/src"),
        ("go/pkg/mod/example.org", f"{tmp_path}/modules/example.org"),
    )


def test_a_folder_around_the_home_is_not_lent(home: Path, tmp_path: Path) -> None:
    folder(home, ".cargo/registry")
    (home / ".cargo/registry/cache").symlink_to(tmp_path)

    assert seen(home).lent == ()
