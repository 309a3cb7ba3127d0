"""The slugs of voucher prototypes. A former slug keeps leading to its prototype until another prototype takes it."""

from sqlalchemy import ColumnElement, any_, func, literal, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import AlreadyTaken
from schema.core.text import Text
from schema.validation.slugs import LONGEST_SLUG, RESERVED_SLUGS, slug_of
from store.catalogue.catalogue import VoucherPrototypeRow

MOST_FORMER_SLUGS = 20
"""How many former slugs a prototype keeps, the newest."""


async def free_slug(db: AsyncSession, partner_id: int, name: Text) -> str:
    """A free slug for a new prototype: that of its English name, else of its first one, with a number if it is taken.

    Two prototypes that are created at once get different slugs: the lock lasts until the end of the transaction.
    """
    wanted = slug_of(name.in_language("en"), "experience")
    await db.exec(select(func.pg_advisory_xact_lock(func.hashtextextended(f"slugs of partner {partner_id}", 0))))
    slug = col(VoucherPrototypeRow.slug)
    alike = or_(slug == wanted, slug.startswith(f"{wanted[: LONGEST_SLUG - 11]}-", autoescape=True))
    of_partner = col(VoucherPrototypeRow.partner_id) == partner_id
    taken = {*(await db.exec(select(VoucherPrototypeRow.slug).where(of_partner, alike))), *RESERVED_SLUGS}
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted[: LONGEST_SLUG - 11].rstrip('-')}-{number}"
    return free


async def change_slug(db: AsyncSession, row: VoucherPrototypeRow, slug: str) -> None:
    """Give a prototype another slug; the present one becomes a former one. Raises AlreadyTaken."""
    if slug == row.slug:
        return
    of_another = select(VoucherPrototypeRow.id).where(
        col(VoucherPrototypeRow.partner_id) == row.partner_id, col(VoucherPrototypeRow.slug) == slug
    )
    if (await db.exec(of_another)).first() is not None:
        raise AlreadyTaken("slug", what="slug")
    former = [row.slug, *(each for each in row.former_slugs if each not in {slug, row.slug})]
    row.slug, row.former_slugs = slug, former[:MOST_FORMER_SLUGS]


async def find_by_slug(db: AsyncSession, partner_id: int, slug: str) -> tuple[int, str] | None:
    """The id and the present slug of the prototype with this slug, or else of the newest that had it; None without one."""
    table = VoucherPrototypeRow
    has_it: ColumnElement[bool] = col(table.slug) == slug
    had_it = literal(slug) == any_(col(table.former_slugs))
    query = (
        select(table.id, table.slug)
        .where(col(table.partner_id) == partner_id, or_(has_it, had_it))
        .order_by(has_it.desc(), col(table.id).desc())
        .limit(1)
    )
    return (await db.exec(query)).first()
