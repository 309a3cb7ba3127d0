"""Those who are paid: their accounts, and the strong authentication of who acts for them."""

import datetime as dt

import phonenumbers
from pydantic import AwareDatetime, Field

from store.providers.accounts import Account, AccountRequest, AccountStatus, Blocks, Enrolment, KycLevel, LegalKind
from store.providers.actions import UserAction
from store.providers.errors import NotFound
from store.providers.keys import Key
from store.providers.mangopay import hooks
from store.providers.mangopay.client import segment
from store.providers.mangopay.objects import Created, Json, Wire
from store.providers.mangopay.part import Part, PendingAction, address_body, returning, tag, to_authenticate

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
"""The kinds that are legal persons, sole traders among them; anybody else is a natural person."""
_FAILED = "SCA_ENROLLMENT_FAILED"


class Acting(Wire):
    """Who acts for a legal person."""

    email: str | None = None


class User(Created):
    """A natural or a legal person."""

    user_status: str
    kyc_level: str | None = Field(None, alias="KYCLevel")
    email: str | None = None
    legal_representative: Acting | None = None
    tag: str | None = None
    pending_user_action: PendingAction | None = None

    def account(self, action: UserAction | None = None) -> Account:
        """As the port tells it."""
        acting = self.legal_representative
        return Account(
            id=self.id,
            status=_STATUSES.get(self.user_status, AccountStatus.UNKNOWN),
            kyc_level=KycLevel.REGULAR if self.kyc_level == "REGULAR" else KycLevel.LIGHT,
            representative_email=(acting.email if acting else self.email) or "",
            reference=self.tag or "",
            action=action,
        )


class EnrolmentSession(Wire):
    """A session of strong authentication; empty for whoever has nothing to do."""

    pending_user_action: PendingAction | None


class ScaStatus(Wire):
    """Whether somebody has set strong authentication up."""

    is_enrolled: bool
    last_enrollment_date: AwareDatetime | None = None


class Scope(Wire):
    """What is closed."""

    inflows: bool | None = None
    outflows: bool | None = None


class Regulatory(Wire):
    """What an authority or the provider has closed."""

    action_code: str | None = None
    scope_blocked: Scope | None = None


class Accounts(Part):
    """Accounts and enrolments."""

    async def create_account(
        self, request: AccountRequest, *, return_url: str, key: Key, sent_at: dt.datetime
    ) -> Account:
        """See `PaymentProvider`."""
        back, begun = returning(return_url), self._clock.now()
        body = _body(request) | {"UserCategory": "OWNER"}
        made = await self._client.create(_collection(request), body, User, key, sent_at)
        user = await self._read_again("/sca/users", made)
        pending = made.object.pending_user_action if user.user_status == "PENDING_USER_ACTION" else None
        return user.account(to_authenticate(pending, back, sent_at if made.looked_up else begun))

    async def update_account(self, account_id: str, request: AccountRequest) -> Account:
        """See `PaymentProvider`."""
        path = f"{_collection(request)}/{segment(account_id)}"
        return (await self._client.put(path, _body(request), User)).account()

    async def get_account(self, account_id: str) -> Account:
        """See `PaymentProvider`."""
        return (await self._client.get(f"/sca/users/{segment(account_id)}", User)).account()

    async def open_enrolment(
        self, account_id: str, *, return_url: str, key: Key, sent_at: dt.datetime
    ) -> UserAction | None:
        """See `PaymentProvider`."""
        back, begun = returning(return_url), self._clock.now()
        path = f"/sca/users/{segment(account_id)}/enrollment"
        made = await self._client.create(path, None, EnrolmentSession, key, sent_at)
        return to_authenticate(made.object.pending_user_action, back, sent_at if made.looked_up else begun)

    async def get_enrolment(self, account_id: str) -> Enrolment | None:
        """See `PaymentProvider`."""
        try:
            status = await self._client.get(f"/sca/users/{segment(account_id)}/sca-status", ScaStatus)
        except NotFound:
            return None
        return Enrolment(status.is_enrolled, status.last_enrollment_date)

    async def enrolment_failed(self, account_id: str, since: dt.datetime) -> bool:
        """See `PaymentProvider`. The provider's list of events goes back 45 days, and cannot be asked for one user's."""
        second = since.replace(microsecond=0)
        async for event in hooks.listed(self._client, _FAILED, since):
            if event.resource_id == account_id and event.date > second:
                return True
        return False

    async def get_blocks(self, account_id: str) -> Blocks:
        """See `PaymentProvider`."""
        told = await self._client.get(f"/users/{segment(account_id)}/Regulatory", Regulatory)
        scope = told.scope_blocked or Scope()
        return Blocks(told.action_code or "", inflows=bool(scope.inflows), outflows=bool(scope.outflows))


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
    """A telephone number with the country it belongs to, where it belongs to one."""
    if not number:
        return {}
    try:
        country = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        country = None
    known = country is not None and country.isalpha()  # 001 is the whole world
    return {"PhoneNumber": number} | ({"PhoneNumberCountry": country} if known else {})
