"""Bytes that look almost right: samples of a target cut, repeated and stuffed with what readers stumble over."""

from hypothesis import strategies as st

from fuzz.samples import of_target

STUMBLES = (
    b"\0", b"\n", b"\r\n", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xd9\xa3", b"\x1b[31m", b"{", b"}", b"[", b"]", b'"', b"'", b"\\",
    b"\\ud800", b"\\u0000", b"`", b"```\n", b"<!--", b"-->", b"---\n", b"|", b"#", b"(", b")", b"<task ", b"null", b"true", b"-1", b"1e999", b"NaN", b"1" * 400,
    b"9" * 5000, b"18446744073709551616", b"-9223372036854775809", b"0.1", b"[" * 300, b'{"a":' * 300, b"..", b"/", b"%", b" " * 50, b"Phase 1", b": ", b",",
)  # fmt: skip
PIECES = st.one_of(st.sampled_from(STUMBLES), st.binary(max_size=6))


@st.composite
def _mutated(draw: st.DrawFn, samples: tuple[bytes, ...]) -> bytes:
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        data = data[:start] + draw(PIECES | st.just(data[start:end] * 2)) + data[end:]
    return data


def inputs_for(name: str) -> st.SearchStrategy[bytes]:
    return st.one_of(_mutated(of_target(name)), st.binary(max_size=80), st.lists(PIECES, max_size=20).map(b"".join))
