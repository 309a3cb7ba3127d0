"""The published schema, asked for everything it has: compiled, and alike with graphql-core."""

from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import orjson
import pytest
import pytest_asyncio
from graphql import GraphQLObjectType, get_named_type, is_leaf_type

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.lists.connection import Connection
from resolvers.payment.checkout import payment
from schema.account.user import UserRole
from schema.api_request import ApiTransport
from schema.checkout.checkout import ProductChoice
from schema.core.permission import GRANTABLE_PERMISSIONS
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.export import ExportFormat, ExportState
from schema.gift_card.gift_card import GiftCardStatus
from schema.graph.pages import PagePlan
from schema.graph.selection import is_published_by
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.invoice.invoice import InvoiceKind
from schema.legal.legal_document import LegalDocumentKind
from schema.network.box import OfferStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.order.refund_request import RefundRequestKind
from schema.payment.adjustment import PayoutAdjustmentStatus
from schema.payment.dispute import DisputeKind
from schema.payment.payment import RefundOrigin
from schema.reconciliation import ReconciliationFindingKind, ReconciliationRunState
from schema.root import schema
from schema.voucher.voucher import VoucherState
from store.account.users import UserRow
from store.audit.api_requests import ApiRequestRow
from store.bank_account import BankAccountRow
from store.catalogue.catalogue import EnvironmentRow, PriceRangeRow, PrototypeImageRow
from store.core.clock import clock
from store.database.db import Database
from store.export.exports import ExportRow
from store.gift_card.designs import GiftCardDesignRow
from store.gift_card.gift_cards import GiftCardRow
from store.invoice.invoices import InvoiceRow
from store.legal import LegalDocumentRow
from store.media.media import MediaRow
from store.network.boxes import BoxImageRow, BoxPartnerRow, BoxRow, OfferRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import copy_box, network_vouchers
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.order.refund_requests import RefundRequestLineRow, RefundRequestRow
from store.payment.disputes import DisputeRow
from store.payment.fees import FeeRuleRow
from store.payment.payments import RefundRow
from store.payment.requests import PaymentRequestRow
from store.payout.adjustments import PayoutAdjustmentRow
from store.payout.requests import PayoutRequestRow
from store.reconciliation.rows import ReconciliationFindingRow, ReconciliationRunRow
from store.voucher.issuing import NewVoucher, NewVoucherOption, issue_voucher
from store.voucher.vouchers import VoucherRow
from tests.fixtures.basket import experiences
from tests.fixtures.shop import Shop, shop_in
from tests.fixtures.webhook import Hooks
from tests.servers.databases import Databases

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAST = GraphQLServer(schema)
PLAIN = GraphQLServer(schema, compiled=False)
DEPTH = 5
MOST_WORDS = 1900
"""A document has a bounded number of them."""
PLAIN_LISTS = {"users"}
"""Lists with values that functions work out and that are no objects: graphql-core reads those."""
PLAIN_FIELDS = {("VoucherPrototype", "url")}
"""Such values of other types: graphql-core reads the documents that ask for them, see `test_a_value_that_functions_work_out`."""
WHOLE_ROWS = {"voucherOptions"}
"""Lists whose rows are read whole, since they keep lists of objects."""


def selection(kind: GraphQLObjectType, depth: int = DEPTH) -> str:
    """Every field of a type that takes no argument, and of the types below it."""
    fields = ["__typename"]
    for name, field in kind.fields.items():
        inner = get_named_type(field.type)
        if field.args or (kind.name, name) in PLAIN_FIELDS:
            continue
        if is_leaf_type(inner):
            fields.append(name)
        elif depth and isinstance(inner, GraphQLObjectType):
            fields.append(f"{name} {selection(inner, depth - 1)}")
    return "{ " + " ".join(fields) + " }"


def lists() -> Iterator[tuple[str, GraphQLObjectType]]:
    """The lists of the query, by name."""
    query = FAST.schema.query_type
    assert query is not None
    for name, field in query.fields.items():
        kind = get_named_type(field.type)
        if isinstance(kind, GraphQLObjectType) and is_published_by(kind, Connection):
            yield name, kind


def queries(name: str, kind: GraphQLObjectType) -> Iterator[str]:
    """A list with everything it has, the deepest first."""
    for depth in range(DEPTH, 0, -1):
        yield f"{{ {name}(first: 5) {selection(kind, depth)} }}"


async def answer(graph: GraphQLServer, shop: Shop, query: str) -> Any:
    context = Context(shop.services, Caller(Role.MASTER, GRANTABLE_PERMISSIONS))
    return orjson.loads(orjson.dumps((await graph.execute(GraphQLRequest(query), context)).body))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def full_shop(databases: Databases) -> AsyncIterator[Shop]:
    """A shop with something in every list, which the tests only read."""
    async with databases.one() as url:
        db = Database(url)
        async with shop_in(db) as shop:
            await sold(shop)
            yield shop
        await db.aclose()


async def sold(shop: Shop) -> None:
    """Something in every list: an order of two lines, with a coupon, covered by a gift card, told of."""
    hooks = Hooks.of(shop)
    await hooks.endpoint("https://shop.example/")
    candle, honey = await shop.product("12.50", stock=3), await shop.product("5.00")
    large = await shop.variant(candle, "15.00", 2)
    codes = ((await shop.coupon()).code, (await shop.gift_card("500.00")).code)
    choices = [ProductChoice(candle.id, 2, large.id), ProductChoice(honey.id, 1)]
    key, seen = await shop.ready(*choices, codes=codes, delivery=DeliveryKind.HOME_DELIVERY)
    await shop.start(key, seen)
    assert (await payment.payment_outcome(shop.context, key)).order_path
    await hooks.sort()
    await shop.add(UserRow(username="ada@shop.localhost", role=UserRole.PARTNER, partner_id=shop.partner.id))
    iban = "FR7630004000031234567890143"
    await shop.add(
        BankAccountRow(partner_id=shop.partner.id, account_id="user", iban=iban, iban_end="0143", holder="The Shop")
    )
    await experienced(shop)
    await networked(shop, await boxed(shop))
    await refunded(shop)
    book, today = await shop.one("SELECT min(id) FROM ledger_book"), clock.now().date()
    period: dict[str, Any] = {"first_day": today, "last_day": today}
    await shop.add(PayoutRequestRow(partner_id=shop.partner.id, book_id=book, payout_amount=Decimal("5.00"), **period))
    amounts: dict[str, Any] = {
        "net_amount": Decimal("5.00"),
        "vat_amount": Decimal("1.00"),
        "total_amount": Decimal("6.00"),
    }
    of: dict[str, Any] = {"partner_id": shop.partner.id, "marketplace_id": shop.partner.marketplace_id, "book_id": book}
    numbers: dict[str, Any] = {"number": "1", "sequence_number": 1, "invoicing_date": today}
    await adjusted(shop, book)
    await requested(shop)
    await reconciled(shop)
    await exported(shop)
    await refused(shop)
    terms: dict[str, Any] = {"content": Text(en="Terms"), "website": Text()}
    await shop.add(LegalDocumentRow(partner_id=shop.partner.id, kind=LegalDocumentKind.TERMS, **terms))
    await shop.add(InvoiceRow(kind=InvoiceKind.INVOICE, **of, **numbers, **period, **amounts))
    changed = await answer(
        FAST, shop, f"mutation {{ updateProduct(input: {{ id: {honey.id}, ranking: 2 }}) {{ product {{ id }} }} }}"
    )
    assert "errors" not in changed


async def exported(shop: Shop) -> None:
    """An export that its user has given up."""
    of: dict[str, Any] = {"user_id": await shop.one("SELECT min(id) FROM app_user"), "partner_id": shop.partner.id}
    asked: dict[str, Any] = {"list": "orders", "order_by": "NEWEST", "columns": [], "role": UserRole.PARTNER}
    await shop.add(ExportRow(format=ExportFormat.CSV, state=ExportState.CANCELLED, ended_on=clock.now(), **of, **asked))


async def refused(shop: Shop) -> None:
    """A request that was refused."""
    of: dict[str, Any] = {"partner_id": shop.partner.id, "marketplace_id": shop.partner.marketplace_id, "user_id": 1}
    told: dict[str, Any] = {
        "operations": ["order"],
        "error_codes": ["NOT_FOUND"],
        "messages": ["This order was not found."],
    }
    where: dict[str, Any] = {"transport": ApiTransport.GRAPHQL, "method": "POST", "path": "/graphql", "status": 200}
    await shop.add(
        ApiRequestRow(
            id=1, occurred_on=clock.now(), request_id="req", duration_ms=3, username="ada", **of, **told, **where
        )
    )


async def adjusted(shop: Shop, book_id: int) -> None:
    """An adjustment that a user has requested."""
    user_id = await shop.one("SELECT min(id) FROM app_user")
    of: dict[str, Any] = {"partner_id": shop.partner.id, "book_id": book_id, "requested_by_id": user_id}
    status = PayoutAdjustmentStatus.PENDING
    await shop.add(
        PayoutAdjustmentRow(
            **of, status=status, adjustment_amount=Decimal("5.00"), reason="A fair", requires_approval=True
        )
    )


async def requested(shop: Shop) -> None:
    """What the buyer of the order asks for."""
    order, line = await shop.one("SELECT max(id) FROM shop_order"), await shop.one("SELECT max(id) FROM order_product")
    who = {"customer_name": "Ada Martin", "customer_email": "ada@example.com"}
    of: dict[str, Any] = {"partner_id": shop.partner.id, "requested_on": clock.now(), "key": uuid4(), **who}
    request = await shop.add(RefundRequestRow(**of, order_id=order, kind=RefundRequestKind.REFUND))
    await shop.add(
        RefundRequestLineRow(
            partner_id=shop.partner.id, refund_request_id=request.id, order_product_id=line, quantity=1
        )
    )


async def reconciled(shop: Shop) -> None:
    """A reconciliation and a finding of the marketplace."""
    now = clock.now()
    await shop.add(ReconciliationRunRow(state=ReconciliationRunState.DONE, since=now, until=now, sent_at=now))
    seen: dict[str, Any] = {"first_seen_on": now, "last_seen_on": now, "marketplace_id": shop.partner.marketplace_id}
    await shop.add(
        ReconciliationFindingRow(
            kind=ReconciliationFindingKind.DIFFERS, subject="xfer", provider_amount=Decimal("5.00"), **seen
        )
    )


async def refunded(shop: Shop) -> None:
    """A fee rule, a payment request, and of the order's payment a refund and a dispute."""
    of: dict[str, Any] = {"partner_id": shop.partner.id, "currency": "EUR"}
    payment_id, price = await shop.one("SELECT id FROM payment"), Decimal("1.00")
    await shop.add(FeeRuleRow(marketplace_id=shop.partner.marketplace_id, percentage=price))
    await shop.add(PaymentRequestRow(**of, code="7K4P", request_amount=price, expires_on=clock.now()))
    await shop.add(RefundRow(**of, payment_id=payment_id, origin=RefundOrigin.STAFF, refund_amount=price))
    await shop.add(
        DisputeRow(
            **of, payment_id=payment_id, provider_id="dispute", kind=DisputeKind.CONTESTABLE, dispute_amount=price
        )
    )


async def networked(shop: Shop, box: BoxRow) -> None:
    """A gift card and a voucher of the network, each used at the shop."""
    at, now, price = shop.partner.marketplace_id, clock.now(), Decimal("10.00")
    of: dict[str, Any] = {"code": "", "normal_code": "", "created_on": now}
    card = GiftCardRow(network_id=at, **of, status=GiftCardStatus.PAID, value_amount=price, remaining_amount=price)
    voucher = NetworkVoucherRow(**of, status=NetworkVoucherStatus.PAID)
    copy_box(voucher, box)
    async with shop.services.db.sessions() as db, db.begin():
        await network_gift_cards.issue(db, card)
        await network_vouchers.issue(db, voucher)
    used: dict[str, Any] = {"partner_id": shop.partner.id, "used_on": now, "recorded_on": now, "value_amount": price}
    await shop.add(NetworkGiftCardUsageRow(gift_card_id=card.id, net_amount=price, **used))
    await shop.add(NetworkVoucherUsageRow(network_voucher_id=voucher.id, net_amount=price, **used))


async def boxed(shop: Shop) -> BoxRow:
    """A box with a picture, limited to the shop, and its accepted offer of an experience."""
    of: dict[str, Any] = {"marketplace_id": shop.partner.marketplace_id, "name": Text(en="Spa day")}
    await shop.execute("UPDATE partner SET linked_to_nv_settings = true")
    box = await shop.add(
        BoxRow(**of, short_description=Text(), long_description=Text(), price_amount=Decimal("120.00"))
    )
    picture = await shop.one("SELECT max(id) FROM media")
    await shop.add(BoxImageRow(box_id=box.id, position=1, is_cover=True, media_id=picture))
    await shop.add(BoxPartnerRow(box_id=box.id, partner_id=shop.partner.id))
    prototype = await shop.one("SELECT max(id) FROM voucher_prototype")
    await shop.add(
        OfferRow(
            **of,
            partner_id=shop.partner.id,
            box_id=box.id,
            product_id=prototype,
            description=Text(),
            terms_of_use=Text(),
            status=OfferStatus.ACCEPTED,
            edited_on=clock.now(),
        )
    )
    return box


async def experienced(shop: Shop) -> None:
    """Experiences with a picture, and a voucher of one."""
    sold, marketplace = await experiences(shop), shop.partner.marketplace_id
    picture = await shop.add(
        MediaRow(
            partner_id=shop.partner.id, name="Oil", digest="0", content_type="image/webp", size=1, width=1, height=1
        )
    )
    await shop.add(
        PrototypeImageRow(
            partner_id=shop.partner.id, voucher_prototype_id=sold.massage.id, position=1, media_id=picture.id
        )
    )
    await shop.add(EnvironmentRow(marketplace_id=marketplace, name=Text(en="The sea")))
    texts: dict[str, Any] = {name: Text(en="A birthday") for name in ("name", "short_description", "description")}
    await shop.add(GiftCardDesignRow(marketplace_id=marketplace, **texts))
    await shop.add(PriceRangeRow(marketplace_id=marketplace, name=Text(en="From 50"), minimum_amount=Decimal(50)))
    price, oil = Decimal("90.00"), NewVoucherOption(sold.rose.id, 1, Decimal("5.00"))
    row = VoucherRow(
        partner_id=shop.partner.id,
        voucher_prototype_id=sold.massage.id,
        code="",
        normal_code="",
        state=VoucherState.PAID,
        rent_price_amount=price,
        bought_rent_price_amount=price,
        total_price_amount=price + oil.unit_price,
        purchase_price_amount=price + oil.unit_price,
    )
    async with shop.services.db.sessions() as db, db.begin():
        await issue_voucher(db, NewVoucher(row, [oil]), clock.now())


async def test_a_value_that_functions_work_out(full_shop: Shop) -> None:
    query = "{ voucherPrototypes(first: 5) { nodes { id slug url } } }"
    fast = await answer(FAST, full_shop, query)
    shown = fast["data"]["voucherPrototypes"]["nodes"]
    assert shown
    assert all(each["url"].endswith(f"/vouchers/{each['slug']}/") for each in shown)
    assert fast == await answer(PLAIN, full_shop, query)


@pytest.mark.parametrize(("name", "kind"), list(lists()), ids=lambda value: value if isinstance(value, str) else "")
async def test_every_list_is_read_by_its_columns(full_shop: Shop, name: str, kind: GraphQLObjectType) -> None:
    query = next(text for text in queries(name, kind) if len(text.split()) < MOST_WORDS)
    fast = await answer(FAST, full_shop, query)
    assert "errors" not in fast
    assert fast["data"][name]["nodes"]
    assert fast == await answer(PLAIN, full_shop, query)
    plans = [plan for _, plan in FAST.documents.get(query).plans.values() if isinstance(plan, PagePlan)]
    assert len(plans) == (name not in PLAIN_LISTS)
    for plan in plans:
        assert plan.rows is not None
        assert (plan.rows.rows is None) == (name in WHOLE_ROWS), plan.rows.reasons
