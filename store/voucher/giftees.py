"""Correction of a giftee's customer record if it belongs to one voucher only."""

from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.customer import CustomerRow, Person
from store.voucher.vouchers import VoucherRow


async def correct_own_giftee(db: AsyncSession, voucher: VoucherRow, who: Person) -> bool:
    """Update the name of the giftee's customer record of a locked voucher.

    Returns False, without change, if there is no such record or no name, if the record has an e-mail address (other
    purchases find it by that), or if another voucher refers to it.
    """
    if voucher.giftee_id is None or not (who.first_name or who.last_name):
        return False
    table, other = CustomerRow, VoucherRow
    conditions = col(table.id) == voucher.giftee_id, col(table.normal_email).is_(None)
    own = (await db.exec(select(table).where(*conditions).with_for_update())).one_or_none()
    known_by = or_(
        (col(other.giftee_id) == voucher.giftee_id) & (col(other.id) != voucher.id),
        col(other.gifter_id) == voucher.giftee_id,
    )
    if own is None or (await db.exec(select(other.id).where(known_by).limit(1))).first() is not None:
        return False
    own.first_name, own.last_name = who.first_name, who.last_name
    return True
