"""Apple Pay's validation of the shop whose page asks for it."""

from typing import Any

import structlog

from resolvers.checkout.steps import partner_of
from resolvers.core.operation import Call, operation
from resolvers.partner.payment_methods import token_methods_for
from schema.core.errors import InvalidInput, NotFound, ProviderFailed
from schema.core.permission import AccessRule
from schema.payment_method import PaymentMethod
from store.partner.partners import PartnerRow
from store.providers.apple_pay import MerchantRefused, NotApples

log = structlog.get_logger(__name__)


@operation(AccessRule.CUSTOMER, transaction=False)
async def open_apple_pay_session(call: Call, url: str, host: str) -> dict[str, Any]:
    """The session with which the browser shows the sheet of Apple Pay on a page at `host`. `url` is that of Apple.

    Raises NotFound if the shop does not take Apple Pay, InvalidInput for a URL that is not Apple's, and ProviderFailed if
    Apple refuses.
    """
    async with call.services.db.sessions() as db:
        partner = await db.get_one(PartnerRow, partner_of(call))
    if PaymentMethod.APPLE_PAY not in token_methods_for(call.services.settings, partner.payment_methods):
        raise NotFound(thing="page")
    try:
        return await call.services.apple_pay.session(url, host=host, shop_name=partner.commercial_name)
    except NotApples as error:
        raise InvalidInput.at("url", "This is not an address of Apple.") from error
    except MerchantRefused as error:
        log.exception("Apple does not validate a shop", host=host)
        raise ProviderFailed from error
