"""What a payment provider knows of those who are paid: accounts, identity checks, documents, bank accounts."""

import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from store.providers.actions import UserAction

Content: TypeAlias = Callable[[], AsyncIterator[bytes]]
"""A file in pieces, read from its beginning at each call and the same each time: its length is learnt first, and a lost
answer makes it be sent again. It is never kept."""


class LegalKind(StrEnum):
    """What kind of person is paid."""

    BUSINESS = "business"
    ORGANIZATION = "organization"
    SOLE_TRADER = "sole_trader"
    INDIVIDUAL = "individual"


class AccountStatus(StrEnum):
    """Whether an account can be used."""

    ACTION_REQUIRED = "action_required"
    """Its representative has to authenticate first."""
    ACTIVE = "active"
    CLOSED = "closed"
    UNKNOWN = "unknown"
    """The provider says something that we do not know: it counts as not usable."""


class KycLevel(StrEnum):
    """How far an account is identified."""

    LIGHT = "light"
    REGULAR = "regular"
    """Its identity is proven: it can be paid out."""


@dataclass(frozen=True, slots=True)
class Address:
    """A postal address; `country` is an ISO 3166 alpha-2 code. `region` is needed in the US, Canada and Mexico."""

    line_1: str
    city: str
    postal_code: str
    country: str
    line_2: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True)
class Representative:
    """Who acts for an account. `nationality` and `residence` are ISO 3166 alpha-2 codes, `phone` is E.164 or empty."""

    first_name: str
    last_name: str
    email: str
    birthday: dt.date
    nationality: str
    residence: str
    phone: str = ""


@dataclass(frozen=True, slots=True)
class AccountRequest:
    """Somebody who is to be paid, and who has accepted the provider's terms. `reference` is our own name for it, of at most
    255 characters. Of an INDIVIDUAL only the representative and the address are told, as they are the same person.
    """

    reference: str
    kind: LegalKind
    name: str
    email: str
    representative: Representative
    headquarters: Address
    company_number: str = ""
    """In the register of its country; a BUSINESS has one."""


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who is paid, as the provider last told it. `action` is where its representative has to go."""

    id: str
    status: AccountStatus
    kyc_level: KycLevel
    representative_email: str
    reference: str = ""
    action: UserAction | None = None


@dataclass(frozen=True, slots=True)
class Enrolment:
    """Whether the representative has set strong authentication up, and when last."""

    enrolled: bool
    last_on: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Blocks:
    """What an authority or the provider has closed, with the provider's own code for the reason."""

    code: str
    inflows: bool
    outflows: bool


class CheckStatus(StrEnum):
    """Where an identity check or a document stands."""

    CREATED = "created"
    """A document without its files, or not handed in yet."""
    PENDING = "pending"
    IN_REVIEW = "in_review"
    VALIDATED = "validated"
    REFUSED = "refused"
    EXPIRED = "expired"
    """A session that nobody used in time."""
    OUTDATED = "outdated"
    """It was good once, and has to be renewed."""
    UNKNOWN = "unknown"
    """The provider says something that we do not know: it counts as not good."""


class DocumentType(StrEnum):
    """What a document proves."""

    IDENTITY_PROOF = "IDENTITY_PROOF"
    REGISTRATION_PROOF = "REGISTRATION_PROOF"
    ARTICLES_OF_ASSOCIATION = "ARTICLES_OF_ASSOCIATION"
    SHAREHOLDER_DECLARATION = "SHAREHOLDER_DECLARATION"
    ADDRESS_PROOF = "ADDRESS_PROOF"


class RefusalReason(StrEnum):
    """Why an identity check or a document was refused, in words that do not depend on the provider."""

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
    """Why it was refused: our reason, with the provider's own code and text as received."""

    reason: RefusalReason
    code: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class IdentityCheck:
    """A session in which somebody proves an identity on the provider's page, at `action.url` while it is PENDING."""

    id: str
    account_id: str
    status: CheckStatus
    created_at: dt.datetime
    action: UserAction | None = None
    refusals: Sequence[Refusal] = ()
    provider_status: str = ""
    """Its status in the provider's own word."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was handed to the provider. Its files are nowhere else."""

    id: str
    account_id: str
    type: DocumentType | None
    """None: of a type that we do not know."""
    status: CheckStatus
    created_at: dt.datetime
    processed_at: dt.datetime | None = None
    refusals: Sequence[Refusal] = ()
    reference: str = ""
    provider_type: str = ""
    provider_status: str = ""
    """Its type and its status in the provider's own words."""
    flags: Sequence[str] = ()
    """The provider's own codes of what else it has found."""


class DestinationStatus(StrEnum):
    """Whether money can be sent to a bank account."""

    PENDING = "pending"
    """The representative has to authenticate for it first."""
    ACTIVE = "active"
    CANCELLED = "cancelled"
    """The authentication failed or was not done in time: another one has to be made."""
    DEACTIVATED = "deactivated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DestinationRequest:
    """A bank account to send an account's money to, in one currency. `holder` is who the bank knows it by.

    `iban` is in capitals, without spaces.
    """

    account_id: str
    holder: str
    holder_is_business: bool
    address: Address
    iban: str
    currency: str
    label: str
    """For the account's own lists."""
    first_name: str = ""
    last_name: str = ""
    """Of a holder that is no business."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A bank account that money can be sent to once it is ACTIVE; until then at `action.url`."""

    id: str
    account_id: str
    status: DestinationStatus
    action: UserAction | None = None
    label: str = ""
    provider_status: str = ""
    """Its status in the provider's own word."""
    payee_check: str = ""
    payee_message: str = ""
    """What the bank says of the holder's name, in the provider's code and words; empty: nothing."""
