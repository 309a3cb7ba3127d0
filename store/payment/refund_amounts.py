"""How a refund is divided over the sources of a payment, and how much commission goes back with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from schema.core.errors import InvalidInput
from schema.core.message_names import MessageAmount, TemplatedMessage
from schema.payment.errors import CommissionOnly
from schema.payment.payment import PaymentSourceKind
from store.payment.payments import PaymentRow, PaymentSourceRow
from store.providers.money import smallest_unit

NOTHING = Decimal("0.00")


def left_of(source: PaymentSourceRow) -> Decimal:
    """What of a source has not been refunded yet."""
    return source.source_amount - source.refunded_amount


@dataclass(frozen=True, slots=True)
class BankCardPart:
    """What only the bank card has paid for: the gift cards of an order, and what the network sells."""

    amount: Decimal = NOTHING
    """What is refunded of it."""
    left: Decimal = NOTHING
    """What remains of it after this refund, for later ones."""


def divide(
    sources: Sequence[PaymentSourceRow],
    amount: Decimal,
    only_by_bank: BankCardPart = BankCardPart(),
    most_by_bank: Decimal | None = None,
) -> Mapping[int, Decimal]:
    """The amounts by source id, in proportion to what is left of each. The last cent goes to the bank card.

    `amount` must not exceed what is left of all together. What only the bank card has paid for goes back to it, as long
    as so much is left of it. `most_by_bank` is what may go back to it: of a payment of two owners, what is left of who
    refunds.
    """
    left = {source.id: left_of(source) for source in sources}
    parts, free = dict.fromkeys(left, NOTHING), dict(left)
    bank = next((source.id for source in sources if source.kind is PaymentSourceKind.CREDIT_CARD), None)
    if bank is not None:
        left[bank] = left[bank] if most_by_bank is None else min(left[bank], most_by_bank)
        parts[bank] = min(only_by_bank.amount, left[bank])
        free[bank] = max(left[bank] - parts[bank] - only_by_bank.left, NOTHING)
    rest, total = amount - sum(parts.values(), NOTHING), sum(free.values(), NOTHING)
    for source in sources if total else ():
        share = (min(rest, total) * free[source.id] / total).quantize(smallest_unit(source.currency), ROUND_DOWN)
        parts[source.id] += share
        free[source.id] -= share
    bank_first = sorted(left, key=lambda each: each != bank)
    _distribute(amount - sum(parts.values(), NOTHING), bank_first, free, parts)
    beyond = {id: left[id] - parts[id] for id in left}
    _distribute(amount - sum(parts.values(), NOTHING), bank_first, beyond, parts)
    return {id: part for id, part in parts.items() if part}


def _distribute(rest: Decimal, ids: Sequence[int], most: Mapping[int, Decimal], parts: dict[int, Decimal]) -> None:
    """Add the rest to the parts, at most so much to each, in this order."""
    for id in ids:
        more = min(rest, most[id])
        parts[id] += more
        rest -= more


def divide_as_told(sources: Sequence[PaymentSourceRow], extra: Decimal, by_card: Decimal) -> Mapping[int, Decimal]:
    """The amounts by source id of an explicit split: `extra` over the wallets, `by_card` to the bank card.

    Raises InvalidInput if more is asked of a source than is left of it.
    """
    wallets = [source for source in sources if source.kind is not PaymentSourceKind.CREDIT_CARD]
    cards = [source for source in sources if source.kind is PaymentSourceKind.CREDIT_CARD]
    for name, asked, of in (("extra_source_amount", extra, wallets), ("additional_payin_amount", by_card, cards)):
        left = sum(map(left_of, of), NOTHING)
        if asked > left:
            most = MessageAmount(left, sources[0].currency)
            told = TemplatedMessage("Only {left} is left to refund of it.", left=most)
            raise InvalidInput.at(("split", name), told, "OUT_OF_RANGE")
    return {**divide(wallets, extra), **divide(cards, by_card)}


def share_left(payment: PaymentRow, source: PaymentSourceRow) -> Decimal:
    """What of a partner's share of a payment is left in its bank card's part. It is less than refunds gave back of the share
    leave if the provider has refunded more than the network's part on the network's account.
    """
    return min(payment.partner_share_amount - source.partner_share_back_amount, left_of(source))


def network_left(payment: PaymentRow, source: PaymentSourceRow) -> Decimal:
    """What of the bank card's part of a payment with what the network sells is left of the network's."""
    return left_of(source) - share_left(payment, source)


def part_of_share(
    payment: PaymentRow, source: PaymentSourceRow, amount: Decimal, of_network: Decimal | None = None
) -> Decimal:
    """What of an amount of the bank card's part is a partner's share: all but `of_network`, or in proportion to what is left
    of both. Never more than is left of either.
    """
    of_partner, left = share_left(payment, source), left_of(source)
    if not of_partner:
        return NOTHING
    part = amount * of_partner / left if of_network is None else amount - of_network
    least = max(amount - (left - of_partner), NOTHING)
    return min(max(part.quantize(smallest_unit(payment.currency), ROUND_HALF_UP), least), of_partner)


def commission_to_refund(
    payment: PaymentRow, source: PaymentSourceRow, amount: Decimal, share: Decimal
) -> tuple[Decimal, Decimal]:
    """The commission that goes back with another refund of a source, and the VAT in it. `share` is what of the amount is a
    partner's share.

    Raises CommissionOnly if that is all of the amount.
    """
    back, vat = commission_back(payment, source, amount, share)
    if back == amount:
        raise CommissionOnly
    return back, vat


def commission_back(
    payment: PaymentRow, source: PaymentSourceRow, amount: Decimal, share: Decimal
) -> tuple[Decimal, Decimal]:
    """The commission in what else goes back of a source, and the VAT in it. It is in a partner's share, if there is one.

    Both are what belongs to all refunds so far, less what went back before: nothing is left at 100 %. The provider
    refunds nothing that is commission alone: the smallest unit of each refund, and of what is left after it, is the
    partner's. If that cannot be, all of the amount is commission.
    """
    if source.kind is not PaymentSourceKind.CREDIT_CARD:
        return NOTHING, NOTHING
    whole, before, rest = source.source_amount, source.refunded_amount, left_of(source)
    if payment.partner_share_amount:
        whole, before, rest = (
            payment.partner_share_amount,
            source.partner_share_back_amount,
            share_left(payment, source),
        )
        amount = share
    left, unit = payment.commission_amount - source.commission_back_amount, smallest_unit(payment.currency)
    of_partner = rest - left
    refunded = (before + amount) / whole
    total = (payment.commission_amount * refunded).quantize(unit, ROUND_HALF_UP)
    vat = (payment.commission_vat_amount * refunded).quantize(unit, ROUND_HALF_UP)
    most = of_partner - unit if amount < rest else of_partner
    part = min(max(amount - (total - source.commission_back_amount), unit), most)
    back = max(NOTHING, min(amount - part, amount, left))
    if back == left:
        vat = payment.commission_vat_amount
    return back, max(NOTHING, min(vat - source.commission_vat_back_amount, back))
