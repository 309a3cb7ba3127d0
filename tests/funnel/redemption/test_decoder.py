"""The decoder of QR codes for browsers that have none: small, from a known package, and only where it is needed."""

import gzip
import hashlib
import re

from funnel.core.static_files import FOLDER, Assets
from tests.funnel.redemption.fixtures import LOG_IN, ROOT, Venue

KILOBYTE = 1024
PLAIN, COMPRESSED = 40 * KILOBYTE, 17 * KILOBYTE
"""Decoding takes more than pages may weigh, so it is no part of one: only a browser without its own decoder loads it, when
its camera is asked for.
"""
LINKED = 60 * KILOBYTE
"""What the page may weigh without it."""
NAME = "qr-decoder.js"


def test_the_decoder_stays_small_and_tells_where_it_is_from() -> None:
    script, licence = (FOLDER / NAME).read_text(), (FOLDER / "qr-decoder.LICENSE.txt").read_text()
    assert len(script.encode()) <= PLAIN
    assert len(gzip.compress(script.encode())) <= COMPRESSED
    banner = script.partition("\n")[0]
    version = re.search(r"qr (\d+\.\d+\.\d+)", banner)
    assert version is not None
    assert f"npm install qr@{version[1]}" in licence
    assert banner in licence
    assert hashlib.sha256(script.encode()).hexdigest() in licence
    assert "The MIT License" in licence
    assert "WebAssembly" not in script
    assert re.findall(r"\beval\b|\bFunction\(|https?://", script) == []


async def test_only_the_field_for_a_code_knows_of_it_and_does_not_load_it(venue: Venue) -> None:
    staff, path = await venue.staff(), Assets().path(NAME)
    await staff.open(ROOT)
    assert staff.page.one("button", id="scan").attributes["data-decoder"] == path
    scripts = {tag.attributes["src"] for tag in staff.page.all("script")}
    assert scripts == {Assets().path("funnel.js"), Assets().path("redeem.js")}
    linked = [file for file in FOLDER.iterdir() if f"/{file.stem}." in staff.response.text and file.name != NAME]
    assert sum(file.stat().st_size for file in linked) + len(staff.response.content) < LINKED
    answer = await staff.http.get(path)
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    await staff.open(f"{ROOT}?code={(await venue.voucher()).normal_code}")
    assert path not in staff.response.text
    assert path not in (await venue.browsers().open(LOG_IN)).response.text
