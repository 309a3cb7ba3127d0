"""Carts that a partner's shop sends for checkout."""

from uuid import UUID

from resolvers.cart.lines import lines_of
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import may_sell
from schema.cart.cart import Cart, CartItem
from schema.cart.ecommerce_cart import EcommerceCart, ecommerce_cart_of
from schema.cart.input import SaveEcommerceCart
from schema.core.errors import CartNotFound, InvalidInput, PartnerInactive, Problem
from schema.core.input_errors import ProblemCollector
from schema.core.permission import AccessRule
from store.cart.carts import IdempotentSave, SavedCart
from store.cart.return_urls import return_url_problem

NO_CART = Problem(
    ("id",), "INVALID", "No cart of yours has this id. It may have expired: leave the id out for a new cart."
)


async def _validate_items(call: Call, input: SaveEcommerceCart) -> list[CartItem]:
    """The checked lines of a cart. Raises InvalidInput for invalid lines and for a bad return URL."""
    partner_id = call.caller.partner_id
    assert partner_id is not None
    findings = ProblemCollector()
    with findings.collect():
        items = await lines_of(call, partner_id, input.items)
    with findings.collect():
        if input.return_url and (problem := return_url_problem(input.return_url, call.caller.return_hosts)):
            raise InvalidInput.at("return_url", problem)
    findings.raise_problems()
    return items


@operation(AccessRule.PARTNER, transaction=False, audited_later=True, stores_response=True, checks=_validate_items)
async def save_ecommerce_cart(call: Call, input: SaveEcommerceCart) -> EcommerceCart:
    """Create a cart, or replace one by sending its id. Send the customer to `funnelUrl`.

    Products, stock and prices are checked in the checkout, not here. With an `Idempotency-Key`, a repeated request
    returns the first response.
    """
    partner_id = call.caller.partner_id
    assert partner_id is not None
    items = await _validate_items(call, input)
    once = _cart_idempotency(call, created=input.id is None)
    if not may_sell(call.services, call.caller.partner_status):
        saved = await _find_saved_cart(call, partner_id, input.id, once)
    elif input.id is None:
        saved = await call.services.carts.create(partner_id, items, input.return_url, idempotent=once)
    else:
        replaced = await call.services.carts.replace(partner_id, input.id, items, input.return_url, idempotent=once)
        if replaced is None:
            raise InvalidInput(NO_CART)
        saved = replaced
    if call.idempotency is not None and saved.replayed:
        call.idempotency.replay(saved.response)
    return ecommerce_cart_of(saved.cart, funnel_url_of(call, saved.cart.id), created=input.id is None)


async def _find_saved_cart(call: Call, partner_id: int, id: UUID | None, once: IdempotentSave | None) -> SavedCart:
    """The stored response for the request's idempotency key, from when the partner was selling. Raises PartnerInactive
    if there is none, InvalidInput for an unknown cart id.
    """
    if id is not None and await call.services.carts.get(partner_id, id) is None:
        raise InvalidInput(NO_CART)
    saved = None if once is None else await call.services.carts.find_saved(partner_id, once)
    if saved is None:
        raise PartnerInactive
    return saved


def _cart_idempotency(call: Call, *, created: bool) -> IdempotentSave | None:
    """How to store the whole response with the cart; None without an idempotency key."""
    once = call.idempotency
    if once is None:
        return None

    async def answer(cart: Cart) -> bytes:
        return await once.render(ecommerce_cart_of(cart, funnel_url_of(call, cart.id), created=created))

    return IdempotentSave(once.request_key.token_id, once.request_key.key, once.request_key.fingerprint, answer)


@operation(AccessRule.PARTNER, transaction=False)
async def ecommerce_cart(call: Call, id: UUID) -> EcommerceCart:
    """One of your carts that has not expired. Reading a cart does not extend its lifetime."""
    assert call.caller.partner_id is not None
    cart = await call.services.carts.get(call.caller.partner_id, id)
    if cart is None:
        raise CartNotFound
    return ecommerce_cart_of(cart, funnel_url_of(call, cart.id))


def funnel_url_of(call: Call, cart_id: UUID) -> str:
    """The checkout URL of a cart, on the partner's own domain."""
    scheme = call.services.settings.funnel_scheme
    return f"{scheme}://{call.caller.site_domain}/ecommerce/shop/customization/?cart={cart_id}"
