"""The colours of a brand: text colours that are readable with its accent colour (WCAG 2.2 AA)."""

import colorsys
from dataclasses import dataclass
from functools import lru_cache

from schema.checkout.brand import Brand
from schema.checkout.legal import LegalLink
from schema.theme import DEFAULT_THEME, BrandTheme

MIN_CONTRAST = 4.5
"""The minimum contrast of text in WCAG 2.2 AA."""


MIN_SURFACE_CONTRAST = 3.0
"""The minimum contrast of controls in WCAG 2.2 AA."""
DARK_PAPER, DARK_PANEL = "#191715", "#262320"
"""The backgrounds of dark pages: `--paper` and `--tint` of `dark.css`."""
LIGHT_PAPER, LIGHT_PANEL = "#ffffff", "#f7f5f2"
"""The backgrounds of light pages without a tint: `--paper` and `--tint` of `funnel.css`."""
TEXTS = {
    False: ("#1d1b19", "#5d5853", "#8a2c12", "#1c6b3f"),
    True: ("#f3f0ec", "#b9b2aa", "#f4ab93", "#86d3a5"),
}
"""The colours of texts on light and on dark pages: `--ink`, `--soft`, `--warn` and `--good` of the sheets."""
EDGES = {False: "#8b857e", True: "#928b83"}
"""The colour of the edges of fields: `--edge`."""
TEXT_COLOURS = ("#ffffff", "#000000")
"""On any background, black or white is readable. White and a dark grey would not do: on some colours neither is."""


MOST_DARK_SATURATION = 0.2
"""Dark pages have only a breath of the hue: pale tints are often fully saturated."""


def build_brand(
    name: str,
    accent: str,
    *,
    logo_url: str = "",
    website: str = "",
    email: str = "",
    phone: str = "",
    legal: tuple[LegalLink, ...] = (),
    theme: BrandTheme = DEFAULT_THEME,
) -> Brand:
    """A brand from its name and one `#rrggbb` colour, from which the text colours are derived."""
    accent_ink, accent_text = _text_colours(accent, theme.page_tint)
    return Brand(
        name=name,
        logo_url=logo_url,
        accent=accent,
        accent_ink=accent_ink,
        accent_text=accent_text,
        website=website,
        email=email,
        phone=phone,
        legal=legal,
        theme=theme,
    )


@lru_cache(maxsize=1024)
def _text_colours(accent: str, tint: str) -> tuple[str, str]:
    """The colours of text on the accent, and of text on white or on the panels of a tinted page. Cached: deriving them
    takes longer than reading a shop.
    """
    on = surfaces(tint).panel if tint else LIGHT_PAPER
    return max(TEXT_COLOURS, key=lambda ink: contrast(ink, accent)), readable_colour(accent, on)


@dataclass(frozen=True, slots=True)
class Surfaces:
    """The backgrounds of a page and of its panels, and the colour of its lines."""

    paper: str
    panel: str
    line: str


@lru_cache(maxsize=1024)
def surfaces(tint: str, *, dark: bool = False) -> Surfaces:
    """The surfaces of a page in a tint. Dark ones have its hue."""
    if not dark:
        return Surfaces(tint, _shade(tint, 0.965), _shade(tint, 0.9))
    hue, _, saturation = colorsys.rgb_to_hls(*(v / 255 for v in _channels(tint)))
    mild = min(saturation, MOST_DARK_SATURATION)
    return Surfaces(*(from_hls(hue, lightness, mild) for lightness in (0.094, 0.145, 0.21)))


UNREADABLE_TINT = "Text is hard to read on this colour. Send a lighter one, such as #faf6ef."
"""What is wrong with a tint that is not readable."""


def is_readable_tint(tint: str) -> bool:
    """True if all texts are readable on pages of this tint and on their panels, and the edges of fields stand out."""
    return all(
        contrast(text, on) >= MIN_CONTRAST and contrast(EDGES[dark], on) >= MIN_SURFACE_CONTRAST
        for dark, texts in TEXTS.items()
        for on in (surfaces(tint, dark=dark).paper, surfaces(tint, dark=dark).panel)
        for text in texts
    )


def _shade(colour: str, factor: float) -> str:
    return "#" + "".join(f"{round(v * factor):02x}" for v in _channels(colour))


def from_hls(hue: float, lightness: float, saturation: float) -> str:
    """The colour of a hue, a lightness and a saturation from 0 to 1, `#rrggbb`."""
    return "#" + "".join(f"{round(255 * v):02x}" for v in colorsys.hls_to_rgb(hue, lightness, saturation))


@lru_cache(maxsize=1024)
def dark_accent_colours(accent: str, tint: str = "") -> tuple[str, str, str]:
    """The accent on dark pages, with or without a tint, the colour of text on it, and of text in the accent.

    The accent is made lighter until it stands out, the text until it is readable on panels too.
    """
    panel = surfaces(tint, dark=True).panel if tint else DARK_PANEL
    shown = _lighter_shade(accent, panel, MIN_SURFACE_CONTRAST)
    ink = max(TEXT_COLOURS, key=lambda each: contrast(each, shown))
    return shown, ink, _lighter_shade(accent, panel, MIN_CONTRAST)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The WCAG contrast of two `#rrggbb` colours, from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def readable_colour(colour: str, on: str = LIGHT_PAPER, at_least: float = MIN_CONTRAST) -> str:
    """The colour itself if it is readable on the background, else the lightest darker shade that is."""
    for percent in range(100, -1, -2):
        shade = "#" + "".join(f"{v * percent // 100:02x}" for v in _channels(colour))
        if contrast(shade, on) >= at_least:
            return shade
    return "#000000"


def _lighter_shade(colour: str, on: str, at_least: float) -> str:
    """The colour itself if its contrast to a dark background suffices, else the darkest tint of its hue that does."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(v / 255 for v in _channels(colour)))
    for percent in range(0, 101, 2):
        lighter = lightness + (1 - lightness) * percent / 100
        tint = from_hls(hue, lighter, saturation)
        if contrast(tint, on) >= at_least:
            return tint
    return "#ffffff"
