"""The icon of a host in the tabs of browsers."""

from html import escape

from starlette.responses import Response

from schema.checkout.brand import Brand

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="{accent}"/>'
    '<text x="32" y="33" fill="{ink}" font-family="system-ui,sans-serif" font-size="36" font-weight="600" '
    'text-anchor="middle" dominant-baseline="central">{letter}</text></svg>'
)
ICON_HEADERS = {
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}


def letter_icon(brand: Brand) -> Response:
    """The first letter of a name in the colour of the brand, as SVG."""
    letter = escape(brand.name[:1].upper() or "•")
    svg = ICON.format(accent=brand.accent, ink=brand.accent_ink, letter=letter)
    return Response(svg, headers=ICON_HEADERS, media_type="image/svg+xml")
