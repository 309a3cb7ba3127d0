"""The look of a shop as it is typed in a form: what is wrong with it, and the shop with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from admin.forms.current import UPLOADED, own_path
from admin.graph.labels import label_of
from resolvers.partner.sites import Shop
from schema.core.text import Text
from schema.theme import BrandTheme, CornerRadius, HeadingFont, StartPage
from schema.validation.colours import Colour, OptionalColour
from schema.validation.languages import LANGUAGES
from store.core.brand_colours import UNREADABLE_TINT, build_brand, is_readable_tint


def problems_of_look(typed: Mapping[str, str]) -> Mapping[str, str]:
    """What is wrong with a typed look, by the labels of its fields."""
    problems = {}
    for name, kind in (("accentColour", Colour), ("theme.pageTint", OptionalColour)):
        if (text := typed.get(name)) is None:
            continue
        try:
            colour = TypeAdapter(kind).validate_python(text)
        except ValidationError as error:
            problems[label_of(name.rpartition(".")[2])] = error.errors()[0]["msg"]
        else:
            if name == "theme.pageTint" and colour and not is_readable_tint(colour):
                problems[label_of("pageTint")] = UNREADABLE_TINT
    return problems


def with_look(shop: Shop, typed: Mapping[str, str]) -> Shop:
    """The shop with a look that is typed. What is not typed stays, and what cannot be chosen."""
    brand, start = shop.brand, shop.start_page
    theme = BrandTheme(
        _member(HeadingFont, typed.get("theme.headingFont"), brand.theme.heading_font),
        _member(CornerRadius, typed.get("theme.cornerRadius"), brand.theme.corner_radius),
        typed.get("theme.pageTint", brand.theme.page_tint).strip().lower(),
    )
    logo_url = _picture(typed.get("logoUrl"), brand.logo_url)
    of_look = build_brand(brand.name, typed.get("accentColour", brand.accent).strip().lower(), theme=theme)
    headline = {each: typed.get(f"startPage.headline.{each}", getattr(start.headline, each)) for each in LANGUAGES}
    return replace(
        shop,
        brand=replace(
            brand,
            logo_url=logo_url,
            accent=of_look.accent,
            accent_ink=of_look.accent_ink,
            accent_text=of_look.accent_text,
            theme=theme,
        ),
        start_page=StartPage(
            hero_picture_url=_picture(typed.get("startPage.heroPictureUrl"), start.hero_picture_url),
            headline=Text(**headline),
        ),
    )


def _member(kind: Any, name: str | None, otherwise: Any) -> Any:
    return kind.__members__.get(name, otherwise)


def _picture(typed: str | None, saved: str) -> str:
    """The path of a picture that is typed: none, or one that was uploaded; the saved one for anything else."""
    path = saved if typed is None else own_path(typed)
    return path if not path or path.startswith(UPLOADED) else saved
