"""HTML that is cleaned when it comes in: only what is allowed is left of it, whatever was smuggled, and cleaning twice is once."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.validation.html import ALLOWED_ATTRIBUTES, ALLOWED_SCHEMES, ALLOWED_TAGS, clean_html

SMUGGLED = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img src='data:image/svg+xml;base64,PHN2Zz4='>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='JaVaScRiPt:alert(1)'>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href='\x01javascript:alert(1)'>x</a>",
    "<a href='&#106;&#97;vascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<a href='vbscript:x'>x</a>",
    "<a href='//evil.example'>x</a>",
    "<a href='/account/delete'>x</a>",
    "<a href='https://a.example' onclick=alert(1) style='position:fixed' target=_blank>x</a>",
    "<p style='background:url(javascript:alert(1))' onmouseover=alert(1) class=admin id=login>x</p>",
    "<style>@import '//evil.example'</style>",
    "<link rel=stylesheet href=//evil.example><meta http-equiv=refresh content='0;url=//evil.example'><base href=//evil>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe><object data=x></object><embed src=x>",
    "<form action=//evil.example><input name=password><button formaction=javascript:alert(1)>x</button></form>",
    "<svg><script>alert(1)</script></svg><svg onload=alert(1)>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<math><annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea><p title='</textarea><img src=x onerror=alert(1)>'></textarea>",
    "<template><script>alert(1)</script></template>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><p>x</p>",
    "<p title='<script>alert(1)</script>'>x",
    "<b><i></b></i><li><ul><p><h2>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<a title='\"&gt;&lt;script&gt;alert(1)&lt;/script&gt;' href='https://a.example/?a=1&b=2'>x</a>",
    "<details open ontoggle=alert(1)><video src=x onerror=alert(1)><audio autoplay>",
    "<xss:p xmlns:xss=x onclick=alert(1)>",
    "\ufeff<p>\u202ex\x00</p>",
    "<h2><scr<script>ipt>alert(1)</scr</script>ipt><h2>",
]


class Look(HTMLParser):
    """What a reader finds in some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED_TAGS:
            self.wrong.append(tag)
        for name, value in attrs:
            if name not in {*ALLOWED_ATTRIBUTES.get(tag, ()), *(["rel"] if tag == "a" else [])}:
                self.wrong.append(f"{tag} {name}")
            if name == "href" and urlsplit(value or "").scheme not in ALLOWED_SCHEMES:
                self.wrong.append(f"{name} {value}")

    def handle_comment(self, data: str) -> None:
        self.wrong.append(data)

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(decl)

    def handle_pi(self, data: str) -> None:
        self.wrong.append(data)


def holds(html: str) -> None:
    """Only what is allowed is in it, and cleaning again changes nothing."""
    cleaned = clean_html(html)
    assert Look(cleaned).wrong == [], cleaned
    assert clean_html(cleaned) == cleaned


@pytest.mark.parametrize("html", SMUGGLED)
def test_nothing_is_smuggled_in(html: str) -> None:
    holds(html)


PIECES = st.sampled_from(
    [
        *SMUGGLED,
        *(f"<{tag}>" for tag in sorted(ALLOWED_TAGS)),
        *(f"</{tag}>" for tag in sorted(ALLOWED_TAGS)),
        "<",
        ">",
        "&",
        '"',
        "'",
        "=",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
def test_nothing_is_smuggled_in_however_it_is_put_together(html: str) -> None:
    holds(html)


def test_what_looks_are_for_is_found() -> None:
    assert Look("<p onclick=x><script>y</script><a href='javascript:x'><!-- z -->").wrong != []


def test_what_is_allowed_stays() -> None:
    html = (
        "<h2>How</h2><p>Write to <strong>us</strong>, <em>soon</em>:<br>"
        '<a href="mailto:a@b.example" rel="nofollow noopener noreferrer">a@b.example</a></p>'
        "<ul><li>By day</li><li>1 &lt; 2 &amp; 3</li></ul>"
    )
    assert clean_html(html) == html
    assert clean_html('<a href="https://a.example">x</a>') == (
        '<a href="https://a.example" rel="nofollow noopener noreferrer">x</a>'
    )
    assert clean_html("plain text, 5 > 4") == "plain text, 5 &gt; 4"
