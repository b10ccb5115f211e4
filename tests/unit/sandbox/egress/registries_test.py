"""Where the user's package managers install from, by their own settings."""

from pathlib import Path

from autopilot.sandbox.egress.registries import registries


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_settings_of_every_known_manager_are_read(tmp_path: Path) -> None:
    write(tmp_path / ".config/pip/pip.conf", "[global]\nindex-url = https://me:key@pip.test/simple\n")
    write(tmp_path / ".config/uv/uv.toml", '[[index]]\nurl = "https://uv.test/simple"\ndefault = true\n')
    write(
        tmp_path / ".npmrc",
        "registry=https://npm.test/\n@own:registry=http://own.test:8080/\n//npm.test/:_authToken=key\n",
    )
    write(tmp_path / ".cargo/config.toml", '[registries.own]\nindex = "sparse+https://cargo.test/"\n')
    write(tmp_path / ".config/go/env", "GOPROXY=https://go.test,direct\n")
    found = registries({"HOME": str(tmp_path), "PIP_EXTRA_INDEX_URL": "https://more.test/simple"})

    assert set(found.hosts) >= {
        "pip.test:443", "uv.test:443", "npm.test:443", "own.test:8080", "cargo.test:443", "go.test:443", "more.test:443",
    }  # fmt: skip
    assert found.variables["PIP_INDEX_URL"] == "https://pip.test/simple"
    assert found.variables["NPM_CONFIG_REGISTRY"] == "https://npm.test/"
    assert found.variables["GOPROXY"] == "https://go.test,direct"
    assert "key" not in repr(found)


def test_broken_settings_name_nothing(tmp_path: Path) -> None:
    write(tmp_path / ".config/pip/pip.conf", "no section\n")
    write(tmp_path / ".config/uv/uv.toml", "= broken\n")
    write(tmp_path / ".cargo/config.toml", "registries = 3\n")
    write(tmp_path / ".npmrc", "registry=http://[broken\n")
    found = registries({"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / ".config")})

    assert not any("broken" in host for host in found.hosts)
