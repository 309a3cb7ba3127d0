"""Brand style sheets: the colours and the theme of a partner. Their URLs contain what they are made of, or its digest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.static_files import CACHE_FOREVER, CONTENT_TYPES, digest, font_path
from schema.checkout.brand import Brand
from schema.theme import BrandTheme, CornerRadius, HeadingFont
from store.core.brand_colours import build_brand, dark_accent_colours, surfaces

COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
FALLBACK_COLOUR = "#1f4e5f"


@dataclass(frozen=True, slots=True)
class WebFont:
    """How a heading font is loaded. The metrics, in percent of the fallback's, give the fallback the size of the font. A
    font that arrives late is used from the next page on, so that nothing moves.
    """

    fallback: tuple[str, ...]
    """The local fonts shown instead of it."""
    generic: str
    size: str
    ascent: str
    descent: str
    spacing: str
    """The letter spacing of large headings."""


SERIF = ("Times New Roman Bold", "TimesNewRomanPS-BoldMT", "Liberation Serif Bold", "Noto Serif Bold")
SANS_SERIF = ("Arial Bold", "Arial-BoldMT", "Liberation Sans Bold", "Roboto Bold")
WEB_FONTS: Mapping[HeadingFont, WebFont] = {
    HeadingFont.FRAUNCES: WebFont(SERIF, "serif", "111.7", "87.5", "22.8", "-.015em"),
    HeadingFont.PLAYFAIR: WebFont(SERIF, "serif", "106.0", "102.0", "23.7", "-.005em"),
    HeadingFont.JOST: WebFont(SANS_SERIF, "sans-serif", "94.6", "113.1", "39.6", "-.015em"),
    HeadingFont.NUNITO: WebFont(SANS_SERIF, "sans-serif", "95.4", "106.0", "37.0", "-.012em"),
}
RADII: Mapping[CornerRadius, tuple[str, str, str, str]] = {
    CornerRadius.NONE: ("0", "0", "0", "0"),
    CornerRadius.SMALL: ("4px", "4px", "6px", "4px"),
    CornerRadius.LARGE: ("22px", "16px", "32px", "99px"),
}
"""The radii of boxes, fields, pictures and pills. The medium ones are in `funnel.css`."""


def brand_sheet(brand: Brand) -> bytes:
    """A partner's colours and theme as a style sheet, also for dark pages. Invalid colours are replaced by the defaults."""
    accent, ink, text = (
        colour if COLOUR.fullmatch(colour) else fallback
        for colour, fallback in (
            (brand.accent, FALLBACK_COLOUR),
            (brand.accent_ink, "#ffffff"),
            (brand.accent_text, FALLBACK_COLOUR),
        )
    )
    tint = brand.theme.page_tint if COLOUR.fullmatch(brand.theme.page_tint) else ""
    light = _accent_rule(accent, ink, text) + _surfaces_rule(tint, dark=False)
    dark = _accent_rule(*dark_accent_colours(accent, tint)) + _surfaces_rule(tint, dark=True)
    shape = _radius_rule(brand.theme.corner_radius) + _font_rules(brand.theme.heading_font)
    return f"{light}\n{shape}@media screen and (prefers-color-scheme:dark){{{dark}}}\n".encode()


def _accent_rule(accent: str, ink: str, text: str) -> str:
    return f":root{{--accent:{accent};--accent-ink:{ink};--accent-text:{text}}}"


def _surfaces_rule(tint: str, *, dark: bool) -> str:
    """The colours of the page. The rule is stronger than that of `dark.css`, which comes after it."""
    if not tint:
        return ""
    of = surfaces(tint, dark=dark)
    return f"{'html' if dark else ''}:root{{--paper:{of.paper};--tint:{of.panel};--line:{of.line}}}"


def _radius_rule(radius: CornerRadius) -> str:
    if radius not in RADII:
        return ""
    box, field, picture, pill = RADII[radius]
    return f":root{{--r:{box};--rs:{field};--rl:{picture};--rp:{pill}}}\n"


def _font_rules(font: HeadingFont) -> str:
    if font not in WEB_FONTS:
        return ""
    of = WEB_FONTS[font]
    local = ",".join(f'local("{name}")' for name in of.fallback)
    return (
        f'@font-face{{font-family:Heading;src:url({font_path(font)})format("woff2");font-weight:600 700;'
        "font-display:optional}\n"
        f"@font-face{{font-family:Instead;src:{local};font-weight:600 700;size-adjust:{of.size}%;"
        f"ascent-override:{of.ascent}%;descent-override:{of.descent}%;line-gap-override:0%}}\n"
        f"h1,h2,h3,.logo-name{{font-family:Heading,Instead,{of.generic};font-weight:600;font-variant-numeric:lining-nums}}\n"
        f"h1,.logo-name,.highlight h2{{letter-spacing:{of.spacing}}}h2,h3{{letter-spacing:0}}\n"
    )


def heading_font_path(brand: Brand) -> str:
    """The URL of the font of headings; empty if none is loaded."""
    font = brand.theme.heading_font
    return font_path(font) if font in WEB_FONTS else ""


def look_path(brand: Brand) -> str:
    """The path of a brand's style sheet at the service's own host. It does not reveal whose it is."""
    theme = brand.theme
    parts = brand.accent.lower(), theme.heading_font, theme.corner_radius, theme.page_tint
    return look_route("-".join(part.removeprefix("#") for part in parts if part))


def look_route(look: str) -> str:
    """The path of the style sheet of a look: an accent, and as needed a font, a radius and a tint, with hyphens between."""
    return f"/onboarding/colours/{look}.css"


def brand_path(brand: Brand) -> str:
    """The path of a partner's brand style sheet on its own host."""
    return f"/ecommerce/shop/brand.{digest(brand_sheet(brand))}.css"


async def look_sheet(request: Request) -> Response:
    """The style sheet of a look. What is invalid of it gets the default."""
    look: str = request.path_params["look"]
    accent, font, radius, tint = (look.split("-") + [""] * 3)[:4]
    theme = BrandTheme(
        HeadingFont(font) if font in set(HeadingFont) else HeadingFont.FRAUNCES,
        CornerRadius(radius) if radius in set(CornerRadius) else CornerRadius.MEDIUM,
        f"#{tint}" if COLOUR.fullmatch(f"#{tint}") else "",
    )
    colour = f"#{accent}"
    brand = build_brand("", colour if COLOUR.fullmatch(colour) else FALLBACK_COLOUR, theme=theme)
    headers = {"Cache-Control": CACHE_FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(brand_sheet(brand), headers=headers, media_type=CONTENT_TYPES[".css"])
