"""Whom a voucher is for, as a customer: corrected where it is this voucher alone that knows of them."""

from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.customer import CustomerRow, Person
from store.voucher.vouchers import VoucherRow


async def correct_own_giftee(db: AsyncSession, voucher: VoucherRow, who: Person) -> bool:
    """Correct the names of the customer that a voucher, which is locked, is for; False, with nothing done, where there is none,
    where it has an e-mail address, so that others find it by that, or where other vouchers are for it or given by it.
    """
    if voucher.giftee_id is None or not (who.first_name or who.last_name):
        return False
    table, other = CustomerRow, VoucherRow
    wanted = col(table.id) == voucher.giftee_id, col(table.normal_email).is_(None)
    own = (await db.exec(select(table).where(*wanted).with_for_update())).one_or_none()
    known_by = or_(
        (col(other.giftee_id) == voucher.giftee_id) & (col(other.id) != voucher.id),
        col(other.gifter_id) == voucher.giftee_id,
    )
    if own is None or (await db.exec(select(other.id).where(known_by).limit(1))).first() is not None:
        return False
    own.first_name, own.last_name = who.first_name, who.last_name
    return True
