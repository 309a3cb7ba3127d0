"""A message of each kind, with everything that it can hold."""

import datetime as dt
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schema.account.change import AccountChange
from schema.checkout.brand import Brand
from schema.checkout.checkout import ShopKind
from schema.checkout.legal import LegalLink
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.invoice.invoice import InvoiceKind
from schema.legal.legal_document import LegalDocumentKind
from schema.mail import MailKind
from schema.order.order import OrderStatus
from schema.order.refund_request import RefundRequestKind
from schema.payment.dispute import DisputeState
from schema.validation.languages import LANGUAGES
from store.core.brand_colours import build_brand
from store.mail.attachments import HELD_KINDS
from store.mail.content import (
    BillingContent,
    CardUsageContent,
    DeductionContent,
    DeliveryContent,
    DisputeContent,
    FindingContent,
    FulfilmentContent,
    GiftContent,
    GiftItem,
    GiftRole,
    InvoiceContent,
    NetworkUsageContent,
    OnboardingContent,
    OrderContent,
    OrderLineContent,
    OrderRefundContent,
    PaymentRequestContent,
    PayoutMailContent,
    ReconciliationContent,
    RefundContent,
    RenewalContent,
    VatContent,
    VoucherUsageContent,
)
from store.mail.link_content import (
    AccountLinkContent,
    Content,
    EndpointContent,
    OrderLinkContent,
    RefundRequestContent,
    RequestLineContent,
)
from store.mail.render import MailLinks, RenderedMail, render_mail
from store.mail.subjects import TEST_MAIL
from tests.store.mail.account_examples import account_change, account_link

PUBLIC_URL = "https://api.shop.example"
ORDER_URL = "https://shop.example/orders/WyJ0b2tlbiJd.c2lnbmVk/"
ACCOUNT_URL = f"{PUBLIC_URL}/admin/reset-password/?token=WyI4Il0.c2lnbmVk"
TERMS_PATH = "/legal/1c7e8a3e-5ef2-4f0e-8a39-3f2f6bb1a6d4/"
PRIVACY_URL = "https://valserene.example/privacy/"
TRACKING_URL = "https://carrier.example/parcels/6A12345678901"
SHOP = build_brand(
    "Maison Valserène",
    "#6a4c9c",
    website="https://valserene.example/",
    email="bonjour@valserene.example",
    phone="+33 4 65 71 20 10",
    legal=(
        LegalLink(1, LegalDocumentKind.TERMS, Text(en=TERMS_PATH)),
        LegalLink(2, LegalDocumentKind.PRIVACY, Text(en=PRIVACY_URL)),
    ),
)


def everywhere(text: str) -> Text:
    """A text that says its language."""
    return Text(**{language: f"{text} ({language})" for language in LANGUAGES})


LINES = (
    OrderLineContent(
        name=everywhere("Candle"),
        details=(everywhere("Large"), everywhere("Ribbon: sage")),
        quantity=2,
        unit_price=Decimal("28.00"),
        total=Decimal("56.00"),
    ),
    OrderLineContent(
        name=everywhere("Bathrobe"), details=(), quantity=1, unit_price=Decimal("1084.00"), total=Decimal("1084.00")
    ),
)


def delivery(kind: DeliveryKind) -> DeliveryContent:
    """A delivery of a kind."""
    home = kind is DeliveryKind.HOME_DELIVERY
    return DeliveryContent(
        kind=kind,
        name=everywhere("Delivery mode"),
        description=everywhere("Within two days"),
        address=("Claire Dubois", "1 rue des Lilas", "75011 Paris") if home else (),
        country="FR" if home else "",
    )


def order(kind: DeliveryKind = DeliveryKind.HOME_DELIVERY, **changes: Any) -> OrderContent:
    """An order."""
    values: dict[str, Any] = {
        "number": 1042,
        "ordered_on": dt.datetime(2026, 8, 23, 22, 30, tzinfo=dt.UTC),
        "time_zone": "Europe/Paris",
        "currency": "EUR",
        "first_name": "Ada",
        "last_name": "Martin",
        "email": "ada@example.com",
        "phone": "+33 6 12 34 56 78",
        "message": "Bonne fête !\nÀ bientôt",
        "lines": LINES,
        "delivery": delivery(kind),
        "products_amount": Decimal("1140.00"),
        "coupons": (DeductionContent(code="WELCOME10", amount=Decimal("114.00")),),
        "delivery_amount": Decimal("6.90"),
        "total_amount": Decimal("1032.90"),
        "gift_cards": (DeductionContent(code="7K3P", amount=Decimal("50.00")),),
        "card_amount": Decimal("982.90"),
        "order_page": uuid.UUID(int=7),
        "billing": BillingContent(
            company_name="Analytical Engines",
            vat_id="BE0403019261",
            address=("2 quai du Lac", "1000 Bruxelles"),
            country="BE",
        ),
        "vat": (
            VatContent(rate=Decimal("5.50"), net=Decimal("20.00"), vat=Decimal("1.10")),
            VatContent(rate=Decimal("20.00"), net=Decimal("843.17"), vat=Decimal("168.63")),
        ),
        **changes,
    }
    return OrderContent(**values)


def refund_request(
    kind: RefundRequestKind = RefundRequestKind.WITHDRAWAL, *, reason: str = "", answer: str = "", **more: bool
) -> RefundRequestContent:
    """A request of a buyer about two candles."""
    line = LINES[0]
    return RefundRequestContent(
        number=1042,
        ordered_on=dt.datetime(2026, 8, 23, 22, 30, tzinfo=dt.UTC),
        time_zone="Europe/Paris",
        first_name="Ada",
        order_page=uuid.UUID(int=7),
        kind=kind,
        requested_on=dt.datetime(2026, 8, 30, 9, 5, tzinfo=dt.UTC),
        customer_name="Ada Martin",
        customer_email="ada@example.com",
        reason=reason,
        lines=(RequestLineContent(name=line.name, details=line.details, quantity=line.quantity),),
        includes_delivery=more.get("includes_delivery", False),
        answer=answer,
        is_approved=more.get("is_approved", False),
    )


def fulfilment(kind: DeliveryKind, *, is_refunded: bool = False, **tracking: str) -> FulfilmentContent:
    """An order that moves on."""
    return FulfilmentContent(
        number=1042,
        ordered_on=dt.datetime(2026, 8, 23, 22, 30, tzinfo=dt.UTC),
        time_zone="Europe/Paris",
        first_name="Ada",
        lines=LINES,
        delivery=delivery(kind),
        kind=ShopKind.PRODUCTS,
        is_refunded=is_refunded,
        order_page=uuid.UUID(int=7),
        **tracking,
    )


def gift(
    role: GiftRole = GiftRole.FOR_GIFTEE, *, value: str | None = None, count: int = 1, **changes: Any
) -> GiftContent:
    """Vouchers, or gift cards of a value."""
    item = GiftItem(
        id=1,
        name=Text() if value else everywhere("A night above the lake"),
        value=None if value is None else Decimal(value),
        currency="EUR" if value else "",
        to="Claire Dubois",
        sender="Ada Martin",
        message="Bonne fête !\nÀ bientôt",
        expires_on=dt.datetime(2027, 8, 23, 21, 59, 59, tzinfo=dt.UTC),
    )
    values: dict[str, Any] = {
        "role": role,
        "first_name": "Claire" if role is GiftRole.FOR_GIFTEE else "Ada",
        "giftee_email": "claire@example.com" if role is GiftRole.SENT_TO_GIFTEE else "",
        "time_zone": "Europe/Paris",
        "items": tuple(item.model_copy(update={"id": number}) for number in range(1, count + 1)),
        **changes,
    }
    return GiftContent(**values)


def dispute(state: DisputeState, **more: Any) -> DisputeContent:
    """A disputed payment of an order."""
    known: dict[str, Any] = {
        "dispute_id": "6d3f8a90-2b1c-4e5d-8f7a-9b0c1d2e3f40",
        "amount": "194.00",
        "lost": "0.00",
        "currency": "EUR",
        "reason": "The buyer does not recognise the payment.",
        "contest_until": dt.datetime(2027, 4, 14, 9, tzinfo=dt.UTC),
        "time_zone": "Europe/Paris",
        "order_number": 318,
        "order_status": OrderStatus.DISPUTED,
        "is_taken": True,
        "buyer": "Ada Martin",
        "paid_on": dt.datetime(2027, 3, 31, 9, tzinfo=dt.UTC),
    }
    return DisputeContent(**known | more, state=state)


USED = CardUsageContent(
    is_for_network=False,
    used_id=7,
    first_name="Claire",
    holder="",
    code_end="7K3P",
    partner="Auberge du Lac",
    partner_email="accueil@auberge.example",
    used_on=dt.datetime(2026, 11, 20, 11, tzinfo=dt.UTC),
    time_zone="Europe/Paris",
    amount=Decimal("40.00"),
    remaining=Decimal("110.00"),
    currency="EUR",
    expires_on=dt.datetime(2027, 8, 23, 21, 59, 59, tzinfo=dt.UTC),
    reservation_id="R-2041",
    comment="",
)
USED_FOR_NETWORK = USED.model_copy(
    update={"is_for_network": True, "first_name": "", "holder": "Claire Dubois", "comment": "Dîner\nTable 7 <b>"}
)
VOUCHER_USED = VoucherUsageContent(
    **USED.model_dump(exclude={"amount", "remaining", "currency"}),
    box=everywhere("Spa day for two"),
    offer=everywhere("A massage"),
    usages_left=2,
)
VOUCHER_USED_FOR_NETWORK = VOUCHER_USED.model_copy(
    update={"is_for_network": True, "first_name": "", "holder": "Claire Dubois", "comment": "Dîner\nTable 7 <b>"}
)
ASKED = PaymentRequestContent(
    first_name="Ada",
    amount=Decimal("250.00"),
    currency="EUR",
    description="Deposit for your stay\nfrom 3 to 7 May <2027>",
    reference="B-2041",
    url=f"{PUBLIC_URL}/pay/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4/",
    expires_on=dt.datetime(2026, 12, 7, 22, 59, 59, tzinfo=dt.UTC),
    time_zone="Europe/Paris",
)
PAYOUT = PayoutMailContent(
    payout_id=12,
    amount=Decimal("1240.50"),
    currency="EUR",
    first_day=dt.date(2026, 10, 1),
    last_day=dt.date(2026, 10, 31),
    partner="",
)
CONTENTS: Mapping[MailKind, Content] = {
    MailKind.ORDER_CONFIRMATION: order(),
    MailKind.NEW_ORDER: order(),
    MailKind.PAYMENT_REFUNDED: RefundContent(first_name="Ada", amount=Decimal("982.90"), currency="EUR", lines=LINES),
    MailKind.ORDER_REFUNDED: OrderRefundContent(
        first_name="Ada",
        order_number=1042,
        currency="EUR",
        card_amount=Decimal("36.90"),
        gift_card_amount=Decimal("20.40"),
        delivery_amount=Decimal("6.90"),
        lines=(LINES[0].model_copy(update={"unit_price": None, "total": Decimal("50.40")}),),
        is_withdrawn=True,
        message="Until next time",
    ),
    MailKind.REQUEST_RECEIPT: refund_request(reason="Too large\nand too late", includes_delivery=True),
    MailKind.NEW_REQUEST: refund_request(RefundRequestKind.REFUND),
    MailKind.REQUEST_DECLINED: refund_request(RefundRequestKind.REFUND, answer="It was used on 21 August."),
    MailKind.ORDER_LINK: OrderLinkContent(
        number=1042,
        ordered_on=dt.datetime(2026, 8, 23, 22, 30, tzinfo=dt.UTC),
        time_zone="Europe/Paris",
        first_name="Ada",
        order_page=uuid.UUID(int=7),
    ),
    MailKind.ORDER_READY: fulfilment(DeliveryKind.CLICK_AND_COLLECT),
    MailKind.ORDER_SENT: fulfilment(
        DeliveryKind.HOME_DELIVERY,
        carrier="Colissimo",
        tracking_number="6A12345678901",
        tracking_url=TRACKING_URL,
    ),
    MailKind.ORDER_CANCELLED: fulfilment(DeliveryKind.HOME_DELIVERY, is_refunded=True),
    MailKind.ONBOARDING_LINK: OnboardingContent(
        first_name="Ada",
        url=f"{PUBLIC_URL}/onboarding/WyI0YiJd.c2lnbmVk/",
        is_paid=False,
        platform="Market",
        platform_address="market.example",
    ),
    MailKind.IDENTITY_RENEWAL: RenewalContent(
        first_name="Ada",
        url=f"{PUBLIC_URL}/onboarding/WyI0YiJd.c2lnbmVk/",
        renew_by=dt.date(2027, 3, 31),
        platform="Market",
        platform_address="market.example",
    ),
    MailKind.PAYMENT_REQUEST: ASKED,
    MailKind.PAYMENT_REQUEST_REMINDER: ASKED,
    MailKind.VOUCHER: gift(count=2),
    MailKind.GIFT_CARD: gift(GiftRole.BOUGHT, value="150.00"),
    MailKind.NETWORK_GIFT_CARD: gift(GiftRole.BOUGHT, value="150.00"),
    MailKind.NETWORK_VOUCHER: gift(count=2),
    MailKind.NETWORK_GIFT_CARD_USED: USED,
    MailKind.NETWORK_VOUCHER_USED: VOUCHER_USED,
    MailKind.DISPUTE_OPENED: dispute(DisputeState.NEEDS_RESPONSE),
    MailKind.DISPUTE_ENDED: dispute(DisputeState.LOST, lost="194.00"),
    MailKind.INVOICE: InvoiceContent(
        invoice_id=uuid.UUID("2f7d1c7e-6f0e-4c55-9a59-6d6f3b1a2c11"),
        number="F-000042",
        kind=InvoiceKind.INVOICE,
        issuer="Réseau des Cimes SAS",
        reason="",
        total=Decimal("124.00"),
        currency="EUR",
        first_day=dt.date(2026, 10, 1),
        last_day=dt.date(2026, 10, 31),
    ),
    MailKind.PAYOUT_WAITING: PAYOUT.model_copy(update={"partner": "Gästehaus", "missing": Decimal("190.00")}),
    MailKind.PAYOUT_FAILED: PAYOUT.model_copy(update={"cause": "bank_account"}),
    MailKind.PAYOUT_PAID: PAYOUT,
    MailKind.RECONCILIATION: ReconciliationContent(
        count=3,
        first_day=dt.date(2026, 10, 1),
        last_day=dt.date(2026, 10, 11),
        findings=(
            FindingContent(
                id=7,
                subject="tr_m_01HX",
                reported=Decimal("40.00"),
                currency="EUR",
                detail="A transfer that nothing here tells of.",
            ),
            FindingContent(
                id=8,
                subject="FEES_EUR",
                reported=Decimal("1250.00"),
                recorded=Decimal("1245.00"),
                currency="EUR",
                detail="The wallet of fees.",
            ),
        ),
    ),
    MailKind.PASSWORD_RESET: account_link(8),
    MailKind.USER_INVITATION: account_link(9),
    MailKind.ACCOUNT_CHANGED: account_change(AccountChange.TOKEN_CREATED),
    MailKind.ENDPOINT_DISABLED: EndpointContent(url="https://shop.example/hooks", endpoint_id=12, days=3),
}
KINDS = (*CONTENTS, TEST_MAIL)


def example(
    kind: MailKind | str, language: str = "en", content: Content | None = None, brand: Brand = SHOP
) -> RenderedMail:
    """A message of a kind, rendered."""
    about = content or (CONTENTS[kind] if isinstance(kind, MailKind) else None)
    items = about.items if isinstance(about, GiftContent) else ()
    documents = {item.id: f"{PUBLIC_URL}/documents/vouchers/token-{item.id}.pdf" for item in items}
    held = (about.used_id,) if isinstance(about, NetworkUsageContent) and not about.is_for_network else documents
    pages = {id: f"{PUBLIC_URL}/network/token-{id}/" for id in held} if kind in HELD_KINDS else {}
    is_attached = bool(documents) or isinstance(about, InvoiceContent)
    is_for_buyer = getattr(about, "order_page", None) is not None and kind is not MailKind.NEW_ORDER
    passes = {id: {"Apple Wallet": url.replace(".pdf", ".pkpass")} for id, url in documents.items()}
    order, account = ORDER_URL if is_for_buyer else "", ACCOUNT_URL if isinstance(about, AccountLinkContent) else ""
    links = MailLinks(documents, pages, passes, is_attached=is_attached, order=order, account=account)
    return render_mail(kind, about, language, brand, PUBLIC_URL, links)
