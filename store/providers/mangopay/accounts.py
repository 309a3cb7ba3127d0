"""Accounts of payees, and the strong customer authentication of their representatives."""

import datetime as dt

from pydantic import AwareDatetime, Field

from store.providers.accounts import Account, AccountRequest, AccountStatus, Blocks, Enrolment, KycLevel, LegalKind
from store.providers.actions import UserAction
from store.providers.errors import ProviderNotFound
from store.providers.keys import IdempotencyKey
from store.providers.mangopay import hooks
from store.providers.mangopay.client import segment
from store.providers.mangopay.objects import Created, Json, MangopayObject, PendingAction
from store.providers.mangopay.part import (
    AdapterMixin,
    address_body,
    optional_authentication,
    return_parameter,
    tag,
)

_STATUSES = {
    "PENDING_USER_ACTION": AccountStatus.ACTION_REQUIRED,
    "ACTIVE": AccountStatus.ACTIVE,
    "CLOSED": AccountStatus.CLOSED,
}
_LEGAL = {
    LegalKind.BUSINESS: "BUSINESS",
    LegalKind.ORGANIZATION: "ORGANIZATION",
    LegalKind.SOLE_TRADER: "SOLETRADER",
}
"""Legal kinds that Mangopay treats as legal persons, including sole traders. All others are natural persons."""
_FAILED = "SCA_ENROLLMENT_FAILED"


class UserRepresentative(MangopayObject):
    email: str | None = None


class MangopayUser(Created):
    """A user of Mangopay: a natural or a legal person."""

    user_status: str
    kyc_level: str | None = Field(None, alias="KYCLevel")
    email: str | None = None
    legal_representative: UserRepresentative | None = None
    tag: str | None = None
    pending_user_action: PendingAction | None = None

    def account(self, action: UserAction | None = None) -> Account:
        acting = self.legal_representative
        return Account(
            id=self.id,
            status=_STATUSES.get(self.user_status, AccountStatus.UNKNOWN),
            kyc_level=KycLevel.REGULAR if self.kyc_level == "REGULAR" else KycLevel.LIGHT,
            representative_email=(acting.email if acting else self.email) or "",
            reference=self.tag or "",
            action=action,
        )


class EnrolmentSession(MangopayObject):
    """An authentication session; null if the representative has nothing to do."""

    pending_user_action: PendingAction | None


class ScaStatus(MangopayObject):
    is_enrolled: bool
    last_enrollment_date: AwareDatetime | None = None


class Scope(MangopayObject):
    """The blocked flows."""

    inflows: bool | None = None
    outflows: bool | None = None


class KycInformation(MangopayObject):
    """When a user was identified, and by when that must be renewed. Dates without a time, in UTC."""

    last_kyc_date: dt.date | None = None
    kyc_renewal_deadline: dt.date | None = None


class Regulatory(MangopayObject):
    """Blocks set by an authority or the provider, and until when the user's identity is verified."""

    action_code: str | None = None
    scope_blocked: Scope | None = None
    kyc_information: KycInformation | None = None

    def blocks(self) -> Blocks:
        scope, kyc = self.scope_blocked or Scope(), self.kyc_information or KycInformation()
        return Blocks(
            self.action_code or "",
            inflows=bool(scope.inflows),
            outflows=bool(scope.outflows),
            identified_on=kyc.last_kyc_date,
            renew_by=kyc.kyc_renewal_deadline,
        )


class AccountsMixin(AdapterMixin):
    async def create_account(
        self, request: AccountRequest, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Account:
        """See `PaymentProvider`."""
        back, begun = return_parameter(return_url), self._clock.now()
        body = _body(request) | {"UserCategory": "OWNER"}
        result = await self._client.create(_collection(request), body, MangopayUser, key, sent_at)
        user = await self._read_again("/sca/users", result)
        pending = result.object.pending_user_action if user.user_status == "PENDING_USER_ACTION" else None
        return user.account(optional_authentication(pending, back, sent_at if result.looked_up else begun))

    async def update_account(self, account_id: str, request: AccountRequest) -> Account:
        """See `PaymentProvider`."""
        path = f"{_collection(request)}/{segment(account_id)}"
        return (await self._client.put(path, _body(request), MangopayUser)).account()

    async def get_account(self, account_id: str) -> Account:
        """See `PaymentProvider`."""
        return (await self._client.get(f"/sca/users/{segment(account_id)}", MangopayUser)).account()

    async def open_enrolment(
        self, account_id: str, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> UserAction | None:
        """See `PaymentProvider`."""
        back, begun = return_parameter(return_url), self._clock.now()
        path = f"/sca/users/{segment(account_id)}/enrollment"
        result = await self._client.create(path, None, EnrolmentSession, key, sent_at)
        return optional_authentication(result.object.pending_user_action, back, sent_at if result.looked_up else begun)

    async def get_enrolment(self, account_id: str) -> Enrolment | None:
        """See `PaymentProvider`."""
        try:
            status = await self._client.get(f"/sca/users/{segment(account_id)}/sca-status", ScaStatus)
        except ProviderNotFound:
            return None
        return Enrolment(status.is_enrolled, status.last_enrollment_date)

    async def enrolment_failed(self, account_id: str, since: dt.datetime) -> bool:
        """See `PaymentProvider`. Mangopay's event list goes back 45 days and cannot be filtered by user."""
        second = since.replace(microsecond=0)
        async for event in hooks.list_events(self._client, _FAILED, since):
            if event.resource_id == account_id and event.date > second:
                return True
        return False

    async def get_blocks(self, account_id: str) -> Blocks:
        """See `PaymentProvider`."""
        return (await self._client.get(f"/users/{segment(account_id)}/Regulatory", Regulatory)).blocks()


def _collection(request: AccountRequest) -> str:
    return "/sca/users/legal" if request.kind in _LEGAL else "/sca/users/natural"


def _body(request: AccountRequest) -> Json:
    body = _legal_person(request) if request.kind in _LEGAL else _natural_person(request)
    return body | {"TermsAndConditionsAccepted": True, "Tag": tag(request.reference)}


def _legal_person(request: AccountRequest) -> Json:
    body = {
        "LegalPersonType": _LEGAL[request.kind],
        "Name": request.name,
        "Email": request.email,
        "LegalRepresentative": _person(request),
        "HeadquartersAddress": address_body(request.headquarters),
    }
    return body | ({"CompanyNumber": request.company_number} if request.company_number else {})


def _natural_person(request: AccountRequest) -> Json:
    return _person(request) | {"Address": address_body(request.headquarters)}


def _person(request: AccountRequest) -> Json:
    person = request.representative
    born = dt.datetime.combine(person.birthday, dt.time.min, dt.UTC)
    return {
        "FirstName": person.first_name,
        "LastName": person.last_name,
        "Email": person.email,
        "Birthday": int(born.timestamp()),
        "Nationality": person.nationality,
        "CountryOfResidence": person.residence,
        **_phone(person.phone),
    }


def _phone(number: str) -> Json:
    """The telephone number, with its country if it belongs to one."""
    if not number:
        return {}
    import phonenumbers  # see schema.validation.contact

    try:
        country = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        country = None
    known = country is not None and country.isalpha()  # 001 stands for numbers without a country
    return {"PhoneNumber": number} | ({"PhoneNumberCountry": country} if known else {})
