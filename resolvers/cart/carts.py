"""The cart that a shop hands over."""

from uuid import UUID

from resolvers.cart.lines import lines_of
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import may_sell
from schema.cart.cart import Cart, CartItem
from schema.cart.ecommerce_cart import EcommerceCart, published
from schema.cart.input import SaveEcommerceCart
from schema.core.errors import CartNotFound, InvalidInput, PartnerInactive, Problem
from schema.core.input_errors import Findings
from schema.core.permission import Rule
from store.cart.carts import Once, Saved
from store.cart.return_urls import problem_of

NO_CART = Problem(
    ("id",), "INVALID", "No cart of yours has this id. It may have expired: leave the id out for a new cart."
)


async def _checked(call: Call, input: SaveEcommerceCart) -> list[CartItem]:
    """The lines of a cart that can be kept."""
    partner_id = call.caller.partner_id
    assert partner_id is not None
    findings = Findings()
    with findings.of_one():
        items = await lines_of(call, partner_id, input.items)
    with findings.of_one():
        if input.return_url and (problem := problem_of(input.return_url, call.caller.return_hosts)):
            raise InvalidInput.at("return_url", problem)
    findings.tell()
    return items


@operation(Rule.PARTNER, transaction=False, audited_later=True, keeps_answers=True, checks=_checked)
async def save_ecommerce_cart(call: Call, input: SaveEcommerceCart) -> EcommerceCart:
    """Hand a cart over: a new one, or, with the id of a live cart of yours, in its place. Send the customer to `funnelUrl`.

    Products, stock and prices are looked at in the checkout, not here. With an `Idempotency-Key`, repeating the request
    answers the first cart again.
    """
    partner_id = call.caller.partner_id
    assert partner_id is not None
    items = await _checked(call, input)
    once = _once(call, created=input.id is None)
    if not may_sell(call.services, call.caller.partner_status):
        saved = await _saved_before(call, partner_id, input.id, once)
    elif input.id is None:
        saved = await call.services.carts.create(partner_id, items, input.return_url, once=once)
    else:
        replaced = await call.services.carts.replace(partner_id, input.id, items, input.return_url, once=once)
        if replaced is None:
            raise InvalidInput(NO_CART)
        saved = replaced
    if call.once is not None and saved.replayed:
        call.once.replay(saved.answer)
    return published(saved.cart, funnel_url_of(call, saved.cart.id), created=input.id is None)


async def _saved_before(call: Call, partner_id: int, id: UUID | None, once: Once | None) -> Saved:
    """What the key of this request was answered while the partner sold. Raises PartnerInactive for whatever is new."""
    if id is not None and await call.services.carts.get(partner_id, id) is None:
        raise InvalidInput(NO_CART)
    saved = None if once is None else await call.services.carts.saved_before(partner_id, once)
    if saved is None:
        raise PartnerInactive
    return saved


def _once(call: Call, *, created: bool) -> Once | None:
    """Keeps the whole answer beside the cart."""
    once = call.once
    if once is None:
        return None

    async def answer(cart: Cart) -> bytes:
        return await once.render(published(cart, funnel_url_of(call, cart.id), created=created))

    return Once(once.of.token_id, once.of.key, once.of.fingerprint, answer)


@operation(Rule.PARTNER, transaction=False)
async def ecommerce_cart(call: Call, id: UUID) -> EcommerceCart:
    """A cart of yours, while it lives. Reading it does not make it live longer."""
    assert call.caller.partner_id is not None
    cart = await call.services.carts.get(call.caller.partner_id, id)
    if cart is None:
        raise CartNotFound
    return published(cart, funnel_url_of(call, cart.id))


def funnel_url_of(call: Call, cart_id: UUID) -> str:
    """Where the customer of this cart checks out: on the partner's own domain."""
    scheme = call.services.settings.funnel_scheme
    return f"{scheme}://{call.caller.site_domain}/ecommerce/shop/customization/?cart={cart_id}"
