"""Pictures of a shop, kept in the database under the digest of their content."""

import hashlib

from sqlmodel import Field, SQLModel

TYPES = {"svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}


class PictureRow(SQLModel, table=True):
    """A picture; its name is the digest of its content and its kind, so it never changes."""

    __tablename__ = "picture"
    partner_id: int = Field(foreign_key="partner.id", index=True)
    name: str = Field(primary_key=True, max_length=80)
    content: bytes


def picture(partner_id: int, content: bytes, kind: str) -> PictureRow:
    """A picture of a partner, of one of the kinds in `TYPES`."""
    if kind not in TYPES:
        raise ValueError(f"A picture is one of {', '.join(TYPES)}, not {kind}.")
    return PictureRow(partner_id=partner_id, name=f"{hashlib.sha256(content).hexdigest()[:40]}.{kind}", content=content)


def url_of(row: PictureRow) -> str:
    """Where it is served, on every host of this service."""
    return f"/media/{row.name}"
