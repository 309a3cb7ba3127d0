"""Makes the payments of the demo data, as staff, customers, their banks and the payment provider would."""

import datetime as dt
import io
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import func, text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.datastructures import UploadFile
from starlette.types import ASGIApp

from coffret.demo.content import PARTNERS
from coffret.demo.invoices import add_invoices
from coffret.demo.orders.content import DemoOrder
from coffret.demo.orders.seeder import OrderSeeder
from coffret.demo.payment_content import (
    DemoAdjustment,
    DemoFeeRule,
    DemoPayment,
    DemoPaymentEnd,
    DemoPayments,
    DemoRefund,
    DemoRequest,
    DemoRequestEnd,
    load_payments,
)
from coffret.demo.payouts import PayoutSeeder, unlogged
from coffret.demo.reconciliation import add_findings
from coffret.demo.seed import DemoData, demo_partners, seed
from coffret.demo.users import MARKETPLACE_USER, PARTNER_USERS
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.job.expiry import expire_payment_requests, remind_customers
from resolvers.payment.creation import LIFETIME, cancel_payment, create_payment
from resolvers.payment.disputes.disputes import accept_dispute, contest_dispute
from resolvers.payment.disputes.documents import push_dispute_document
from resolvers.payment.disputes.following import check_dispute, handle_dispute_notification
from resolvers.payment.fees import create_fee_rule
from resolvers.payment.page.page import pay_by_link, return_to_payment_page
from resolvers.payment.page.process import end_payment
from resolvers.payment.refunds.refunds import refund_payment
from resolvers.payment.refunds.sending import PAUSES, send_refund
from resolvers.payment.requests.payment_requests import cancel_payment_request, create_payment_request
from schema.core.permission import GRANTABLE_PERMISSIONS
from schema.payment.dispute import AcceptDispute, ContestDispute, DisputeDocumentKind, DisputeState, PushDisputeDocument
from schema.payment.fee_input import CreateFeeRule
from schema.payment.input import CancelPayment, CreatePayment, RefundPayment
from schema.payment.payment import PaymentSourceKind, PaymentType, RefundState
from schema.payment.request_input import CancelPaymentRequest, CreatePaymentRequest
from store.account.users import UserRow
from store.gift_card.gift_cards import GiftCardRow
from store.job.jobs import JobKind, discard_job
from store.job.rows import JobRow
from store.ledger.wallets import WalletRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.disputes import DisputeRow, find_dispute_row
from store.payment.payments import PaymentRow, PaymentTransactionRow
from store.payment.requests import PaymentRequestRow

GOOD_CARD, DECLINED_CARD, DISPUTABLE_CARD = "4970107111111119", "4970109000000106", "4970109000001500"
REFUSALS = {
    RefundState.PENDING: ("005407", 1),
    RefundState.FAILED: ("001403", 1),
    RefundState.NEEDS_ACTION: ("001001", 1 + len(PAUSES)),
}
"""The provider's code, and how often it refuses a refund: the same amount was refunded that day; the bank card was charged
too long ago; the wallet has too little money."""
LOCK = 0x70617964  # an arbitrary number, another one than that of `seed`, which is called under it
DAY = dt.timedelta(days=1)
TO_DISPUTE, TO_ANSWER, TO_DECIDE = 2 * DAY, 4 * DAY, 12 * DAY
"""How long after a payment it is disputed, the dispute is answered, and decided."""
REQUEST_DAYS = 15 * DAY
"""After that a payment request has expired in any time zone."""


async def load_demo(services: Services, sandbox: ASGIApp) -> DemoData | None:
    """Create the demo data with payments in an empty database. Otherwise like `seed`, also in what it raises.

    Safe to call concurrently. The clock of this process is set back meanwhile: nothing else may run in it.
    """
    async with services.db.sessions() as session, session.begin():
        await (await session.connection()).execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        is_new = (await session.exec(select(func.count()).select_from(MarketplaceRow))).one() == 0
        found = await seed(services.db, services.settings, services.clock, sandbox)
        if found is not None and is_new:
            await _add_payments(services, sandbox)
    return found


async def _add_payments(services: Services, sandbox: ASGIApp) -> None:
    content, transport = load_payments(PARTNERS[0]), httpx.ASGITransport(sandbox)
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox/_sb") as control:
        async with services.db.sessions() as session:
            seeder = await _open_seeder(session, services, control, content)
        await seeder.run()
    await add_invoices(services, seeder.marketplace)
    await add_findings(services)


async def _open_seeder(
    db: AsyncSession, services: Services, control: httpx.AsyncClient, content: DemoPayments
) -> "PaymentSeeder":
    partner = (await demo_partners(db))[0]
    names = (PARTNER_USERS[0], MARKETPLACE_USER)
    users = {user.username: user for user in await db.exec(select(UserRow).where(col(UserRow.username).in_(names)))}
    staff, marketplace = (users[name].id for name in names)
    wallet = select(WalletRow.uuid).join(GiftCardRow, col(GiftCardRow.wallet_id) == col(WalletRow.id))
    of_value = col(GiftCardRow.partner_id) == partner.id, col(GiftCardRow.value_amount) == content.gift_card
    at = partner.marketplace_id
    manager = Context(services, Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, marketplace, None, None, at))
    clerk = Context(services, Caller(Role.PARTNER, GRANTABLE_PERMISSIONS, staff, None, partner.id, at))
    customer = Context(services, Caller.customer(partner.id, at))
    payouts = PayoutSeeder(
        services=services, control=control, partner=partner, marketplace=manager, payee=content.payee
    )
    return PaymentSeeder(
        services=services,
        control=control,
        partner=partner,
        content=content,
        gift_card_wallet=(await db.exec(wallet.where(*of_value))).one(),
        staff=clerk,
        marketplace=manager,
        customer=customer,
        payouts=payouts,
        orders=OrderSeeder(
            services=services,
            control=control,
            partner=partner,
            customers=content.customers,
            customer=customer,
            staff=clerk,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentSeeder:
    """Makes the payments of one partner."""

    services: Services
    control: httpx.AsyncClient
    """The control plane of the sandbox."""
    partner: PartnerRow
    content: DemoPayments
    gift_card_wallet: UUID
    staff: Context
    marketplace: Context
    customer: Context
    payouts: PayoutSeeder
    orders: OrderSeeder

    async def run(self) -> None:
        """Make all of them, the oldest first."""
        stories = self.content.stories
        await self.payouts.prepare()
        await self.payouts.require_approval(self.content.approval_from)
        with self.services.clock.set_back(DAY * (stories[0].days_ago + 1)):
            for rule in self.content.fee_rules:
                await self._add_fee_rule(rule)
            await self._refill(await self.payouts.earned_in_network())
        for story in stories:
            if isinstance(story, DemoPayment):
                await self._add_payment(story)
            elif isinstance(story, DemoRequest):
                await self._add_request(story)
            elif isinstance(story, DemoOrder):
                await self.orders.add(story)
            elif isinstance(story, DemoAdjustment):
                await self.payouts.adjust(story)
            else:
                await self.payouts.add(story)
        await self._discard_refund_jobs()
        await self.payouts.discard_jobs()

    async def _refill(self, amount: Decimal) -> None:
        """Fill the marketplace's own wallet, out of which what partners earn in the network is paid."""
        who = next(iter(self.content.customers.values()))
        input = {
            "partner_uuid": self.partner.uuid,
            "customer": {"first_name": who.first_name, "last_name": who.last_name, "email": who.email},
            "amount": amount.quantize(Decimal(100), ROUND_UP),
            "language": who.language,
            "invoicing_marketplace_id": self.partner.marketplace_id,
        }
        request = await create_payment_request(self.marketplace, CreatePaymentRequest.model_validate(input))
        assert isinstance(request, PaymentRequestRow)
        await self._pay(request.link_token, GOOD_CARD)

    async def _add_fee_rule(self, rule: DemoFeeRule) -> None:
        partner_uuid = self.partner.uuid if rule.is_of_partner else None
        columns = {name: getattr(rule, name) for name in ("percentage", "fixed", "vat_rate", "product")}
        await create_fee_rule(self.marketplace, CreateFeeRule(partner_uuid=partner_uuid, **columns))

    def _input(self, story: DemoPayment | DemoRequest) -> dict[str, Any]:
        """The input that payments and payment requests share."""
        who = self.content.customers[story.customer]
        return {
            "partner_uuid": self.partner.uuid,
            "customer": {"first_name": who.first_name, "last_name": who.last_name, "email": who.email},
            "amount": story.amount,
            "product": story.product,
            "description": story.description,
            "language": who.language,
        }

    async def _add_payment(self, story: DemoPayment) -> None:
        made, clock = DAY * story.days_ago, self.services.clock
        with clock.set_back(made):
            payment = await self._create_payment(story)
            await self._end(story, payment)
        if story.refund is not None:
            await self._refund(payment, story.refund)
        if story.dispute is not None:
            await self._dispute(payment, story.dispute, made)
        if story.end is DemoPaymentEnd.EXPIRED:
            with clock.set_back(made - LIFETIME):
                await end_payment(self.services, payment.id)

    async def _create_payment(self, story: DemoPayment) -> PaymentRow:
        extra: dict[str, Any] = {"type": PaymentType.CREDIT_CARD, "discount": story.discount}
        if story.gift_card is not None:
            extra |= {"extra_source_wallet_uuid": self.gift_card_wallet, "extra_source_amount": story.gift_card}
        payment = await create_payment(self.staff, CreatePayment.model_validate({**self._input(story), **extra}))
        assert isinstance(payment, PaymentRow)
        return payment

    async def _end(self, story: DemoPayment, payment: PaymentRow) -> None:
        token = payment.link_token or ""
        match story.end:
            case DemoPaymentEnd.PAID if payment.card_amount:
                await self._pay(token, GOOD_CARD if story.dispute is None else DISPUTABLE_CARD)
            case DemoPaymentEnd.FAILED:
                await self._pay(token, DECLINED_CARD)
            case DemoPaymentEnd.IN_PROGRESS:
                await self._begin(token)
            case DemoPaymentEnd.CANCELLED:
                await cancel_payment(self.staff, CancelPayment(id=payment.id))

    async def _add_request(self, story: DemoRequest) -> None:
        made, clock = DAY * story.days_ago, self.services.clock
        with clock.set_back(made):
            input = CreatePaymentRequest.model_validate({**self._input(story), "reference": story.reference})
            request = await create_payment_request(self.staff, input)
            assert isinstance(request, PaymentRequestRow)
            if story.end is DemoRequestEnd.PAID:
                await self._pay(request.link_token, GOOD_CARD)
            elif story.end is DemoRequestEnd.CANCELLED:
                await cancel_payment_request(self.staff, CancelPaymentRequest(id=request.id))
        if story.end is DemoRequestEnd.EXPIRED:
            with clock.set_back(made - REQUEST_DAYS):
                await expire_payment_requests(self.services)
        elif story.end is DemoRequestEnd.REMINDED:
            await remind_customers(self.services)

    # ---- the customer

    async def _begin(self, token: str) -> str:
        """Press the button of the page; returns the pay-in's id at the provider."""
        return_url = f"{self.services.public_url}/pay/{token}/return/"
        url = await pay_by_link(self.customer, token, return_url, "en")
        table = PaymentTransactionRow
        async with self.services.db.sessions() as db:
            return (await db.exec(select(table.provider_id).where(col(table.redirect_url) == url))).one()

    async def _pay(self, token: str, card: str) -> None:
        await self._ask(f"/payins/{await self._begin(token)}/pay", {"card": card})
        await return_to_payment_page(self.customer, token)

    # ---- refunds

    async def _refund(self, payment: PaymentRow, story: DemoRefund) -> None:
        with self.services.clock.set_back(DAY * story.days_ago):
            input = RefundPayment(id=payment.id, amount=story.amount, reason=story.reason)
            refund = await refund_payment(self.staff, input)
            table = PaymentTransactionRow
            by_card = col(table.refund_id) == refund.id, col(table.payment_method) == PaymentSourceKind.CREDIT_CARD
            async with self.services.db.sessions() as db:
                part = (await db.exec(select(table.id).where(*by_card))).one()
            if story.state is RefundState.DONE:
                await send_refund(self.services, part)
            else:
                await self._fail_refund(part, DAY * story.days_ago, *REFUSALS[story.state])

    async def _discard_refund_jobs(self) -> None:
        """Their refunds were sent above. The worker would send the one again that needs a person."""
        async with self.services.db.sessions() as db, db.begin():
            for job in (await db.exec(select(JobRow).where(col(JobRow.kind) == JobKind.SEND_REFUND))).all():
                await discard_job(db, job.id)

    async def _fail_refund(self, part: int, ago: dt.timedelta, code: str, tries: int) -> None:
        """Send a refund that the provider refuses with this code, as often as is told."""
        pauses = (dt.timedelta(), *PAUSES)[:tries]
        fault = {"method": "POST", "path": "/payins/*/refunds", "kind": "failed", "code": code, "times": tries}
        await self._ask("/faults", fault)
        with unlogged():
            for pause in pauses:
                ago -= pause
                with self.services.clock.set_back(ago):
                    await send_refund(self.services, part)

    # ---- disputes

    async def _dispute(self, payment: PaymentRow, state: DisputeState, paid: dt.timedelta) -> None:
        clock, table = self.services.clock, PaymentTransactionRow
        async with self.services.db.sessions() as db:
            payin = (await db.exec(select(table.provider_id).where(col(table.payment_id) == payment.id))).one()
        with clock.set_back(paid - TO_DISPUTE):
            id = (await self._ask(f"/payins/{payin}/dispute", {"new": state is DisputeState.OPEN}))["Id"]
            dispute = await self._follow(id)
        with clock.set_back(paid - TO_ANSWER):
            if state in {DisputeState.UNDER_REVIEW, DisputeState.WON}:
                await self._contest(dispute)
            elif state is DisputeState.LOST:
                await accept_dispute(self.staff, AcceptDispute(id=dispute.id))
                await check_dispute(self.services, dispute.id)
        decision = {DisputeState.WON: "win", DisputeState.CANCELLED: "void"}.get(state)
        if decision is not None:
            with clock.set_back(paid - TO_DECIDE):
                await self._ask(f"/disputes/{id}", {"outcome": decision})
                await self._follow(id)

    async def _contest(self, dispute: DisputeRow) -> None:
        file = UploadFile(io.BytesIO(self.content.dispute_document), filename="proof-of-stay.pdf")
        kind = DisputeDocumentKind.DELIVERY_PROOF
        await push_dispute_document(self.staff, PushDisputeDocument(dispute_id=dispute.id, kind=kind, file=file))
        await contest_dispute(self.staff, ContestDispute(id=dispute.id))

    async def _follow(self, id: str) -> DisputeRow:
        """What a notification causes."""
        await handle_dispute_notification(self.services, id)
        async with self.services.db.sessions() as db:
            dispute = await find_dispute_row(db, id)
        assert dispute is not None, "it is that of a payment just made"
        return dispute

    async def _ask(self, path: str, body: dict[str, Any]) -> Any:
        """What happens at the provider or at the bank."""
        return (await self.control.post(path, json=body)).raise_for_status().json()
