"""Payers: the provider's users who pay. They have no terms to accept and need not authenticate."""

import datetime as dt

from store.providers.errors import InvalidRequest, PayerRefused, ProviderError, ProviderNotFound
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.accounts import MangopayUser
from store.providers.mangopay.client import segment
from store.providers.mangopay.objects import Created
from store.providers.mangopay.part import AdapterMixin
from store.providers.transactions import Payer

_CLOSED = "user_closed"


class PayersMixin(AdapterMixin):
    async def create_payer(self, person: Payer, reference: str, *, key: IdempotencyKey, sent_at: dt.datetime) -> str:
        """See `PaymentProvider`."""
        body = {
            "FirstName": person.first_name,
            "LastName": person.last_name,
            "Email": person.email,
            "UserCategory": "PAYER",
            "TermsAndConditionsAccepted": False,
            "Tag": reference,
        }
        return (await self._client.create("/sca/users/natural", body, Created, key, sent_at)).object.id

    async def _payer_refusal(self, payer_id: str, refused: InvalidRequest) -> InvalidRequest:
        """The refusal of a payment, as `PayerRefused` if the payer is its cause.

        The code for a closed user does not say which one it is, the payer or the owner of the wallet.
        """
        if "AuthorId" in refused.fields or (refused.code == _CLOSED and await self._is_closed(payer_id)):
            return PayerRefused(str(refused), refused.fields, code=refused.code, request_id=refused.request_id)
        return refused

    async def _is_closed(self, payer_id: str) -> bool:
        try:
            user = await self._client.get(f"/sca/users/{segment(payer_id)}", MangopayUser)
        except ProviderNotFound:
            return True
        except ProviderError:
            return False
        return user.user_status == "CLOSED"
