"""Pictures of a partner's catalogue."""

from rest_compat.shapes.keys import or_null, same
from rest_compat.shapes.shape import ResourceShape
from schema.media import Media

MEDIA = ResourceShape(
    "Media",
    Media,
    {**same("id", "uuid", "name", "created_on"), "archived_on": or_null("archived_on")},
    example={
        "id": 7,
        "uuid": "1b9c2f4e-58f5-4cbb-a7b0-2f6f3e5a0a0d",
        "name": "The terrace at sunset",
        "archived_on": None,
    },
)
MEDIA_CHANGE = {"name": "The terrace at night"}
"""An example update for the documentation."""
