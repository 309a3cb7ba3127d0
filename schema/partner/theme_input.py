"""Inputs that set the theme and the start page of a shop."""

from typing import Annotated

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.core.text_input import line_per_language
from schema.product.input import PicturePath
from schema.theme import CornerRadius, HeadingFont, StartPage, Theme
from schema.validation.colours import OptionalColour

Headline = Annotated[TextInput, line_per_language(80)]


@graphql_input_for(Theme)
class ThemeInput(SchemaModel):
    """How the pages, documents and mail of a shop look. Omitted fields stay unchanged."""

    heading_font: strawberry.Maybe[HeadingFont]
    corner_radius: strawberry.Maybe[CornerRadius]
    page_tint: strawberry.Maybe[OptionalColour] = Field(
        description="The background colour of pages, `#rrggbb`; empty for white. A colour on which text would be hard to "
        "read is refused."
    )


@graphql_input_for(StartPage)
class StartPageInput(SchemaModel):
    """What the start page of a shop shows at its top. Omitted fields stay unchanged."""

    hero_picture_url: strawberry.Maybe[PicturePath] = Field(
        description="The URL of one of the partner's own pictures (`Media.coverUrl`), with or without scheme and host; "
        "empty for none."
    )
    headline: strawberry.Maybe[Headline]
