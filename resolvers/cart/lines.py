"""Resolves cart lines to product and variant ids; a line names them by id, SKU or source id."""

from collections.abc import Iterable, Mapping, Sequence

from resolvers.core.operation import Call
from schema.cart.cart import CartItem
from schema.cart.input import CartItemInput
from schema.core.errors import InvalidInput, Problem
from schema.core.message_names import FieldName, TemplatedMessage
from store.product.names import ProductIdentifiers, find_by_identifiers
from store.product.products import IDENTIFIER_LABELS

AMBIGUOUS_PRODUCT = "A product and a variant have this {what}: also send the `{variant}`, or send only the `{product}`."


async def lines_of(call: Call, partner_id: int, items: Sequence[CartItemInput]) -> list[CartItem]:
    """The lines with product and variant ids. One query if any line uses a SKU or a source id, else none. Raises
    InvalidInput with all problems.
    """
    if not any(item.sku or item.source_id for item in items):
        return [_line(item, item.product_id, item.variant_id) for item in items]
    named = {name: {sent for item in items if (sent := getattr(item, name))} for name in IDENTIFIER_LABELS}
    known = await find_by_identifiers(call.services.db, partner_id, named["sku"], named["source_id"])
    by_name = {name: _group_by(name, known) for name in IDENTIFIER_LABELS}
    lines: list[CartItem] = []
    problems: list[Problem] = []
    for at, item in enumerate(items):
        match = _resolve_item(item, by_name)
        if isinstance(match, Problem):
            problems.append(Problem(("items", at, *match.path), match.code, match.message))
        else:
            lines.append(_line(item, match.product_id, match.variant_id))
    if problems:
        raise InvalidInput(*problems)
    return lines


def _group_by(name: str, known: Iterable[ProductIdentifiers]) -> Mapping[str, list[ProductIdentifiers]]:
    groups: dict[str, list[ProductIdentifiers]] = {}
    for one in known:
        groups.setdefault(getattr(one, name), []).append(one)
    return groups


def _resolve_item(
    item: CartItemInput, by_name: Mapping[str, Mapping[str, Sequence[ProductIdentifiers]]]
) -> ProductIdentifiers | Problem:
    """The product and variant of a line. All identifiers of the line must match the same product, and the same variant
    if they name one.
    """
    possible = [ProductIdentifiers(item.product_id or 0, item.variant_id, "", "")]
    for name, what in IDENTIFIER_LABELS.items():
        identifier = getattr(item, name)
        if not identifier:
            continue
        with_name = by_name[name].get(identifier, ())
        if not with_name:
            return Problem(
                (name,), "INVALID", TemplatedMessage("No product or variant of yours has this {what}.", what=what)
            )
        both = (_merge(one, other) for one in possible for other in with_name)
        possible = list(dict.fromkeys(named for named in both if named is not None))
        if not possible:
            return Problem(
                (name,),
                "INVALID",
                TemplatedMessage(
                    "This {what} does not belong to the product or variant that the line also names.", what=what
                ),
            )
        if len(possible) > 1 and name == _last_name_field(item):
            return Problem(
                (name,),
                "INVALID",
                TemplatedMessage(
                    AMBIGUOUS_PRODUCT, what=what, variant=FieldName("variant_id"), product=FieldName("product_id")
                ),
            )
    return possible[0]


def _last_name_field(item: CartItemInput) -> str:
    return next((name for name in reversed(IDENTIFIER_LABELS) if getattr(item, name)), "")


def _merge(one: ProductIdentifiers, other: ProductIdentifiers) -> ProductIdentifiers | None:
    """Merge two identifiers; None if they contradict each other."""
    if one.product_id and one.product_id != other.product_id:
        return None
    if one.variant_id is not None and other.variant_id is not None and one.variant_id != other.variant_id:
        return None
    return ProductIdentifiers(other.product_id, other.variant_id if one.variant_id is None else one.variant_id, "", "")


def _line(item: CartItemInput, product_id: int | None, variant_id: int | None) -> CartItem:
    assert product_id is not None  # or a name was sent
    return CartItem(product_id, item.quantity, variant_id, item.attribute_values)
