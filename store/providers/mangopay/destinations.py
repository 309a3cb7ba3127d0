"""Bank accounts for payouts, which Mangopay calls recipients."""

import datetime as dt
import re
from collections.abc import Sequence

from store.providers.accounts import Destination, DestinationRequest, DestinationStatus
from store.providers.actions import UserAction
from store.providers.errors import InvalidRequest
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.client import segment
from store.providers.mangopay.objects import Created, Id, Json, MangopayObject, PendingAction
from store.providers.mangopay.part import (
    AdapterMixin,
    address_body,
    optional_authentication,
    return_parameter,
)

_STATUSES = {
    "PENDING": DestinationStatus.PENDING,
    "ACTIVE": DestinationStatus.ACTIVE,
    "CANCELED": DestinationStatus.CANCELLED,
    "DEACTIVATED": DestinationStatus.DEACTIVATED,
}
_NOT_IN_NAMES = re.compile(r"[&,'/\s]+")
_NAME_LENGTH = 50
LOCAL, INTERNATIONAL = "LocalBankTransfer", "InternationalBankTransfer"


class PayeeCheck(MangopayObject):
    """The bank's verification of the holder's name."""

    recipient_verification_check: str | None = None
    recipient_verification_message: str | None = None


class Recipient(Created):
    user_id: Id
    status: str
    display_name: str | None = None
    pending_user_action: PendingAction | None = None
    recipient_verification_of_payee: PayeeCheck | None = None

    def destination(self, action: UserAction | None = None) -> Destination:
        payee = self.recipient_verification_of_payee or PayeeCheck()
        return Destination(
            id=self.id,
            account_id=self.user_id,
            status=_STATUSES.get(self.status, DestinationStatus.UNKNOWN),
            action=action,
            label=self.display_name or "",
            provider_status=self.status,
            payee_check=payee.recipient_verification_check or "",
            payee_message=payee.recipient_verification_message or "",
        )


class DestinationsMixin(AdapterMixin):
    async def add_destination(
        self, request: DestinationRequest, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Destination:
        """See `PaymentProvider`."""
        back, begun = return_parameter(return_url), self._clock.now()
        result = await self._client.create(_of(request.account_id), _body(request), Recipient, key, sent_at)
        recipient = await self._read_again("/recipients", result)
        pending = result.object.pending_user_action if recipient.status == "PENDING" else None
        return recipient.destination(optional_authentication(pending, back, sent_at if result.looked_up else begun))

    async def get_destination(self, id: str) -> Destination:
        """See `PaymentProvider`."""
        return (await self._client.get(f"/recipients/{segment(id)}", Recipient)).destination()

    async def list_destinations(self, account_id: str) -> Sequence[Destination]:
        """See `PaymentProvider`."""
        recipients = self._client.list(_of(account_id), Recipient, {"Sort": "CreationDate:DESC"})
        return [recipient.destination() async for recipient in recipients]

    async def deactivate_destination(self, id: str) -> Destination:
        """See `PaymentProvider`."""
        try:
            return (
                await self._client.put(f"/recipients/{segment(id)}", {"Status": "DEACTIVATED"}, Recipient)
            ).destination()
        except InvalidRequest:
            destination = await self.get_destination(id)
            if destination.status is not DestinationStatus.DEACTIVATED:
                raise
            return destination


def _of(account_id: str) -> str:
    return f"/users/{segment(account_id)}/recipients"


def _body(request: DestinationRequest) -> Json:
    address = address_body(request.address)
    body: Json = {
        "DisplayName": _name(request.label) or _name(request.holder) or "IBAN",
        "RecipientType": "Business" if request.holder_is_business else "Individual",
        "Currency": request.currency,
        "Country": request.iban[:2],
        "RecipientScope": "PAYOUT",
        **_account(request),
    }
    if request.holder_is_business:
        return body | {"BusinessRecipient": {"BusinessName": request.holder, "Address": address}}
    person = {"FirstName": request.first_name, "LastName": request.last_name, "Address": address}
    return body | {"IndividualRecipient": person}


def _account(request: DestinationRequest) -> Json:
    """The account, by the method that there is for its country and currency: euros and, in the United Kingdom, pounds are
    transferred locally. Of a British IBAN, the sort code and the account number are the digits after the bank.
    """
    if request.currency == "EUR":
        return {"PayoutMethodType": LOCAL, LOCAL: {"EUR": {"IBAN": request.iban}}}
    if request.currency == "GBP" and request.iban.startswith("GB"):
        number = {"SortCode": request.iban[8:14], "AccountNumber": request.iban[14:]}
        return {"PayoutMethodType": LOCAL, LOCAL: {"GBP": number}}
    return {"PayoutMethodType": INTERNATIONAL, INTERNATIONAL: {"AccountNumber": request.iban}}


def _name(text: str) -> str:
    """A name as the provider accepts it: at most 50 characters, without `&`, `,`, `'` and `/`."""
    return _NOT_IN_NAMES.sub(" ", text).strip()[:_NAME_LENGTH].strip()
