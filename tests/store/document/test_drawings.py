"""Drawings that strangers upload: drawn in full, and harmless whatever they contain."""

import base64
import io
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from coffret.demo.content import FOLDER
from schema.core.errors import Unavailable
from store.document.drawing.check import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS, check_drawing
from store.document.drawing.program import LONGEST_SIDE, MOST_PIXELS
from store.document.drawing.upload import draw_upload, draw_upload_sync
from store.document.pictures import is_drawing
from store.media.images import InvalidPicture, process_picture
from tests.fixtures.media import drawn

NAMESPACES = (
    'xmlns="http://www.w3.org/2000/svg" xmlns:svg="http://www.w3.org/2000/svg" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:other="urn:other"'
)
SQUARE = '<rect width="5" height="10" fill="#ff0000"/>'
RED, NOTHING = (255, 0, 0, 255), (0, 0, 0, 0)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, for this process and those that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def svg(content: str = SQUARE, size: str = 'viewBox="0 0 10 10"', before: str = "") -> bytes:
    return f"{before}<svg {NAMESPACES} {size}>{content}</svg>".encode()


def opened(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png), formats=["PNG"])
    image.load()
    return image


def halves(png: bytes) -> tuple[object, object]:
    """A pixel of the left and one of the right half."""
    image = opened(png).convert("RGBA")
    return image.getpixel((image.width // 4, image.height // 2)), image.getpixel(
        (image.width * 3 // 4, image.height // 2)
    )


def uses(levels: int) -> str:
    """A drawing that draws its square ten to the power of `levels` times."""
    groups = (f'<g id="a{at}">{f"""<use xlink:href="#a{at - 1}"/>""" * 10}</g>' for at in range(1, levels + 1))
    return f'<defs><g id="a0">{SQUARE}</g>{"".join(groups)}</defs><use xlink:href="#a{levels}"/>'


def test_it_is_large_and_transparent() -> None:
    image = opened(draw_upload_sync(svg()))
    assert (image.size, image.mode) == ((1000, 1000), "RGBA")
    assert halves(draw_upload_sync(svg())) == (RED, NOTHING)


@pytest.mark.parametrize(
    ("size", "pixels"),
    [
        ('width="200mm" height="20mm"', (2000, 200)),
        ('viewBox="0,0,1,4"', (500, 2000)),
        ('width="100%" height="100%" viewBox="0 0 30 10"', (1732, 577)),
        ('width="0.5pt" height="0.5pt" viewBox="0 0 10 10"', (1000, 1000)),
    ],
)
def test_it_has_its_own_ratio_within_the_limits(size: str, pixels: tuple[int, int]) -> None:
    image = opened(draw_upload_sync(svg(size=size)))
    assert image.size == pixels
    assert image.width * image.height <= MOST_PIXELS
    assert max(image.size) <= LONGEST_SIDE


async def test_the_logos_of_the_demo_are_drawn_and_stored_in_all_sizes() -> None:
    for logo in sorted(FOLDER.glob("*/logo.svg")):
        stored = process_picture(await draw_upload(logo.read_bytes()))
        for content in stored.sizes.values():
            image = Image.open(io.BytesIO(content)).convert("RGBA")
            assert image.getchannel("A").getextrema() == (0, 255), "letters on nothing"


@pytest.mark.parametrize(
    "content",
    [
        svg(before='<?xml version="1.0" encoding="UTF-8"?>\n<!-- Drawn by hand. -->\n'),
        svg(
            before='<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
        ),
        b"\xef\xbb\xbf \n" + svg(),
        svg(f'<a xlink:href="https://example.com/">{SQUARE}</a>'),
    ],
    ids=["declaration", "document type", "byte order mark", "link"],
)
def test_what_programs_write_around_it_is_no_problem(content: bytes) -> None:
    assert is_drawing(content)
    assert halves(draw_upload_sync(content)) == (RED, NOTHING)


def test_a_picture_within_it_is_drawn() -> None:
    embedded = base64.b64encode(drawn(colour="#ff0000")).decode()
    shown = f'<image width="5" height="10" preserveAspectRatio="none" xlink:href="data:image/png;base64,{embedded}"/>'
    assert halves(draw_upload_sync(svg(shown))) == (RED, NOTHING)


@pytest.mark.parametrize(
    "content",
    [
        f"<script>document.write('x')</script>{SQUARE}",
        f"<style>@import url(http://127.0.0.1:9/x.css); @font-face{{src:url(file:///etc/passwd)}}</style>{SQUARE}",
        f'{SQUARE}<foreignObject width="10" height="10"><body xmlns="http://www.w3.org/1999/xhtml">x</body></foreignObject>',
        '<rect width="5" height="10" fill="#ff0000"><animate attributeName="width" to="10" dur="1s"/></rect>',
        f'<g id="g"><use href="#g"/>{SQUARE}</g>',
    ],
    ids=["script", "style", "html", "animation", "circle"],
)
def test_what_could_act_does_nothing(content: str) -> None:
    assert halves(draw_upload_sync(svg(content))) == (RED, NOTHING)


def hostile(folder: Path) -> dict[str, bytes]:
    """Drawings that reach out of themselves."""
    (folder / "secret.png").write_bytes(drawn())
    inner = base64.b64encode(svg()).decode()
    laughs = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 12))
    return {
        f"{attribute} to {target[:30]}": svg(f'<image width="10" height="10" {attribute}="{target}"/>')
        for attribute, target in (
            ("href", f"file://{folder}/secret.png"),
            ("href", f"{folder}/secret.png"),
            ("href", "secret.png"),
            ("xlink:href", "http://127.0.0.1:9/a.png"),
            ("xlink:href", "//127.0.0.1/a.png"),
            ("href", f"data:image/svg+xml;base64,{inner}"),
            ("href", ""),
            ("svg:href", f"{folder}/secret.png"),
            ("xml:href", f"{folder}/secret.png"),
            ("other:href", f"{folder}/secret.png"),
        )
    } | {
        "use of another file": svg('<use href="other.svg#a"/>'),
        "filter of another file": svg('<filter id="f"><feImage href="/etc/passwd"/></filter>' + SQUARE),
        "billion laughs": svg(
            f"<text>&l11;</text>{SQUARE}", before=f'<!DOCTYPE svg [<!ENTITY l0 "{"ha" * 50}">{laughs}]>'
        ),
        "file as an entity": svg(
            f"<text>&x;</text>{SQUARE}", before='<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        ),
        "parameter entity": svg(before='<!DOCTYPE svg [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]>'),
    }


def unusable() -> dict[str, bytes]:
    """Files that are no usable drawings."""
    return {
        "without a size": svg(size=""),
        "size of nothing": svg(size='viewBox="0 0 0 10"'),
        "relative size": svg(size='width="100%" height="50%"'),
        "size that is no number": svg(size='viewBox="0 0 nan inf"'),
        "size without end": svg(size='width="1e999" height="10"'),
        "size beyond all numbers": svg(size='width="1e307in" height="1e307in"'),
        "size of almost nothing": svg(size='viewBox="0 0 1e-320 1e-320"'),
        "size of a town": svg(size='viewBox="0 0 1e7 1e7"'),
        "too narrow": svg(size='viewBox="0 0 1 21"'),
        "too many bytes": svg(f"{SQUARE}<!--{'x' * MAX_BYTES}-->"),
        "too many elements": svg("<g/>" * MAX_ELEMENTS),
        "too deep": svg("<g>" * MAX_DEPTH + "</g>" * MAX_DEPTH),
        "far too deep": svg("<g>" * 100_000 + "</g>" * 100_000),
        "half of one": svg()[:-4],
        "another XML file": b'<?xml version="1.0"?><note xmlns="http://www.w3.org/2000/svg"/>',
        "no namespace": b'<svg viewBox="0 0 10 10"/>',
        "page": b"<!-- --><html><script>alert(1)</script></html>",
        "unknown entity": svg("<text>&nbsp;</text>"),
    }


def laborious() -> dict[str, bytes]:
    """Small files that occupied a parser for seconds, or took gigabytes."""
    declared = "".join(f"<!ATTLIST g a{at} CDATA ''>" for at in range(4000))
    names = "".join(f'<g a:b{at}="" a:c{at}=""/>' for at in range(10_000))
    return {
        "long width": svg(size=f'width="{"1" * 500_000}x" height="10"'),
        "long view box": svg(size=f'viewBox="0 0 {"1" * 500_000}x {"1" * 400_000}"'),
        "many numbers": svg(size=f'viewBox="{"1 " * 400_000}"'),
        "defaults of attributes": svg("<g/>" * 4000, before=f"<!DOCTYPE svg [{declared}]>"),
        "long namespace": svg(f'<g xmlns:a="urn:{"a" * 500_000}">{names}</g>'),
    }


@pytest.mark.parametrize("encoding", ["shift_jis", "big5", "utf-7", "foo", "hex", "utf-16", "iso-8859-1"])
def test_another_encoding_is_refused_with_a_remedy(encoding: str) -> None:
    with pytest.raises(InvalidPicture, match="save it as UTF-8"):
        check_drawing(svg(before=f'<?xml version="1.0" encoding="{encoding}"?>'))


def test_what_is_laborious_to_parse_is_refused_at_once() -> None:
    for name, content in laborious().items():
        begun = time.process_time()
        with pytest.raises(InvalidPicture, match=r"^This SVG "):
            check_drawing(content)
        assert time.process_time() - begun < 0.3, name


def test_what_reaches_out_is_refused_before_it_is_drawn(tmp_path: Path) -> None:
    for name, content in {**hostile(tmp_path), **unusable()}.items():
        begun = time.process_time()
        with pytest.raises(InvalidPicture, match=r"^This (SVG|file) "):
            check_drawing(content)
        assert time.process_time() - begun < 1, name


def test_the_uploader_is_told_what_the_check_found(temporary: Path) -> None:
    with pytest.raises(InvalidPicture, match=r"^This SVG refers to another file: embed it, or remove it\.$"):
        draw_upload_sync(svg('<image href="secret.png"/>'))
    with pytest.raises(InvalidPicture, match=r"^This SVG has no size"):
        draw_upload_sync(svg(size='width="1%"'))
    assert list(temporary.iterdir()) == []


def seconds_of_children() -> float:
    """The processor's time of the processes that ended, however busy the machine is."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def white(side: int) -> str:
    """A white PNG of this side, in base64: few bytes, many pixels."""
    written = io.BytesIO()
    Image.new("1", (side, side), 1).save(written, "PNG", compress_level=9)
    return base64.b64encode(written.getvalue()).decode()


@pytest.mark.parametrize(
    "content",
    [
        lambda: (
            '<filter id="f"><feTurbulence baseFrequency=".9" numOctaves="100000"/></filter>'
            + SQUARE.replace("/>", ' filter="url(#f)"/>')
        ),
        lambda: f'<image width="10" height="10" href="data:image/png;base64,{white(20_000)}"/>',
    ],
    ids=["endless filter", "large picture"],
)
def test_what_takes_too_much_ends_with_its_process(content: Callable[[], str], temporary: Path) -> None:
    drawing = svg(content())
    begun = seconds_of_children()
    with pytest.raises(InvalidPicture, match="simplify it"):
        draw_upload_sync(drawing)
    assert seconds_of_children() - begun < 10
    assert list(temporary.iterdir()) == []


def test_a_billion_uses_are_not_drawn(temporary: Path) -> None:
    with pytest.raises(InvalidPicture, match=r"simplify it|cannot be drawn"):
        draw_upload_sync(svg(uses(9)))
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("fault", ["no program", "traceback", "too slow", "no room"])
def test_a_fault_of_the_server_is_not_told_as_one_of_the_drawing(
    fault: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "no program":
        monkeypatch.setattr("store.document.drawing.upload.sys.executable", str(temporary / "missing"))
    elif fault == "traceback":
        monkeypatch.setattr("store.document.drawing.upload.program.__name__", "store.document.missing")
    elif fault == "too slow":
        monkeypatch.setattr("store.document.drawing.upload.WAITING_SECONDS", 0.01)
    else:
        monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    with pytest.raises(Unavailable):
        draw_upload_sync(svg())
    assert list(temporary.iterdir()) == []
