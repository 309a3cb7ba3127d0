"""How a partner looks to customers, with colours that can be read."""

from schema.checkout.checkout import Brand
from store.partner.partners import PartnerRow

AA = 4.5
"""The least contrast of text in WCAG 2.2 AA."""
INKS = ("#ffffff", "#000000")
"""Of the two one is readable on any colour; of white and a grey, however dark, there are colours on which neither is."""


def brand_of(partner: PartnerRow) -> Brand:
    """The partner's name, logo and colours."""
    return branded(
        partner.commercial_name,
        partner.accent_colour,
        logo_url=partner.logo_url,
        website=partner.website,
        email=partner.agency_email,
        phone=partner.agency_phone,
    )


def branded(
    name: str, accent: str, *, logo_url: str = "", website: str = "", email: str = "", phone: str = ""
) -> Brand:
    """A look: a name and one `#rrggbb` colour, from which the others follow."""
    return Brand(
        name=name,
        logo_url=logo_url,
        accent=accent,
        accent_ink=max(INKS, key=lambda ink: contrast(ink, accent)),
        accent_text=readable(accent),
        website=website,
        email=email,
        phone=phone,
    )


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast of two `#rrggbb` colours by WCAG, from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def readable(colour: str, on: str = "#ffffff", at_least: float = AA) -> str:
    """The colour itself where it can be read on the background, else the lightest darker shade that can."""
    for percent in range(100, -1, -2):
        shade = "#" + "".join(f"{v * percent // 100:02x}" for v in _channels(colour))
        if contrast(shade, on) >= at_least:
            return shade
    return "#000000"
