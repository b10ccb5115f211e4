"""The text of the macOS profile; it is untested on a real one."""

from autopilot.sandbox.tiers.seatbelt import OPEN_NETWORK, profile, proxied


def test_all_is_denied_but_what_is_named() -> None:
    lines = profile(["/opt/tool"], ["/clone", "/private/tmp/x"]).splitlines()

    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert '(allow file-read* file-write* (subpath "/clone") (subpath "/private/tmp/x"))' in lines
    assert any(line.startswith("(allow file-read* ") and '(subpath "/opt/tool")' in line for line in lines)
    assert lines[-1] == "(deny network*)"


def test_what_is_hidden_comes_behind_what_would_show_it() -> None:
    lines = profile([], ["/clone"], network=OPEN_NETWORK, hidden=["/clone/.env"]).splitlines()

    shown, hidden = (
        next(n for n, line in enumerate(lines) if words in line) for words in ('"/clone")', '"/clone/.env"')
    )
    assert hidden > shown
    assert lines[-3:-1] == ["(allow network*)", "(deny network* (remote unix-socket))"]


def test_with_a_proxy_one_port_of_the_machine_is_all_there_is() -> None:
    lines = profile([], ["/clone"], network=proxied(3128)).splitlines()

    assert lines[-2:] == ["(deny network*)", '(allow network-outbound (remote ip "localhost:3128"))']
    assert not [line for line in lines[:-2] if "network" in line]


def test_a_path_cannot_end_its_own_quotes() -> None:
    assert r'(subpath "/a\") (allow default) (\"\\")' in profile([], ['/a") (allow default) ("\\'])
