"""What is owed for gift cards."""

from collections.abc import Sequence
from decimal import Decimal

from resolvers.core.caller import Caller, Role
from resolvers.core.operation import Call, operation
from resolvers.report.scope import MarketplaceId, PartnerId, report_owner
from schema.core.money import Money
from schema.core.permission import Permission
from schema.report.gift_card_liability import AgedLiability, BreakageHistory, CurrencyLiability, GiftCardLiabilities
from store.report.liabilities import CardLiability, network_card_liabilities, partner_card_liabilities


@operation(Permission.VIEW_GIFT_CARD)
async def gift_card_liabilities(
    call: Call, partner_id: PartnerId = None, marketplace_id: MarketplaceId = None
) -> GiftCardLiabilities:
    """What is owed for gift cards now, by their age, and how much of it is expected never to be spent."""
    owner = await report_owner(call, partner_id, marketplace_id)
    now = call.services.clock.now()
    of_network = owner.scope.partner_id is None and _may_see_networks(call.caller)
    networks = await network_card_liabilities(call.db, owner.scope.marketplace_id, now) if of_network else None
    return GiftCardLiabilities(
        as_of=now,
        partner_cards=_currencies(await partner_card_liabilities(call.db, owner.scope, now)),
        network_cards=None if networks is None else _currencies(networks),
    )


def _may_see_networks(caller: Caller) -> bool:
    """Whether the caller sees the gift cards of networks."""
    return caller.role is not Role.PARTNER and caller.may(Permission.USE_NETWORK_GIFT_CARD)


def _currencies(liabilities: Sequence[CardLiability]) -> list[CurrencyLiability]:
    return [_currency(each) for each in liabilities]


def _currency(liability: CardLiability) -> CurrencyLiability:
    def money(amount: Decimal) -> Money:
        return Money(amount=amount, currency=liability.currency)

    def estimate(amount: Decimal | None) -> Money | None:
        return None if amount is None else money(amount)

    history = liability.history
    return CurrencyLiability(
        currency=liability.currency,
        count=liability.count,
        outstanding=money(liability.outstanding),
        expected_breakage=estimate(liability.expected_breakage),
        ages=[
            AgedLiability(
                age=age,
                count=each.count,
                outstanding=money(each.outstanding),
                expected_breakage=estimate(each.expected_breakage),
            )
            for age, each in liability.ages.items()
        ],
        history=BreakageHistory(
            count=history.count, value=money(history.value), unspent=money(history.unspent), share=history.share
        ),
    )
