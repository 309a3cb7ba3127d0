"""Data types for payees: accounts, identity checks, documents, bank accounts."""

import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from store.providers.actions import UserAction

Content: TypeAlias = Callable[[], AsyncIterator[bytes]]
"""Opens a file as chunks of bytes. Each call starts at the beginning and yields the same bytes: one call computes the
length, and a retry sends the file again. The file is never stored."""


class LegalKind(StrEnum):
    """The legal form of an account's owner."""

    BUSINESS = "business"
    ORGANIZATION = "organization"
    SOLE_TRADER = "sole_trader"
    INDIVIDUAL = "individual"


class AccountStatus(StrEnum):
    """The status of an account."""

    ACTION_REQUIRED = "action_required"
    """Its representative must authenticate first."""
    ACTIVE = "active"
    CLOSED = "closed"
    UNKNOWN = "unknown"
    """The provider reports a status that we do not know. The account counts as not usable."""


class KycLevel(StrEnum):
    """The identification level of an account."""

    LIGHT = "light"
    REGULAR = "regular"
    """Its identity is verified: it can be paid out."""


@dataclass(frozen=True, slots=True)
class Address:
    """A postal address. `country` is an ISO 3166 alpha-2 code; `region` is required in the US, Canada and Mexico."""

    line_1: str
    city: str
    postal_code: str
    country: str
    line_2: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True)
class Representative:
    """The legal representative of an account.

    `nationality` and `residence` are ISO 3166 alpha-2 codes, `phone` is E.164 or empty.
    """

    first_name: str
    last_name: str
    email: str
    birthday: dt.date
    nationality: str
    residence: str
    phone: str = ""


@dataclass(frozen=True, slots=True)
class AccountRequest:
    """An account to create or update. Its owner has accepted the provider's terms.

    `reference` is our name for it, at most 255 characters. For an INDIVIDUAL only the representative and the address
    are sent: they are the same person.
    """

    reference: str
    kind: LegalKind
    name: str
    email: str
    representative: Representative
    headquarters: Address
    company_number: str = ""
    """Number in the company register of its country; required for a BUSINESS."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account as last read from the provider. `action` is the representative's pending authentication."""

    id: str
    status: AccountStatus
    kyc_level: KycLevel
    representative_email: str
    reference: str = ""
    action: UserAction | None = None


@dataclass(frozen=True, slots=True)
class Enrolment:
    """Strong customer authentication of a representative: whether it is set up, and when last."""

    enrolled: bool
    last_on: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Blocks:
    """Money flows blocked by an authority or the provider, with the provider's code for the reason.

    `identified_on` is when the account's identity was last verified. It falls back to LIGHT on the day after `renew_by`
    (UTC) unless it is verified again by then; None if the provider reports no date.
    """

    code: str
    inflows: bool
    outflows: bool
    identified_on: dt.date | None = None
    renew_by: dt.date | None = None


class CheckStatus(StrEnum):
    """The status of an identity check or a document."""

    CREATED = "created"
    """A document without files, or not submitted yet."""
    PENDING = "pending"
    IN_REVIEW = "in_review"
    VALIDATED = "validated"
    REFUSED = "refused"
    EXPIRED = "expired"
    """A session that was not used in time."""
    OUTDATED = "outdated"
    """It was valid once and must be renewed."""
    UNKNOWN = "unknown"
    """The provider reports a status that we do not know. It counts as not validated."""


class DocumentType(StrEnum):
    """The type of a document."""

    IDENTITY_PROOF = "IDENTITY_PROOF"
    REGISTRATION_PROOF = "REGISTRATION_PROOF"
    ARTICLES_OF_ASSOCIATION = "ARTICLES_OF_ASSOCIATION"
    SHAREHOLDER_DECLARATION = "SHAREHOLDER_DECLARATION"
    ADDRESS_PROOF = "ADDRESS_PROOF"


class RefusalReason(StrEnum):
    """Why an identity check or a document was refused, independent of the provider."""

    UNREADABLE = "unreadable"
    NOT_ACCEPTED = "not_accepted"
    HAS_EXPIRED = "has_expired"
    INCOMPLETE = "incomplete"
    MISSING = "missing"
    USER_DATA_MISMATCH = "user_data_mismatch"
    ACCOUNT_DATA_MISMATCH = "account_data_mismatch"
    FALSIFIED = "falsified"
    UNDERAGE = "underage"
    SPECIFIC_CASE = "specific_case"
    FACE_MISMATCH = "face_mismatch"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: our reason, with the provider's code and text as received."""

    reason: RefusalReason
    code: str
    message: str = ""


class OwnerCheckStatus(StrEnum):
    """The status of the identity check of one owner of a business."""

    PENDING = "pending"
    VALIDATED = "validated"
    REJECTED = "rejected"
    """It failed, or was not done in time: `retry_owner_check` opens another session."""
    ABANDONED = "abandoned"
    """The provider withdrew it, such as for an owner named twice."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class OwnerCheck:
    """The identity check of one owner (or representative) of a business, at `action.url` while it is PENDING.

    The session lasts seven days, or an hour once the person has begun; after that it is REJECTED.
    """

    id: str
    status: OwnerCheckStatus
    name: str
    """First and last name, as the business declared them."""
    email: str = ""
    action: UserAction | None = None


@dataclass(frozen=True, slots=True)
class IdentityCheck:
    """An identity check session on the provider's page, at `action.url` while it is PENDING.

    `owners` are the checks of a business's owners, which begin once the session is VALIDATED: each does their own.
    """

    id: str
    account_id: str
    status: CheckStatus
    created_at: dt.datetime
    action: UserAction | None = None
    refusals: Sequence[Refusal] = ()
    provider_status: str = ""
    """The provider's name of the status."""
    owners: Sequence[OwnerCheck] = ()


@dataclass(frozen=True, slots=True)
class AccountDocument:
    """A document submitted to the provider, which alone stores its files."""

    id: str
    account_id: str
    type: DocumentType | None
    """None for a type that we do not know."""
    status: CheckStatus
    created_at: dt.datetime
    processed_at: dt.datetime | None = None
    refusals: Sequence[Refusal] = ()
    reference: str = ""
    provider_type: str = ""
    provider_status: str = ""
    """The provider's names of the type and the status."""
    flags: Sequence[str] = ()
    """The provider's codes of further findings."""


class DestinationStatus(StrEnum):
    """The status of a bank account at the provider."""

    PENDING = "pending"
    """The representative must authenticate first to activate it."""
    ACTIVE = "active"
    CANCELLED = "cancelled"
    """The authentication failed or timed out: register the bank account again."""
    DEACTIVATED = "deactivated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DestinationRequest:
    """A bank account to register for payouts in one currency. `holder` is the account holder's name at the bank.

    `iban` is in capitals, without spaces.
    """

    account_id: str
    holder: str
    holder_is_business: bool
    address: Address
    iban: str
    currency: str
    label: str
    """Label in the account's lists of recipients."""
    first_name: str = ""
    last_name: str = ""
    """First and last name of a holder that is a natural person."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A bank account for payouts.

    It can be used once it is ACTIVE; until then the representative authenticates at `action.url`.
    """

    id: str
    account_id: str
    status: DestinationStatus
    action: UserAction | None = None
    label: str = ""
    provider_status: str = ""
    """The provider's name of the status."""
    payee_check: str = ""
    payee_message: str = ""
    """The bank's check of the holder's name (verification of payee), in the provider's code and words; empty if none.
    """
