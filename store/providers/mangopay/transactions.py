"""Payments, refunds, transfers and payouts, and the platform's own wallets."""

import datetime as dt
import unicodedata
from collections.abc import Mapping, Sequence

from schema.payment_method import BuyerBrowser, PaymentMethod
from store.providers.actions import UserAction
from store.providers.errors import Declined, InvalidRequest
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.client import segment
from store.providers.mangopay.creation import CreationResult
from store.providers.mangopay.objects import ClientWallet, Json, MangopayTransaction
from store.providers.mangopay.part import money, optional_authentication, return_parameter, tag
from store.providers.mangopay.payers import PayersMixin
from store.providers.money import MinorAmount
from store.providers.transactions import (
    CardRefundRequest,
    PayinRequest,
    PayoutInstruction,
    PlatformBalance,
    Transaction,
    TransactionKind,
    TransactionStatus,
    TransferRefundRequest,
    TransferRequest,
)

_COLLECTIONS = {
    TransactionKind.PAYIN: "/payins",
    TransactionKind.REFUND: "/refunds",
    TransactionKind.TRANSFER: "/transfers",
    TransactionKind.PAYOUT: "/payouts",
    TransactionKind.REPUDIATION: "/repudiations",
    TransactionKind.SETTLEMENT: "/settlements",
}
_REFUNDABLE = frozenset(
    {TransactionKind.PAYIN, TransactionKind.TRANSFER, TransactionKind.PAYOUT, TransactionKind.REPUDIATION}
)
_PAGES: Mapping[PaymentMethod, tuple[str, Json]] = {
    PaymentMethod.CARD: ("/payins/card/web", {"CardType": "CB_VISA_MASTERCARD", "SecureMode": "DEFAULT"}),
    PaymentMethod.AMERICAN_EXPRESS: ("/payins/card/web", {"CardType": "AMEX", "SecureMode": "DEFAULT"}),
    PaymentMethod.BANCONTACT: ("/payins/payment-methods/bancontact", {}),
    PaymentMethod.IDEAL: ("/payins/payment-methods/ideal", {}),
    PaymentMethod.APPLE_PAY: ("/payins/applepay/direct", {}),
    PaymentMethod.GOOGLE_PAY: ("/payins/payment-methods/googlepay", {"SecureMode": "DEFAULT"}),
}
"""Where a payment is created, and what only its method needs."""
_CULTURES = {"ca": "ES"}
"""Our languages that the provider's pages lack -> the nearest one that they have."""
_BANCONTACT_CULTURES = frozenset({"DE", "EN", "FR", "NL"})
"""The languages of Bancontact's page. iDEAL's has no choice."""
_STATEMENT_LENGTH = 10
_BANK_WIRE_LENGTH = 12
"""Longer references of payouts may be cut off by the bank."""


class TransactionsMixin(PayersMixin):
    async def create_payment(self, request: PayinRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> Transaction:
        """See `PaymentProvider`."""
        path, own = _PAGES[request.method]
        body: Json = {
            "AuthorId": request.payer_id,
            "CreditedWalletId": request.wallet_id,
            "DebitedFunds": money(request.amount),
            "Fees": money(request.fee),
            "Tag": tag(request.reference),
            **own,
            **_way_to_pay(request),
        }
        if statement := _statement(request.statement, _STATEMENT_LENGTH):
            body["StatementDescriptor"] = statement
        try:
            result = await self._client.create(path, body, MangopayTransaction, key, sent_at)
        except InvalidRequest as error:
            raise await self._payer_refusal(request.payer_id, error) from error
        return await self._transaction_of(TransactionKind.PAYIN, result)

    async def refund(self, request: CardRefundRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> Transaction:
        """See `PaymentProvider`."""
        body = _refund_body(request.payer_id, request.amount, request.fee_back, request.reference)
        path = f"/payins/{segment(request.payment_id)}/refunds"
        result = await self._client.create(path, body, MangopayTransaction, key, sent_at)
        return await self._transaction_of(TransactionKind.REFUND, result)

    async def transfer(
        self, request: TransferRequest, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Transaction:
        """See `PaymentProvider`."""
        back, begun = return_parameter(return_url), self._clock.now()
        body: Json = {
            "AuthorId": request.author_id,
            "DebitedFunds": money(request.amount),
            "Fees": money(request.fee),
            "DebitedWalletId": request.from_wallet_id,
            "CreditedWalletId": request.to_wallet_id,
            "ScaContext": "USER_PRESENT",
            "Tag": tag(request.reference),
        }
        result = await self._client.create("/transfers", body, MangopayTransaction, key, sent_at)
        pending = result.object.pending_user_action
        action = optional_authentication(pending, back, sent_at if result.looked_up else begun)
        return await self._transaction_of(TransactionKind.TRANSFER, result, action)

    async def refund_transfer(
        self, request: TransferRefundRequest, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Transaction:
        """See `PaymentProvider`."""
        body = _refund_body(request.author_id, request.amount, request.fee_back, request.reference)
        path = f"/transfers/{segment(request.transfer_id)}/refunds"
        result = await self._client.create(path, body, MangopayTransaction, key, sent_at)
        return await self._transaction_of(TransactionKind.REFUND, result)

    async def pay_out(self, request: PayoutInstruction, *, key: IdempotencyKey, sent_at: dt.datetime) -> Transaction:
        """See `PaymentProvider`. Instant payments are not requested."""
        body: Json = {
            "AuthorId": request.author_id,
            "DebitedFunds": money(request.amount),
            "Fees": money(request.fee),
            "DebitedWalletId": request.wallet_id,
            "RecipientId": request.destination_id,
            "PayoutModeRequested": "STANDARD",
            "Tag": tag(request.reference),
        }
        if statement := _statement(request.statement, _BANK_WIRE_LENGTH):
            body["BankWireRef"] = statement
        result = await self._client.create("/payouts/bankwire", body, MangopayTransaction, key, sent_at)
        return await self._transaction_of(TransactionKind.PAYOUT, result)

    async def get_transaction(self, kind: TransactionKind, id: str) -> Transaction:
        """See `PaymentProvider`."""
        return (await self._client.get(f"{_COLLECTIONS[kind]}/{segment(id)}", MangopayTransaction)).transaction()

    async def list_children(self, kind: TransactionKind, id: str) -> Sequence[Transaction]:
        """See `PaymentProvider`."""
        if kind not in _REFUNDABLE:
            return []
        path = f"{_COLLECTIONS[kind]}/{segment(id)}/refunds"
        refunds = self._client.list(path, MangopayTransaction, {"Sort": "CreationDate:ASC"})
        return [refund.transaction() async for refund in refunds]

    async def platform_balances(self) -> Sequence[PlatformBalance]:
        """See `PaymentProvider`."""
        return [wallet.platform_balance() async for wallet in self._client.list("/clients/wallets", ClientWallet, {})]

    async def _transaction_of(
        self, kind: TransactionKind, result: CreationResult[MangopayTransaction], action: UserAction | None = None
    ) -> Transaction:
        """The created transaction, with the action of a PENDING one. Raises `Declined` for a FAILED one."""
        transaction = (await self._read_again(_COLLECTIONS[kind], result)).transaction(action)
        if transaction.status is TransactionStatus.FAILED:
            raise Declined(transaction)
        return transaction


def _way_to_pay(request: PayinRequest) -> Json:
    """The token of a card, or what the page needs on which the buyer pays."""
    token = request.token
    match request.method:
        case PaymentMethod.APPLE_PAY if token is not None:
            data = {"TransactionId": token.transaction_id, "Network": token.network.upper(), "TokenData": token.data}
            return {"PaymentData": data}
        case PaymentMethod.GOOGLE_PAY if token is not None:
            return {
                "PaymentData": token.data,
                "SecureModeReturnURL": request.return_url,
                "ReturnURL": request.return_url,
                "IpAddress": token.ip_address,
                "BrowserInfo": _browser_info(token.browser),
            }
        case _:
            return {"ReturnURL": request.return_url, **_culture(request)}


def _browser_info(browser: BuyerBrowser) -> Json:
    return {
        "AcceptHeader": browser.accept_header,
        "JavaEnabled": False,
        "JavascriptEnabled": True,
        "Language": browser.language,
        "ColorDepth": browser.color_depth,
        "ScreenHeight": browser.screen_height,
        "ScreenWidth": browser.screen_width,
        "TimeZoneOffset": str(browser.time_zone_offset),
        "UserAgent": browser.user_agent,
    }


def _culture(request: PayinRequest) -> Json:
    """The language of the page: the buyer's, or the nearest that it has."""
    culture = _CULTURES.get(request.language, request.language.upper())
    match request.method:
        case PaymentMethod.IDEAL:
            return {}
        case PaymentMethod.BANCONTACT if culture not in _BANCONTACT_CULTURES:
            return {"Culture": "EN"}
        case _:
            return {"Culture": culture}


def _refund_body(author_id: str, amount: MinorAmount, fee_back: MinorAmount, reference: str) -> Json:
    """What a refund gets is the debited funds plus the refunded fees, which Mangopay counts as negative."""
    return {
        "AuthorId": author_id,
        "DebitedFunds": money(amount - fee_back),
        "Fees": money(MinorAmount(fee_back.currency, -fee_back.minor)),
        "Tag": tag(reference),
    }


def _statement(text: str, length: int) -> str:
    """The text as Mangopay allows it on bank statements: ASCII letters and digits. Accents are dropped."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if letter.isascii() and letter.isalnum())[:length]
