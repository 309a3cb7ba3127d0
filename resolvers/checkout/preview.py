"""What a customer sees of a gift before paying: its document, as a picture."""

import uuid

from resolvers.checkout.steps import load_session, partner_of
from resolvers.core.operation import Call, operation
from schema.checkout.basket import BasketChoice
from schema.checkout.checkout import Buyer, CheckoutKey
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from store.checkout.drafts import find_draft, keep_draft
from store.checkout.preview import LinePreview
from store.checkout.pricing.order import UNPRICED_PROBLEMS
from store.document.cache import render_preview


@operation(AccessRule.CUSTOMER, transaction=False)
async def keep_gift_draft(call: Call, key: CheckoutKey, choice: BasketChoice) -> str:
    """Keep a choice as it is being typed, for its preview. Returns its name."""
    return await keep_draft(call.services.kv, partner_of(call), key.session_id, choice)


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_gift(call: Call, key: CheckoutKey, line_id: uuid.UUID | None, draft: str, language: str) -> bytes:
    """The document of a draft, or else of a line of the basket, as a PNG picture of its first page.

    Raises NotFound if there is none, or if it cannot be ordered; TooManyRequests.
    """
    await call.services.limits.previews.check(call.context.address)
    db, services = call.services.db, call.services
    session = await load_session(call, db, key)
    if draft:
        kept = await find_draft(services.kv, partner_of(call), key.session_id, draft)
        line_id = uuid.uuid4()
        session.edits.lines = {} if kept is None else {line_id: kept}  # of this request only: it is not saved
    quote = await session.quote(call, db)
    line = next((line for line in quote.priced.gifts if line.id == line_id), None)
    if line is None or line.problem in UNPRICED_PROBLEMS:
        raise NotFound(thing="preview")
    preview = LinePreview(
        shop=session.shop,
        coupons=quote.priced.coupons_of(line.id),
        buyer=session.customer.buyer or Buyer(),
        language=language,
        now=services.clock.now().astimezone(session.zone),
    )
    async with db.read_sessions() as reading:
        source = await preview.source(reading, services.settings, line)
    return await render_preview(source, services.files)
