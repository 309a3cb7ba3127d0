"""Identity check sessions on the provider's pages."""

import datetime as dt
from collections.abc import Sequence

from pydantic import AwareDatetime, Field

from store.providers.accounts import CheckStatus, IdentityCheck, OwnerCheck, OwnerCheckStatus, Refusal
from store.providers.actions import ActionKind, UserAction
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.client import segment
from store.providers.mangopay.objects import Created, Id, MangopayObject
from store.providers.mangopay.part import AdapterMixin
from store.providers.mangopay.results import refusal_reason

SESSION_LASTS = dt.timedelta(days=7)
_STATUSES = {
    "PENDING": CheckStatus.PENDING,
    "VALIDATED": CheckStatus.VALIDATED,
    "REFUSED": CheckStatus.REFUSED,
    "REVIEW": CheckStatus.IN_REVIEW,
    "EXPIRED": CheckStatus.EXPIRED,
    "TIMEOUT": CheckStatus.EXPIRED,
    "OUT_OF_DATE": CheckStatus.OUTDATED,
    "OUTDATED": CheckStatus.OUTDATED,
}


_OWNER_STATUSES = {
    "PENDING_VALIDATION": OwnerCheckStatus.PENDING,
    "VALIDATED": OwnerCheckStatus.VALIDATED,
    "REJECTED": OwnerCheckStatus.REJECTED,
    "ABANDONED": OwnerCheckStatus.ABANDONED,
}


class CheckReason(MangopayObject):
    type: str
    value: str | None = None


class Check(MangopayObject):
    """One check of a session."""

    type: str | None = None
    check_status: str | None = None
    reasons: list[CheckReason] | None = None

    def refusals(self) -> list[Refusal]:
        """The reasons of a refused check; a refusal without reasons is reported with the type of the check as code."""
        if self.check_status != "REFUSED":
            return []
        reasons = [(reason.type, reason.value or "") for reason in self.reasons or []]
        return [Refusal(refusal_reason(code), code, text) for code, text in reasons or [(self.type or "", "")]]


class PersonOfSignificantControl(Created):
    """The session of one owner or representative of a business."""

    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    status: str
    creation_date: AwareDatetime | None = None
    hosted_url: str | None = None

    def owner_check(self) -> OwnerCheck:
        status = _OWNER_STATUSES.get(self.status, OwnerCheckStatus.UNKNOWN)
        return OwnerCheck(
            id=self.id,
            status=status,
            name=" ".join(filter(None, (self.first_name, self.last_name))),
            email=self.email or "",
            action=_page(self.hosted_url, self.creation_date) if status is OwnerCheckStatus.PENDING else None,
        )


class VerificationSession(Created):
    user_id: Id
    status: str
    creation_date: AwareDatetime
    hosted_url: str | None = None
    checks: list[Check] | None = None
    persons: list[PersonOfSignificantControl] | None = Field(None, alias="PSCs")

    def identity_check(self) -> IdentityCheck:
        status = _STATUSES.get(self.status, CheckStatus.UNKNOWN)
        return IdentityCheck(
            id=self.id,
            account_id=self.user_id,
            status=status,
            created_at=self.creation_date,
            action=_page(self.hosted_url, self.creation_date) if status is CheckStatus.PENDING else None,
            refusals=[refusal for check in self.checks or [] for refusal in check.refusals()],
            provider_status=self.status,
            owners=[person.owner_check() for person in self.persons or []],
        )


def _page(url: str | None, opened: dt.datetime | None) -> UserAction | None:
    """The page of a session, if it has one."""
    if not url:
        return None
    return UserAction(ActionKind.IDENTITY, url, opened + SESSION_LASTS if opened else None)


class IdentityChecksMixin(AdapterMixin):
    async def open_identity_check(
        self, account_id: str, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> IdentityCheck:
        """See `PaymentProvider`."""
        path = f"/users/{segment(account_id)}/identity-verifications"
        result = await self._client.create(path, {"ReturnUrl": return_url}, VerificationSession, key, sent_at)
        return (await self._read_again("/identity-verifications", result)).identity_check()

    async def get_identity_check(self, id: str) -> IdentityCheck:
        """See `PaymentProvider`."""
        return (await self._client.get(f"/identity-verifications/{segment(id)}", VerificationSession)).identity_check()

    async def list_identity_checks(self, account_id: str) -> Sequence[IdentityCheck]:
        """See `PaymentProvider`. Each session is read by id, because the provider's list may leave out details."""
        path = f"/users/{segment(account_id)}/identity-verifications"
        ids = [listed.id async for listed in self._client.list(path, Created, {"Sort": "CreationDate:DESC"})]
        checks = [await self.get_identity_check(id) for id in ids]
        return sorted(checks, key=lambda check: check.created_at, reverse=True)

    async def retry_owner_check(self, check_id: str, owner_id: str) -> OwnerCheck:
        """See `PaymentProvider`."""
        path = f"/identity-verifications/{segment(check_id)}/pscs/{segment(owner_id)}/retry"
        return (await self._client.put(path, {}, PersonOfSignificantControl)).owner_check()
