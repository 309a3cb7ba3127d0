"""Slugs: names as they appear in the addresses of pages."""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from schema.validation.characters import line_up_to

LONGEST_SLUG = 80
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
RESERVED_SLUGS = frozenset({"shop"})
"""Slugs that are paths of the shop itself."""
_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
"""Letters that Unicode does not decompose into a plain one and an accent."""


def slug_of(name: str, otherwise: str) -> str:
    """The slug of a name: its letters without accents and its digits, joined by hyphens; `otherwise` if it has none."""
    spaced = name.casefold().translate(_LETTERS).replace("’", "-")
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    slug = re.sub("[^a-z0-9]+", "-", plain).strip("-")
    return slug[:LONGEST_SLUG].strip("-") or otherwise


def _check_slug(slug: str) -> str:
    if not SLUG.fullmatch(slug):
        raise PydanticCustomError(
            "slug", "Send lower-case letters, digits and single hyphens, such as night-by-the-sea."
        )
    if slug in RESERVED_SLUGS:
        raise PydanticCustomError("slug", "This slug is reserved. Choose another one.")
    return slug


Slug = Annotated[str, line_up_to(LONGEST_SLUG, min_length=1, to_lower=True), AfterValidator(_check_slug)]
