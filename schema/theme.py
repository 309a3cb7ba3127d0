"""The theme of a shop: the typeface of its headings, its corners and the colour of its pages."""

from dataclasses import dataclass

from sqlmodel import Field

from schema.core.columns import DescribedEnum, enum_column, graphql_enum
from schema.core.resource import EmbeddedColumns, embedded_type
from schema.core.text import Text, translated_text_column


@graphql_enum
class HeadingFont(DescribedEnum):
    """The typeface of headings, on pages and in documents."""

    FRAUNCES = "fraunces", "Fraunces, a warm serif."
    PLAYFAIR = "playfair", "Playfair Display, an elegant serif with strong contrasts."
    JOST = "jost", "Jost, a geometric sans serif."
    NUNITO = "nunito", "Nunito, a rounded sans serif."
    SYSTEM = "system", "The sans serif of the visitor's device; in documents Inter."


@graphql_enum
class CornerRadius(DescribedEnum):
    """How far the corners of buttons, pictures and boxes are rounded."""

    NONE = "none", "Square corners."
    SMALL = "small", "Slightly rounded corners."
    MEDIUM = "medium", "Rounded corners."
    LARGE = "large", "Very round corners."


@embedded_type("How the pages, documents and mail of a shop look, besides its accent colour and its logo.")
class Theme(EmbeddedColumns):
    heading_font: HeadingFont = enum_column(
        HeadingFont, "The typeface of headings, on pages and in documents.", default=HeadingFont.FRAUNCES
    )
    corner_radius: CornerRadius = enum_column(
        CornerRadius,
        "How far the corners of buttons, pictures and boxes are rounded.",
        default=CornerRadius.MEDIUM,
    )
    page_tint: str = Field(
        default="",
        max_length=7,
        description="The background colour of pages, `#rrggbb`; empty for white. Dark pages take its hue.",
    )


@embedded_type("What the start page of a shop shows at its top.")
class StartPage(EmbeddedColumns):
    hero_picture_url: str = Field(
        default="", max_length=300, description="The path of the picture, on every host of this service; empty if none."
    )
    headline: Text = translated_text_column(
        "The headline; in languages without one, a general headline is shown.", default_factory=Text
    )


@dataclass(frozen=True, slots=True)
class BrandTheme:
    """How pages, documents and mail look, besides the accent colour and the logo."""

    heading_font: HeadingFont = HeadingFont.FRAUNCES
    corner_radius: CornerRadius = CornerRadius.MEDIUM
    page_tint: str = ""
    """The background colour of pages, `#rrggbb`; empty for white."""


DEFAULT_THEME = BrandTheme()
