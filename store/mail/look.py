"""How the theme of a brand looks in mail, where fonts cannot be loaded and styles are inline."""

from collections.abc import Mapping
from dataclasses import dataclass

from schema.theme import BrandTheme, CornerRadius, HeadingFont

SANS_SERIF = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
HEADING_FONTS: Mapping[HeadingFont, str] = {
    HeadingFont.FRAUNCES: "Fraunces,Georgia,'Times New Roman',serif",
    HeadingFont.PLAYFAIR: "'Playfair Display',Georgia,'Times New Roman',serif",
    HeadingFont.JOST: "Jost,Futura,'Century Gothic','Trebuchet MS',Arial,sans-serif",
    HeadingFont.NUNITO: "Nunito,'Trebuchet MS',Arial,sans-serif",
    HeadingFont.SYSTEM: SANS_SERIF,
}
"""Families like the heading fonts, of those that devices have."""
DEFAULT_PAGE = "#f4f1ed"
RADII: Mapping[CornerRadius, tuple[str, str, str, str]] = {
    CornerRadius.NONE: ("0", "0", "0", "0"),
    CornerRadius.SMALL: ("6px", "4px", "4px", "4px"),
    CornerRadius.MEDIUM: ("16px", "12px", "8px", "999px"),
    CornerRadius.LARGE: ("24px", "20px", "16px", "999px"),
}
"""The radii of the message, its boxes, its pictures and its buttons."""


@dataclass(frozen=True, slots=True)
class MailLook:
    """The values of inline styles that depend on the theme."""

    heading_font: str
    page: str
    card_radius: str
    box_radius: str
    picture_radius: str
    button_radius: str


def mail_look(theme: BrandTheme) -> MailLook:
    """The look of a theme in mail."""
    return MailLook(HEADING_FONTS[theme.heading_font], theme.page_tint or DEFAULT_PAGE, *RADII[theme.corner_radius])
