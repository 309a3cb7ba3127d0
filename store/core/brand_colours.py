"""The colours of a brand: text colours that are readable with its accent colour (WCAG 2.2 AA)."""

import colorsys
from functools import lru_cache

from schema.checkout.brand import Brand
from schema.checkout.legal import LegalLink

MIN_CONTRAST = 4.5
"""The minimum contrast of text in WCAG 2.2 AA."""


MIN_SURFACE_CONTRAST = 3.0
"""The minimum contrast of controls in WCAG 2.2 AA."""
DARK_PAPER, DARK_PANEL = "#191715", "#262320"
"""The backgrounds of dark pages: `--paper` and `--tint` of `dark.css`."""
TEXT_COLOURS = ("#ffffff", "#000000")
"""On any background, black or white is readable. White and a dark grey would not do: on some colours neither is."""


def build_brand(
    name: str,
    accent: str,
    *,
    logo_url: str = "",
    website: str = "",
    email: str = "",
    phone: str = "",
    legal: tuple[LegalLink, ...] = (),
) -> Brand:
    """A brand from its name and one `#rrggbb` colour, from which the text colours are derived."""
    accent_ink, accent_text = _text_colours(accent)
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
    )


@lru_cache(maxsize=1024)
def _text_colours(accent: str) -> tuple[str, str]:
    """The colours of text on the accent, and of text on white. Cached: deriving them takes longer than reading a shop."""
    return max(TEXT_COLOURS, key=lambda ink: contrast(ink, accent)), readable_colour(accent)


@lru_cache(maxsize=1024)
def dark_accent_colours(accent: str) -> tuple[str, str, str]:
    """The accent on dark pages, the colour of text on it, and of text in the accent.

    The accent is made lighter until it stands out, the text until it is readable on panels too.
    """
    shown = _lighter_shade(accent, DARK_PANEL, MIN_SURFACE_CONTRAST)
    ink = max(TEXT_COLOURS, key=lambda each: contrast(each, shown))
    return shown, ink, _lighter_shade(accent, DARK_PANEL, MIN_CONTRAST)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The WCAG contrast of two `#rrggbb` colours, from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def readable_colour(colour: str, on: str = "#ffffff", at_least: float = MIN_CONTRAST) -> str:
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
        tint = "#" + "".join(f"{round(255 * v):02x}" for v in colorsys.hls_to_rgb(hue, lighter, saturation))
        if contrast(tint, on) >= at_least:
            return tint
    return "#ffffff"
