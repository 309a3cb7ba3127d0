"""The body of a request: how much of it is read, what its headers say, what is no JSON and no form."""

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from schema.core.errors import TooLarge, UnsupportedMediaType
from store.core.request_body import (
    MEBIBYTE,
    MULTIPART,
    RequestBody,
    UnreadableBody,
    parse_json,
    parse_json_with_surrogates,
)


class Sent:
    """A request of some chunks."""

    def __init__(self, *chunks: bytes, **headers: str) -> None:
        self.chunks = list(chunks)
        named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        self.body = RequestBody(Request({"type": "http", "headers": named}, self.receive))

    async def receive(self) -> Message:
        """The next chunk."""
        if not self.chunks:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": self.chunks.pop(0), "more_body": bool(self.chunks)}


async def test_a_body_is_its_chunks() -> None:
    assert await Sent(b"ab", b"", b"c").body.read(3) == b"abc"
    assert await Sent(b"").body.read(3) == b""


async def test_no_more_is_read_than_the_limit_and_a_chunk() -> None:
    sent = Sent(*[b"x" * MEBIBYTE] * 5)
    with pytest.raises(TooLarge, match=r"The request is larger than 1 MiB\."):
        await sent.body.read(MEBIBYTE)
    assert len(sent.chunks) == 3


@pytest.mark.parametrize("length", ["4", "99999999999999999999", "9" * 5000])
async def test_nothing_is_read_of_a_body_that_says_it_is_too_large(length: str) -> None:
    sent = Sent(b"abc", content_length=length)
    with pytest.raises(TooLarge):
        await sent.body.read(3)
    assert sent.chunks


@pytest.mark.parametrize("length", ["3", "0003", "-1", "three", "0" * 5000])
async def test_what_is_said_of_the_length_is_not_believed(length: str) -> None:
    assert await Sent(b"abc", content_length=length).body.read(3) == b"abc"


async def test_a_client_that_leaves() -> None:
    with pytest.raises(ClientDisconnect):
        await Sent().body.read(3)


def test_a_compressed_body_is_refused() -> None:
    Sent().body.check_encoding()
    Sent(content_encoding="Identity").body.check_encoding()
    with pytest.raises(UnsupportedMediaType, match=r"Send the body without Content-Encoding\."):
        Sent(content_encoding="gzip").body.check_encoding()


@pytest.mark.parametrize(
    ("header", "media_type", "is_utf8"),
    [
        ("", "", True),
        (";", "", True),
        ("Application/JSON", "application/json", True),
        ('application/json ; charset="UTF-8"', "application/json", True),
        ("application/json;charset=utf8", "application/json", True),
        ("application/json; boundary=x", "application/json", True),
        ("application/json; charset=latin-1", "application/json", False),
    ],
)
def test_the_media_type(header: str, media_type: str, is_utf8: bool) -> None:
    body = Sent(content_type=header).body
    assert (body.media_type, body.is_utf8) == (media_type, is_utf8)


@pytest.mark.parametrize("raw", [b"", b"{", b"NaN", b"1e999", b"\xff", b"[" * 2000, b'"\\ud800"'])
def test_what_is_no_json(raw: bytes) -> None:
    with pytest.raises(UnreadableBody):
        parse_json(raw)


def test_lone_surrogates_can_be_kept() -> None:
    assert parse_json_with_surrogates(b'"\\ud800"') == "\ud800"
    for raw in (b'["\\ud800", NaN]', b'"\\ud800' + b"[" * 5000, b"{"):
        with pytest.raises(UnreadableBody):
            parse_json_with_surrogates(raw)


async def test_files_of_a_form_stay_in_memory() -> None:
    content = b"x" * (2 * MEBIBYTE)
    raw = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n' + content + b"\r\n--x--\r\n"
    body = Sent(content_type=f"{MULTIPART}; boundary=x").body
    form = await body.parse_form(raw, max_files=1, max_fields=1)
    file = form["f"]
    assert not isinstance(file, str)
    assert file.size == len(content)
    assert not file.file._rolled  # type: ignore[attr-defined]
    await form.close()
    with pytest.raises(UnreadableBody, match="Too many files"):
        await body.parse_form(raw, max_files=0, max_fields=1)


@pytest.mark.parametrize("header", [MULTIPART, f"{MULTIPART}; boundary=x; charset=undefined"])
async def test_forms_that_cannot_be_read(header: str) -> None:
    with pytest.raises(UnreadableBody):
        await Sent(content_type=header).body.parse_form(
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\r\n--x--\r\n', max_files=1, max_fields=1
        )
