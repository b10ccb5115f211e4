"""The proxy as a program: what it refuses reaches nobody, what it lets through arrives as it was meant."""

import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.egress import TOKEN, Host, Running, connect, greeting, host, request, running
from support.waiting import soon

PROXIED = "GET http://127.0.0.1:{port}/ HTTP/1.1"


@pytest.fixture
def upstream() -> Iterator[Host]:
    with host() as made:
        yield made


@pytest.fixture
def proxy(upstream: Host) -> Iterator[Running]:
    hosts = [
        f"127.0.0.1:{upstream.port}",
        f"localhost:{upstream.port}",
        "*.example.test:443",
        f"{named()}:{upstream.port}",
    ]
    with running(hosts=hosts, token=TOKEN) as made:
        yield made


def named() -> str:
    """A name of this machine that is not in the list by its address."""
    return socket.gethostname().lower()


def plain(port: int, *lines: str) -> bytes:
    return request(PROXIED.format(port=port), *lines)


REFUSED: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "another port": ("host", lambda port: connect("127.0.0.1:1")),
    "another host": ("host", lambda port: connect(f"evil.test:{port}")),
    "another address": ("host", lambda port: connect(f"127.0.0.2:{port}")),
    "the parent of a suffix": ("host", lambda port: connect("example.test:443")),
    "a name that ends alike": ("host", lambda port: connect("evilexample.test:443")),
    "a hex number": ("number", lambda port: connect(f"0x7f.1:{port}")),
    "one number": ("number", lambda port: connect(f"2130706433:{port}")),
    "an octal number": ("number", lambda port: connect(f"0177.0.0.1:{port}")),
    "a short number": ("number", lambda port: connect(f"127.1:{port}")),
    "a mapped address": ("number", lambda port: connect(f"[::ffff:127.0.0.1]:{port}")),
    "another loopback": ("host", lambda port: connect(f"[::1]:{port}")),
    "no port": ("port", lambda port: connect("127.0.0.1")),
    "no token": ("token", lambda port: connect(f"127.0.0.1:{port}", token="")),
    "a wrong token": ("token", lambda port: connect(f"127.0.0.1:{port}", token="other")),
    "somebody's name before the host": ("form", lambda port: request(f"GET http://127.0.0.1:{port}@evil.test/ HTTP/1.1")),
    "another scheme": ("form", lambda port: request(f"GET https://127.0.0.1:{port}/ HTTP/1.1")),
    "no host at all": ("form", lambda port: request("GET / HTTP/1.1", f"Host: 127.0.0.1:{port}")),
    "another protocol": ("request", lambda port: request("PRI * HTTP/2.0")),
    "two kinds of length": ("request", lambda port: plain(port, "Content-Length: 3", "Transfer-Encoding: chunked")),
    "two lengths": ("request", lambda port: plain(port, "Content-Length: 3", "Content-Length: 4")),
    "an unknown coding": ("request", lambda port: plain(port, "Transfer-Encoding: chunked, gzip")),
    "a folded header": ("request", lambda port: plain(port, "X-A: b", " Content-Length: 3")),
    "a space before the colon": ("request", lambda port: plain(port, "Content-Length : 3")),
    "a lone line feed": ("request", lambda port: plain(port, "X-A: b\nContent-Length: 3")),
    "a giant head": ("request", lambda port: plain(port, "X-A: " + "a" * 70_000)),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_allowed_is_refused_quickly_without_a_byte_upstream(
    kind: str, proxy: Running, upstream: Host
) -> None:
    reason, said = REFUSED[kind][0], REFUSED[kind][1](upstream.port)

    head, _, text = proxy.say(said).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 407" if reason == "token" else b"HTTP/1.1 403")
    assert f"X-Autopilot-Egress: {reason}".encode() in head
    assert text.endswith(b".\n")
    assert upstream.heard == []
    assert soon(lambda: [row[2:5] for row in proxy.rows()] == [["refused", reason, 1]])


def test_25_kinds_are_refused() -> None:
    assert len(REFUSED) == 25


def test_an_honest_tunnel_carries_bytes_both_ways(proxy: Running, upstream: Host) -> None:
    said = proxy.say(connect(f"127.0.0.1:{upstream.port}"), b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")

    assert said.endswith(b"hello")
    assert soon(lambda: [row[:5] for row in proxy.rows()] == [["127.0.0.1", upstream.port, "allowed", "", 1]])
    assert soon(lambda: proxy.rows()[0][5:] == [len(upstream.all), 43])


def test_an_honest_request_goes_out_alone_with_our_host(proxy: Running, upstream: Host) -> None:
    second = request(f"GET http://127.0.0.1:{upstream.port}/second HTTP/1.1")
    said = proxy.say(request(f"GET http://LOCALHOST.:{upstream.port}/a?b HTTP/1.1", "Host: evil", "X-A: b"))
    proxy.say(plain(upstream.port, "Content-Length: 0") + second)

    assert said.endswith(b"\r\n\r\nhello")
    first = f"GET /a?b HTTP/1.1\r\nHost: localhost:{upstream.port}\r\nX-A: b\r\nConnection: close\r\n\r\n".encode()
    assert upstream.heard[0] == first
    assert b"second" not in upstream.all


@pytest.mark.parametrize("coded", [False, True])
def test_an_honest_body_arrives_whole_and_nothing_behind_it(coded: bool, proxy: Running, upstream: Host) -> None:
    framing = "Transfer-Encoding: chunked" if coded else "Content-Length: 6"
    body = b"3;x=y\r\nabc\r\n3\r\ndef\r\n0\r\nX-Trailer: 1\r\n\r\n" if coded else b"abcdef"
    said = request(f"POST http://127.0.0.1:{upstream.port}/ HTTP/1.1", framing)

    proxy.say(said + body + b"GET /smuggled HTTP/1.1\r\n\r\n")

    sent = b"3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n" if coded else b"abcdef"
    assert soon(lambda: upstream.all.partition(b"\r\n\r\n")[2] == sent)


def test_on_a_port_for_tls_only_the_host_asked_for_is_greeted(upstream: Host) -> None:
    place = f"localhost:{upstream.port}"
    with running(hosts=[place], tls=[upstream.port]) as proxy:
        for wrong in (b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\n\r\n", greeting("evil.test"), greeting(None)):
            proxy.say(connect(place, token=""), wrong)
        assert upstream.heard == []
        alert = proxy.say(connect(place, token=""), greeting("evil.test")).partition(b"\r\n\r\n")[2]
        assert alert == bytes((21, 3, 1, 0, 2, 2, 112))

        right = greeting("localhost")
        with socket.create_connection(("127.0.0.1", proxy.port)) as guest:
            guest.sendall(connect(place, token="") + right)
            assert soon(lambda: upstream.all == right)
        told = {("refused", "tls"): 2, ("refused", "name"): 3, ("allowed", ""): 1}
        assert soon(lambda: {(row[2], row[3]): row[4] for row in proxy.rows()} == told)


def test_a_name_at_an_address_of_this_machine_is_refused(upstream: Host) -> None:
    try:
        socket.getaddrinfo(named(), upstream.port)
    except OSError:
        pytest.skip("this machine does not know its own name")
    with running(hosts=[f"{named()}:{upstream.port}"]) as proxy:
        said = proxy.say(connect(f"{named()}:{upstream.port}", token=""))
        # The name is listed and is not enough: the record has the address, which the user must list.
        assert soon(lambda: [row[2:4] for row in proxy.rows()] == [["refused", "address"]])
        assert ipaddress.ip_address(proxy.rows()[0][0]).version in {4, 6}

    assert b"X-Autopilot-Egress: address" in said
    assert upstream.heard == []


def test_a_slow_head_and_a_slow_greeting_are_not_waited_for(upstream: Host) -> None:
    place = f"127.0.0.1:{upstream.port}"
    with running(hosts=[place], tls=[upstream.port], bounds={"head_s": 0.3}) as proxy:
        assert b"X-Autopilot-Egress: slow" in proxy.say(b"CONNECT ")
        proxy.say(connect(place, token=""), b"\x16\x03\x01", stay=True)

        assert soon(lambda: {(row[2], row[3]) for row in proxy.rows()} == {("refused", "slow")})
    assert upstream.heard == []


def test_a_call_sends_no_more_than_its_bound(upstream: Host) -> None:
    place = f"127.0.0.1:{upstream.port}"
    with running(hosts=[place], bounds={"upload": 1000}) as proxy:
        proxy.say(connect(place, token=""), b"x" * 600)
        proxy.say(connect(place, token=""), b"x" * 600)

        assert soon(lambda: ("refused", "upload") in {(row[2], row[3]) for row in proxy.rows()})
    assert len(upstream.all) == 600


def test_a_silent_connection_ends(upstream: Host) -> None:
    place = f"127.0.0.1:{upstream.port}"
    with running(hosts=[place], bounds={"silence_s": 0.2}) as proxy:
        assert proxy.say(connect(place, token="")).startswith(b"HTTP/1.1 200")


def test_who_opens_too_many_connections_is_told_and_others_go_on(upstream: Host) -> None:
    place = f"127.0.0.1:{upstream.port}"
    with running(hosts=[place]) as proxy:
        hanging = [socket.create_connection(("127.0.0.1", proxy.port)) for _ in range(128)]
        assert soon(lambda: b"X-Autopilot-Egress: busy" in proxy.say(b""))
        for guest in hanging:
            guest.close()

        assert soon(lambda: proxy.say(connect(place, token=""), b"GET\r\nConnection: close\r\n\r\n").endswith(b"hello"))


def test_a_host_that_does_not_answer_is_a_failure_and_no_refusal() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with running(hosts=[f"127.0.0.1:{port}"]) as proxy:
        said = proxy.say(connect(f"127.0.0.1:{port}", token=""))

        assert said.startswith(b"HTTP/1.1 502")
        assert soon(lambda: [row[2:4] for row in proxy.rows()] == [["failed", "dial"]])


def test_the_users_own_proxy_is_asked_for_what_is_out_in_public(upstream: Host) -> None:
    with socket.create_server(("127.0.0.1", 0)) as parent:
        heard: list[bytes] = []

        def answer() -> None:
            for reply in (b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"):
                guest, _ = parent.accept()
                with guest:
                    heard.append(guest.recv(1 << 16))
                    guest.sendall(reply)

        threading.Thread(target=answer, daemon=True).start()
        url = f"http://me:pass%20word@127.0.0.1:{parent.getsockname()[1]}"
        hosts = ["a.example.test:8443", "b.example.test:80", "c.example.test", f"127.0.0.1:{upstream.port}"]
        with running(hosts=hosts, parents={"http": url, "https": url}, direct=["c.example.test"]) as proxy:
            proxy.say(connect("a.example.test:8443", token=""))
            proxy.say(request("GET http://b.example.test/x HTTP/1.1", token=""))
            assert proxy.say(plain(upstream.port, "Content-Length: 0")).endswith(b"hello")

    account = b"Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk\r\n"
    assert heard[0].startswith(b"CONNECT a.example.test:8443 HTTP/1.1\r\n")
    assert heard[1].startswith(b"GET http://b.example.test/x HTTP/1.1\r\nHost: b.example.test\r\n")
    assert all(account in each for each in heard)


def test_the_program_leaves_with_its_agent_and_its_exit_code(upstream: Host) -> None:
    with running(hosts=[]) as proxy:
        assert proxy.end() == 0
    with running(hosts=[]) as proxy:
        assert soon(lambda: len(children(proxy.process.pid)) == 1)
        os.kill(children(proxy.process.pid)[0], signal.SIGKILL)
        assert proxy.process.wait() == -signal.SIGKILL


def test_a_list_that_cannot_be_read_starts_nothing() -> None:
    with running(hosts=["http://nonsense"]) as proxy:
        assert proxy.process.wait() == 125


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
