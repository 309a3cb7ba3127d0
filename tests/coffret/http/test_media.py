"""Uploaded pictures as browsers fetch them: from any host, for ever, and nothing else at their addresses."""

import pathlib
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from schema.media import MediaSize
from store.media.media import MediaRow, media_key_of, media_path_of
from tests.fixtures.tenants import Tenants, open_tenants
from tests.resolvers.media.test_media import uploaded


@pytest.fixture
async def tenants(database_url: str, tmp_path: pathlib.Path) -> AsyncIterator[Tenants]:
    """Partners, each with a domain."""
    async with open_tenants(database_url, tmp_path) as found:
        yield found


@pytest.fixture
async def terrace(tenants: Tenants) -> MediaRow:
    """A picture of a partner."""
    return await uploaded(tenants)


@pytest.mark.parametrize("size", MediaSize)
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "a1.localhost", "a2.localhost"])
async def test_a_picture_is_served_on_every_host(
    tenants: Tenants, terrace: MediaRow, size: MediaSize, host: str
) -> None:
    path = media_path_of(terrace.uuid, size)
    answer = await tenants.client.get(path, headers={"Host": host})
    assert answer.status_code == 200
    assert answer.content == await tenants.services.files.get(media_key_of(terrace.uuid, size))
    told = answer.headers
    assert told["content-type"] == "image/webp"
    assert told["cache-control"] == "public, max-age=31536000, immutable"
    assert told["x-content-type-options"] == "nosniff"
    assert "sandbox" in told["content-security-policy"]
    assert (told["access-control-allow-origin"], told["cross-origin-resource-policy"]) == ("*", "cross-origin")
    assert "set-cookie" not in told
    head = await tenants.client.head(path, headers={"Host": host})
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", told["content-length"])
    for known in (told["etag"], f'W/{told["etag"]}, "another"'):
        unchanged = await tenants.client.get(path, headers={"Host": host, "If-None-Match": known})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", told["etag"])
        assert "immutable" in unchanged.headers["cache-control"]
    assert (await tenants.client.get(path, headers={"If-None-Match": '"another"'})).status_code == 200


async def test_nothing_else_is_at_such_an_address(tenants: Tenants, terrace: MediaRow) -> None:
    await tenants.services.files.put(f"media/{terrace.uuid}/notes.txt", b"not a picture", "text/plain")
    await tenants.services.files.put("documents/secret.webp", b"not a picture", "image/webp")
    with capture_logs() as logs:
        for other in (f"{terrace.uuid}/notes.txt", f"{terrace.uuid}/huge.webp", f"{terrace.uuid}/card.png",
                      f"{uuid4()}/card.webp", "../documents/secret.webp",
                      "%2e%2e/documents/secret.webp", f"{terrace.uuid}/..%2f..%2fdocuments%2fsecret.webp",
                      f"{terrace.uuid.hex}/card.webp", f"{terrace.uuid}/card.webp%00"):  # fmt: skip
            assert (await tenants.client.get(f"/media/{other}")).status_code == 404, other
    assert not logs
    assert (await tenants.client.post(media_path_of(terrace.uuid, MediaSize.CARD))).status_code == 405


async def test_a_file_that_is_lost_is_not_found_and_told(tenants: Tenants, terrace: MediaRow) -> None:
    await tenants.services.files.delete(media_key_of(terrace.uuid, MediaSize.CARD))
    with capture_logs() as logs:
        assert (await tenants.client.get(media_path_of(terrace.uuid, MediaSize.CARD))).status_code == 404
    assert [(entry["log_level"], entry["media"], entry["size"]) for entry in logs] == [
        ("error", str(terrace.uuid), MediaSize.CARD)
    ]
    assert (await tenants.client.get(media_path_of(terrace.uuid, MediaSize.FULL))).status_code == 200
