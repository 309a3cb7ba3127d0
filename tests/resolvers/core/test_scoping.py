"""What another tenant owns does not exist: in no list, by no look-up, for no change."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from sqlmodel import select
from strawberry.utils.str_converters import to_camel_case, to_snake_case

import resolvers
from resolvers import coupon, delivery, product
from resolvers.catalogue import option_categories, options
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.lists.listing import Listing, Lookup, PageArguments
from resolvers.core.scoping import find_visible, visible_conditions
from resolvers.order import orders as order
from schema.core.errors import NotFound, Unauthenticated
from schema.core.permission import GRANTABLE_PERMISSIONS, AccessRule, Permission
from schema.delivery.delivery import DeliveryKind
from store.account.users import TokenRow, UserRow
from store.coupon.coupons import CouponRow
from store.gift_card.gift_cards import GiftCardRow
from store.order.orders import OrderRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.product.products import AttributeValueRow, ProductRow
from tests.changes import Transport
from tests.fixtures.tenants import EVERYBODY, PARTNERS, Tenants
from tests.selections import selection_of

SEES = {
    "a1": {"a1"},
    "a2": {"a2"},
    "b1": {"b1"},
    "market a": {"a1", "a2"},
    "market b": {"b1"},
    "master": {"a1", "a2", "b1"},
}
"""Whose data each user sees."""
OWNED_BY = {
    "partner": "partner",
    "product": "product",
    "delivery_mode": "delivery_mode",
    "coupon": "coupon",
    "shop_order": "order",
    "event": "event",
    "webhook_endpoint": "webhook_endpoint",
    "webhook_delivery": "webhook_delivery",
    "voucher_option": "voucher_option",
    "voucher_option_category": "voucher_option_category",
}
"""Which of the rows that each partner has belongs to a table."""
ELSEWHERE = {
    "api_request": "test_api_requests.py",
    "app_user": "test_users.py",
    "audit_entry": "test_audit_entries.py",
    "bank_account": "test_bank_accounts.py",
    "box": "network/test_boxes.py",
    "customer": "order/test_customers.py",
    "dispute": "payment/disputes/test_answering.py",
    "environment": "test_catalogue.py",
    "export": "export/test_exports.py",
    "fee_rule": "payment/test_fees.py",
    "gift_card_design": "network/test_designs.py",
    "gift_card": "behaviours/test_gift_cards.py",
    "invoice": "invoice/test_invoices.py",
    "job": "test_jobs.py",
    "ledger_journal": "test_ledger.py",
    "legal_document": "test_legal.py",
    "mail": "test_mails.py",
    "marketplace": "test_marketplaces.py",
    "media": "behaviours/test_media.py",
    "network_gift_card": "network/test_gift_cards.py",
    "network_gift_card_usage": "network/test_gift_cards.py",
    "network_voucher": "network/test_vouchers.py",
    "network_voucher_usage": "network/test_vouchers.py",
    "offer": "network/test_offers.py",
    "payment": "behaviours/payment/test_payments.py",
    "payment_request": "behaviours/payment/test_payment_requests.py",
    "payout_adjustment": "payment/payouts/test_adjustments.py",
    "payout_request": "payment/payouts/test_payouts.py",
    "price_range": "test_catalogue.py",
    "reconciliation_finding": "payment/reconciliation/test_lists.py",
    "reconciliation_run": "payment/reconciliation/test_lists.py",
    "refund": "payment/test_lists.py",
    "refund_request": "payment/refunds/test_request_answers.py",
    "transfer": "behaviours/payment/test_payments.py",
    "universe": "test_catalogue.py",
    "voucher": "behaviours/voucher/test_vouchers.py",
    "voucher_prototype": "behaviours/catalogue/test_voucher_prototypes.py",
}
"""Tables of which not every partner has a row, and where it is tested who sees what of them."""
WRITES: dict[Any, tuple[str, dict[str, Any]]] = {
    product.update_product: ("product", {"ranking": 7}),
    product.update_product_variant: ("variant", {"ranking": 7}),
    product.update_product_attribute: ("attribute", {"ranking": 7}),
    product.delete_product_attribute: ("attribute", {}),
    delivery.update_delivery_mode: ("delivery_mode", {"ranking": 7}),
    coupon.update_coupon: ("coupon", {"is_active": False}),
    options.update_voucher_option: ("voucher_option", {"ranking": 7}),
    option_categories.update_voucher_option_category: ("voucher_option_category", {"ranking": 7}),
}


def declared(kind: type) -> Iterator[Any]:
    """All lists or look-ups that any module of operations declares."""
    found: dict[int, Any] = {}
    for module in pkgutil.walk_packages(resolvers.__path__, "resolvers."):
        of = importlib.import_module(module.name)
        found |= {
            id(value): (f"{module.name}.{name}", value) for name, value in vars(of).items() if type(value) is kind
        }
    yield from found.values()


async def test_every_list_holds_what_its_caller_may_see_and_nothing_else(tenants: Tenants) -> None:
    lists = {listing.table.__tablename__: listing for _, listing in declared(Listing)}
    assert set(lists) == {*OWNED_BY, *ELSEWHERE}
    for table, owned in OWNED_BY.items():
        listing = lists[table]
        for _ in range(2):  # the second time each statement is kept, and must still ask for the caller's own
            for who in EVERYBODY:
                found = await listing(await tenants.context(who), PageArguments())
                expected = {getattr(tenants.owned[partner], owned) for partner in SEES[who]}
                assert {row.id for row in await found.rows.objects()} == expected, (who, owned)
                assert await found.rows.count() == len(expected)


async def test_every_look_up_finds_what_its_caller_may_see_and_nothing_else(tenants: Tenants) -> None:
    for name, lookup in declared(Lookup):
        if lookup.table.__tablename__ in {*ELSEWHERE, "wallet"}:  # wallets: behaviours/payment/test_payments.py
            continue
        owned = OWNED_BY[lookup.table.__tablename__] + ("_uuid" if lookup.by == "uuid" else "")
        for who in EVERYBODY:
            for partner in PARTNERS:
                value = getattr(tenants.owned[partner], owned)
                if lookup.by == "key":
                    table = lookup.table.__tablename__
                    value = await tenants.one(f"SELECT key FROM {table} WHERE id = {value}")  # noqa: S608
                context = await tenants.context(who)
                found = await lookup(context, value)
                if partner in SEES[who]:
                    assert getattr(await found.object(), lookup.by) == value, name
                    row, _ = await found.fetch(selection_of(lookup.by), context.loaders.load)
                    assert row[2] == value, name
                else:
                    with pytest.raises(NotFound):
                        await found.object()
                    with pytest.raises(NotFound):
                        await found.fetch(selection_of("id"), context.loaders.load)


@pytest.mark.parametrize(
    ("operation", "owned"),
    [
        (product.product, "product"),
        (delivery.delivery_mode, "delivery_mode"),
        (coupon.coupon, "coupon"),
        (options.voucher_option, "voucher_option"),
        (option_categories.voucher_option_category, "voucher_option_category"),
        (order.order, "order"),
        (order.order_with_uuid, "order_uuid"),
    ],
)
async def test_a_row_of_another_tenant_is_none_over_graphql(tenants: Tenants, operation: Any, owned: str) -> None:
    name = "order" if owned == "order_uuid" else to_camel_case(owned)
    argument, kind = ("uuid", "UUID!") if owned == "order_uuid" else ("id", "Int!")
    query = f"query($value: {kind}) {{ found: {name}({argument}: $value) {{ id }} }}"
    for who in EVERYBODY:
        for partner in PARTNERS:
            body = await tenants.graphql(who, query, value=getattr(tenants.owned[partner], owned))
            assert "errors" not in body
            assert (body["data"]["found"] is not None) is (partner in SEES[who]), (who, partner)


@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.name)
async def test_a_row_of_another_tenant_cannot_be_changed(tenants: Tenants, ask: Transport, operation: Any) -> None:
    owned, change = WRITES[operation]
    before = await tenants.snapshot()
    for who in EVERYBODY:
        for partner in PARTNERS.keys() - SEES[who]:
            row = getattr(tenants.owned[partner], owned)
            outcome = await ask.change(who, operation, id=row, **change)
            assert outcome.wrong == {("", "NOT_FOUND")}, (who, partner)
            unknown = await ask.change(who, operation, id=999_999, **change)
            assert unknown == outcome, "a foreign row and an unknown one get the same answer"
    assert await tenants.snapshot() == before
    for who in EVERYBODY:
        if operation is not product.delete_product_attribute:
            for partner in SEES[who]:
                assert (await ask.change(who, operation, id=getattr(tenants.owned[partner], owned), **change)).done


@pytest.mark.parametrize(
    "operation", [o for o in WRITES if o is not product.delete_product_attribute], ids=lambda o: o.name
)
async def test_a_row_that_is_not_there_is_told_before_wrong_fields(
    tenants: Tenants, ask: Transport, operation: Any
) -> None:
    owned, _ = WRITES[operation]
    wrong = {"is_active": None} if operation is coupon.update_coupon else {"ranking": -1}
    before = await tenants.snapshot()
    for id in (getattr(tenants.owned["b1"], owned), 999_999, 0, -1, 2**31 - 1):
        assert (await ask.change("a1", operation, id=id, **wrong)).wrong == {("", "NOT_FOUND")}
    told = await ask.change("a1", operation, id=getattr(tenants.owned["a1"], owned), **wrong)
    assert {field for field, _ in told.wrong} == set(wrong)
    assert await tenants.snapshot() == before


@pytest.mark.parametrize(
    ("operation", "values"),
    [
        (product.create_product, {"name": {"en": "New"}, "price": "1.00"}),
        (delivery.create_delivery_mode, {"name": {"en": "New"}, "kind": DeliveryKind.DIGITAL}),
        (coupon.create_coupon, {"code": "NEW-ONE", "discount": {"amount": "1.00"}}),
        (options.create_voucher_option, {"name": {"en": "New"}, "selling_price": "1.00"}),
        (option_categories.create_voucher_option_category, {"name": {"en": "New"}}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_whom_something_is_made_for(
    tenants: Tenants, ask: Transport, operation: Any, values: dict[str, Any]
) -> None:
    before = await tenants.snapshot()
    for who in EVERYBODY:
        for partner, row in tenants.partners.items():
            if partner not in SEES[who]:
                outcome = await ask.change(who, operation, partner_uuid=str(row.uuid), **values)
                assert outcome.wrong == {("partner_uuid", "INVALID")}
        if who not in PARTNERS:
            assert (await ask.change(who, operation, **values)).wrong == {("partner_uuid", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", operation, **values)).done
    assert (await ask.change("market a", operation, partner_uuid=str(tenants.partners["a2"].uuid), **values)).done
    made = operation.function.__annotations__["return"].__name__
    table = to_snake_case(made)
    owners = [row[0] for row in await tenants.rows(f"SELECT partner_id FROM {table} ORDER BY id DESC LIMIT 2")]  # noqa: S608
    assert owners == [tenants.partners["a2"].id, tenants.partners["a1"].id]


@pytest.mark.parametrize(
    "operation", [product.create_product_variant, product.create_product_attribute], ids=lambda o: o.name
)
async def test_nothing_is_added_to_a_product_of_another_tenant(
    tenants: Tenants, ask: Transport, operation: Any
) -> None:
    more = {"price": "1.00"} if operation is product.create_product_variant else {"values": [{"value": "red"}]}
    before = await tenants.snapshot()
    for product_id in (tenants.owned["b1"].product, tenants.owned["a2"].product, 999_999):
        outcome = await ask.change("a1", operation, product_id=product_id, name={"en": "New"}, **more)
        assert outcome.wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before
    assert (
        await ask.change("market a", operation, product_id=tenants.owned["a2"].product, name={"en": "New"}, **more)
    ).done


# ---- who may do what at all

CHANGES = [
    *WRITES,
    product.create_product,
    delivery.create_delivery_mode,
    coupon.create_coupon,
    options.create_voucher_option,
    option_categories.create_voucher_option_category,
]


@pytest.mark.parametrize("operation", CHANGES, ids=lambda operation: operation.name)
async def test_a_permission_is_asked_for_before_anything_else(tenants: Tenants, ask: Transport, operation: Any) -> None:
    reader = {"partner_id": tenants.partners["a1"].id}
    await tenants.user("reader", "partner", [Permission.VIEW_CATALOGUE, Permission.VIEW_ORDER], **reader)
    before = await tenants.snapshot()
    wrong: dict[Any, dict[str, Any]] = {
        product.create_product: {"name": {}, "price": "-1"},
        delivery.create_delivery_mode: {"name": {}, "kind": DeliveryKind.DIGITAL, "ranking": -1},
        coupon.create_coupon: {"code": "x", "discount": {"amount": "-1"}},
        options.create_voucher_option: {"name": {}, "selling_price": "-1"},
        option_categories.create_voucher_option_category: {"name": {}, "ranking": -1},
    }
    required = wrong.get(operation, {"id": 999_999})
    assert (await ask.change("reader", operation, **required)).wrong == {("", "FORBIDDEN")}
    assert (await ask.change(None, operation, **required)).wrong == {("", "UNAUTHENTICATED")}
    assert await tenants.snapshot() == before


async def test_lists_and_look_ups_ask_for_their_permission(tenants: Tenants) -> None:
    await tenants.user("nobody", "partner", [], partner_id=tenants.partners["a1"].id)
    context = await tenants.context("nobody")
    reads = [
        *((listing, (PageArguments(),)) for _, listing in declared(Listing)),
        *((lookup, (1,)) for _, lookup in declared(Lookup)),
        *((operation, (1,)) for operation in (product.product, delivery.delivery_mode, coupon.coupon)),
    ]
    assert len(reads) >= 9
    own = {read.permission is AccessRule.AUTHENTICATED for read, _ in reads if read.permission in AccessRule}
    assert own == {True}, "exports are one's own"
    for read, arguments in reads:
        if read.permission is AccessRule.AUTHENTICATED:
            continue
        assert read.permission in GRANTABLE_PERMISSIONS
        with pytest.raises(Exception, match=r"This needs the permission permissions\."):
            await read(context, *arguments)
        with pytest.raises(Unauthenticated):
            await read(Context(tenants.services, None), *arguments)


# ---- the tests of a row themselves


async def visible_ids(tenants: Tenants, caller: Caller, row: Any) -> set[Any]:
    async with tenants.services.db.sessions() as db:
        return {found.id for found in (await db.exec(select(row).where(*visible_conditions(caller, row)))).all()}


async def test_partners_and_marketplaces_own_themselves(tenants: Tenants) -> None:
    ids = {name: row.id for name, row in tenants.partners.items()}
    markets = {name: row.id for name, row in tenants.marketplaces.items()}
    for who in EVERYBODY:
        caller = (await tenants.context(who)).required_caller
        assert await visible_ids(tenants, caller, PartnerRow) == {ids[name] for name in SEES[who]}
        assert await visible_ids(tenants, caller, MarketplaceRow) == {markets[PARTNERS[name]] for name in SEES[who]}


async def test_what_has_no_owner_is_seen_by_masters_only(tenants: Tenants) -> None:
    for who in EVERYBODY:
        caller = (await tenants.context(who)).required_caller
        assert bool(await visible_ids(tenants, caller, TokenRow)) is (who == "master")


@pytest.mark.parametrize("role", [Role.PARTNER, Role.MARKETPLACE, Role.CUSTOMER])
@pytest.mark.parametrize("row", [ProductRow, OrderRow, CouponRow, GiftCardRow, PartnerRow, MarketplaceRow, UserRow])
async def test_a_caller_of_nobody_sees_nothing(tenants: Tenants, role: Role, row: Any) -> None:
    assert await visible_ids(tenants, Caller(role, GRANTABLE_PERMISSIONS), row) == set()


async def test_finding_a_row_says_nothing_of_those_of_others(tenants: Tenants) -> None:
    caller = (await tenants.context("a1")).required_caller
    mine, others = tenants.owned["a1"].value, tenants.owned["b1"].value
    async with tenants.services.db.sessions() as db:
        assert (await find_visible(db, caller, AttributeValueRow, "value", id=mine)).id == mine
        for lock in (False, True):
            with pytest.raises(NotFound, match="No such value"):
                await find_visible(db, caller, AttributeValueRow, "value", lock=lock, id=others)
