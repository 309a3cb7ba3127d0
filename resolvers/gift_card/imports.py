"""Import of gift cards that another system issued."""

import datetime as dt
from collections.abc import Sequence

from sqlmodel import col, select

from resolvers.core.imported_codes import ImportedCodes
from resolvers.core.input_mapping import collect_owner, currency_of, embedded_of
from resolvers.core.operation import Call, operation
from schema.core.errors import Problem
from schema.core.input_errors import ProblemCollector, raise_if_problems
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardStatus
from schema.gift_card.import_input import ImportedGiftCard, ImportGiftCards
from store.core.codes import format_code, normalize
from store.coupon.coupons import CouponRow
from store.database.loaders import is_any_of
from store.gift_card.gift_cards import CODE_KEY, GiftCardRow
from store.gift_card.issuing import import_gift_cards as import_cards

UNDER = ("gift_cards",)
OF_COUPON = "A coupon has this code, and customers enter both in the same place."


@operation(Permission.MANAGE_GIFT_CARD)
async def import_gift_cards(call: Call, input: ImportGiftCards) -> list[GiftCard]:
    """Import up to 1000 gift cards from another system, with their codes and what is left of them: all of them, or none
    if one is invalid. Returns them in the order of the input. Nothing is charged, and no mail is sent. A dry run answers
    none, and the errors that the import would have, each at its gift card.

    What is left is owed by the partner from now on, as if it had issued the card. If a gift card that you cannot see
    already has one of the codes, the request is refused and counts as a guess, and the error does not name the code.
    """
    now, findings = call.services.clock.now(), ProblemCollector()
    codes = ImportedCodes(call, GiftCardRow, "gift card", UNDER, [each.code for each in input.gift_cards])
    partner = await collect_owner(findings, call, input)
    coupons = frozenset[str]()
    with findings.collect():
        coupons = await _coupons(call, partner.id, codes)
    existing = (await codes.find_existing()).visible
    with findings.collect():
        raise_if_problems(
            Problem((*UNDER, at, *p.path), p.code, p.message)
            for at, each in enumerate(input.gift_cards)
            for p in (*codes.problems_of(each.code, existing), *_coupon_problems(each, coupons), *_problems(each, now))
        )
    findings.raise_problems()
    await codes.check_hidden()
    if input.dry_run or call.dry_run:
        return []
    currency = await currency_of(call, partner)
    cards = [_row(each, partner.id, currency, now) for each in input.gift_cards]
    await codes.insert(lambda: import_cards(call.db, cards, now), CODE_KEY)
    return list(cards)


async def _coupons(call: Call, partner_id: int, codes: ImportedCodes) -> frozenset[str]:
    """Which of the codes are those of the partner's coupons."""
    table = CouponRow
    query = select(table.normal_code).where(
        col(table.partner_id) == partner_id, is_any_of(col(table.normal_code), codes.normal)
    )
    return frozenset((await call.db.exec(query)).all())


def _coupon_problems(card: ImportedGiftCard, coupons: frozenset[str]) -> Sequence[Problem]:
    return [Problem(("code",), "ALREADY_TAKEN", OF_COUPON)] if normalize(card.code) in coupons else []


def _problems(card: ImportedGiftCard, now: dt.datetime) -> Sequence[Problem]:
    """Problems with the amounts and the dates."""
    created, left = card.created_on or now, card.value if card.remaining_value is None else card.remaining_value
    checks = (
        (card.value <= 0, Problem(("value",), "OUT_OF_RANGE", "Send more than 0.00.")),
        (
            card.remaining_value == 0,
            Problem(("remaining_value",), "OUT_OF_RANGE", "Import only gift cards with something left."),
        ),
        (left > card.value, Problem(("remaining_value",), "OUT_OF_RANGE", "No more can be left than its value.")),
        (created > now, Problem(("created_on",), "INVALID", "Send a time in the past.")),
        (
            card.expires_on is not None and card.expires_on <= created,
            Problem(("expires_on",), "INVALID", "A gift card must expire after it was issued."),
        ),
    )
    return [problem for is_wrong, problem in checks if is_wrong]


def _row(card: ImportedGiftCard, partner_id: int, currency: str, now: dt.datetime) -> GiftCardRow:
    left = card.value if card.remaining_value is None else card.remaining_value
    status = GiftCardStatus.PAID if left == card.value else GiftCardStatus.USING
    if card.expires_on is not None and card.expires_on <= now:
        status = GiftCardStatus.EXPIRED
    gifter = embedded_of(GiftCardGifter, card.gifter_details)
    giftee = embedded_of(GiftCardGiftee, card.giftee_details)
    return GiftCardRow(
        partner_id=partner_id,
        code=format_code(card.code.strip()),
        normal_code=normalize(card.code),
        status=status,
        created_on=card.created_on or now,
        expires_on=card.expires_on,
        value_amount=card.value,
        remaining_amount=left,
        used_elsewhere_amount=card.value - left,
        currency=currency,
        **gifter.model_dump(),
        **giftee.model_dump(),
        message=card.message or None,
        language=card.language,
    )
