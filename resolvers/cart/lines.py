"""What the lines of a cart name: by ids, or by the names that the shop itself gave its products."""

from collections.abc import Iterable, Mapping, Sequence

from resolvers.core.operation import Call
from schema.cart.cart import CartItem
from schema.cart.input import CartItemInput
from schema.core.errors import InvalidInput, Problem
from schema.core.message_names import Key, Words
from store.product.names import Named, named_products
from store.product.products import NAMES

SEVERAL = "A product and a variant have this {what}: send the `{variant}` besides, or only the `{product}`."


async def lines_of(call: Call, partner_id: int, items: Sequence[CartItemInput]) -> list[CartItem]:
    """The lines, each with the ids of what it names; one statement where any names something else than ids."""
    if not any(item.sku or item.source_id for item in items):
        return [_line(item, item.product_id, item.variant_id) for item in items]
    named = {name: {sent for item in items if (sent := getattr(item, name))} for name in NAMES}
    known = await named_products(call.services.db, partner_id, named["sku"], named["source_id"])
    by_name = {name: _by(name, known) for name in NAMES}
    lines: list[CartItem] = []
    problems: list[Problem] = []
    for at, item in enumerate(items):
        found = _found(item, by_name)
        if isinstance(found, Problem):
            problems.append(Problem(("items", at, *found.path), found.code, found.message))
        else:
            lines.append(_line(item, found.product_id, found.variant_id))
    if problems:
        raise InvalidInput(*problems)
    return lines


def _by(name: str, known: Iterable[Named]) -> Mapping[str, list[Named]]:
    found: dict[str, list[Named]] = {}
    for one in known:
        found.setdefault(getattr(one, name), []).append(one)
    return found


def _found(item: CartItemInput, by_name: Mapping[str, Mapping[str, Sequence[Named]]]) -> Named | Problem:
    """What a line names. All that it says must be about one product, and about one variant of it where it says one."""
    possible = [Named(item.product_id or 0, item.variant_id, "", "")]
    for name, what in NAMES.items():
        sent = getattr(item, name)
        if not sent:
            continue
        with_name = by_name[name].get(sent, ())
        if not with_name:
            return Problem((name,), "INVALID", f"No product or variant of yours has this {what}.")
        both = (_both(one, other) for one in possible for other in with_name)
        possible = list(dict.fromkeys(named for named in both if named is not None))
        if not possible:
            return Problem(
                (name,), "INVALID", f"This {what} is that of something else than what the line names besides."
            )
        if len(possible) > 1 and name == _last(item):
            return Problem(
                (name,), "INVALID", Words(SEVERAL, what=what, variant=Key("variant_id"), product=Key("product_id"))
            )
    return possible[0]


def _last(item: CartItemInput) -> str:
    return next((name for name in reversed(NAMES) if getattr(item, name)), "")


def _both(one: Named, other: Named) -> Named | None:
    """What is both, as far as each says; None where they differ."""
    if one.product_id and one.product_id != other.product_id:
        return None
    if one.variant_id is not None and other.variant_id is not None and one.variant_id != other.variant_id:
        return None
    return Named(other.product_id, other.variant_id if one.variant_id is None else one.variant_id, "", "")


def _line(item: CartItemInput, product_id: int | None, variant_id: int | None) -> CartItem:
    assert product_id is not None  # or a name was sent
    return CartItem(product_id, item.quantity, variant_id, item.attribute_values)
