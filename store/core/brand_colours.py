"""The colours of a brand: text colours that are readable with its accent colour (WCAG 2.2 AA)."""

from functools import lru_cache

from schema.checkout.brand import Brand
from schema.checkout.legal import LegalLink

MIN_CONTRAST = 4.5
"""The minimum contrast of text in WCAG 2.2 AA."""


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
