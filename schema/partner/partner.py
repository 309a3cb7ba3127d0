"""Marketplaces, partners, users and tokens."""

import datetime as dt
from uuid import UUID

import strawberry
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, VARCHAR
from sqlmodel import Field

from schema.core.permission import Permission
from schema.core.resource import (
    ClosedSet,
    Fields,
    choice,
    closed_set,
    computed,
    embedded,
    guarded,
    inline,
    moment,
    relation,
    relations,
)
from schema.kyc.kyc import Kyc
from schema.onboarding import PaymentCapability
from schema.partner.parts import (
    OF_PARTNER,
    BankDetails,
    CompanyType,
    GiftCardOffer,
    HeadOffice,
    LegalRepresentative,
    NetworkLinks,
    PayoutSettings,
    Registration,
)


@closed_set
class PartnerStatus(ClosedSet):
    """Whether a partner sells."""

    ACTIVE = "a", "It sells."
    INACTIVE = "i", "It does not sell."
    TEST = "t", "It tries things out: its payments go through the sandbox provider only."
    NEW = "n", "Its network has listed it, and has not said yet whether it sells."


@strawberry.pydantic.type(description="A network of partners that accept each other's gift cards and vouchers.")
class Marketplace(Fields):
    """A network of partners."""

    id: int = Field(description="Its id.")
    uuid: UUID = Field(description="Its uuid.")
    name: str = Field(max_length=120, description="What customers see.")
    domain: str = Field(default="", max_length=253, description="Its site, without a scheme.")
    currency: str = Field(default="EUR", max_length=3, description="ISO 4217 code of all its prices.")
    time_zone: str = Field(
        default="Europe/Paris", max_length=64, description="IANA name; times without an offset are read in it."
    )


@strawberry.pydantic.type(description="Who sells: a resort, a restaurant, a spa, a shop.")
class Partner(Fields):
    """Who sells."""

    id: int = Field(description="Its id.")
    uuid: UUID = Field(description="Its uuid: what the payment operations name it by.")
    source_id: str = Field(max_length=40, description="The id that the network's own systems know it by.")
    status: PartnerStatus = choice(PartnerStatus, "Whether it sells.", default=PartnerStatus.INACTIVE)
    name: str = Field(default="", max_length=120, description="Its legal name.")
    commercial_name: str = Field(max_length=120, description="The name customers see.")
    short_name: str = Field(max_length=60, description="A short name, for addresses and lists.")
    site_domain: str = Field(
        max_length=253, unique=True, description="The host, with a port where there is one, of its checkout funnel."
    )
    agency_email: str = Field(default="", max_length=254, description="Where customers and orders reach it.")
    agency_phone: str = Field(default="", max_length=40, description="Its telephone number.")
    website: str = Field(default="", max_length=2048, description="Its own site; expired links lead back to it.")
    accent_colour: str = Field(
        default="#1f4e5f",
        max_length=7,
        description="`#rrggbb`; the colour of its buttons and links. Text in it or on it is shown in a shade that can be read.",
    )
    language: str = Field(default="en", max_length=2, description="The language that we write to it in.")
    payments_active: bool = Field(default=False, description="Whether it can be paid by card.")
    company_type: CompanyType | None = choice(
        CompanyType, "What it is before the law; null: not known.", default=None, nullable=True
    )
    hide_from_stats: bool = Field(default=False, description="Whether statistics leave it out.")
    third_party_sales_only: bool = Field(
        default=False, description="Whether it sells through others only, and not in a shop of its own."
    )
    referrer: int | None = Field(default=None, description="The id of who brought it in; null: nobody, or not known.")
    logo_url: str = Field(
        default="", max_length=300, description="Its logo, as a path on every host of this service; empty: none."
    )
    return_hosts: list[str] = Field(
        default_factory=list,
        sa_type=JSONB,
        description="The hosts that the `returnUrl` of a cart may lead to, with a port where there is one; empty: any.",
    )
    return_with_order_number: bool = Field(
        default=False, description="Whether customers come back with the number of their order in the address."
    )
    tags: list[str] = Field(
        default_factory=list, sa_type=ARRAY(VARCHAR(60)), description="Words its network sorts partners by."
    )
    created_on: dt.datetime = moment("When it was made.")
    marketplace = relation(Marketplace, by="marketplace_id", description="The network it belongs to.")
    registration = embedded(inline(Registration), "The company, as it is registered.")
    head_office = guarded(
        inline(HeadOffice, prefix="hq_"), OF_PARTNER, "Where its head office is; null: not for you to see."
    )
    legal_representative = guarded(
        inline(LegalRepresentative, prefix="legal_representative_"),
        OF_PARTNER,
        "Who answers for it before the law; null: not for you to see.",
    )
    bank_account = guarded(
        inline(BankDetails), OF_PARTNER, "The account that it is paid out to; null: not for you to see."
    )
    payout_settings = guarded(
        inline(
            PayoutSettings,
            {
                "frequency": "payout_frequency",
                "auto_validate": "auto_validate_payout",
                "may_freeze": "freeze_payout",
                "block_validation": "block_payout_validation",
            },
        ),
        OF_PARTNER,
        "When and how it is paid out; null: not for you to see.",
    )
    network_links = embedded(
        inline(NetworkLinks, {"vouchers": "linked_to_nv_settings", "gift_cards": "linked_to_ngc_settings"}),
        "What it takes part in, of what its network sells.",
    )
    gift_card_offer = computed(GiftCardOffer, "Which gift cards it sells in its shop.")
    kyc = computed(
        Kyc,
        "Whether it is identified, as its payment provider last said; null: not for you to see.",
        guard=OF_PARTNER,
    )
    payment_capability = computed(
        PaymentCapability,
        "Whether it can be paid by card, and what is needed of it; null: not for you to see.",
        guard=OF_PARTNER,
    )


@closed_set
class UserRole(ClosedSet):
    """Whose data a user sees."""

    PARTNER = "partner", "That of one partner."
    MARKETPLACE = "marketplace", "That of all partners of one marketplace."
    MASTER = "master", "Everything."


@strawberry.pydantic.type(description="A credential of a user. Its secret is shown once, when it is made.")
class Token(Fields):
    """A credential of a user."""

    id: int = Field(description="Its id, which says nothing of its secret.")
    label: str = Field(default="", max_length=80, description="What it is for.")
    hint: str = Field(
        default="", max_length=12, description="The first characters of the secret, to tell tokens apart."
    )
    created_on: dt.datetime = moment("When it was made.")
    expires_on: dt.datetime | None = moment("When it stops working; null: never.", default=None, nullable=True)
    last_used_on: dt.datetime | None = moment(
        "When it was last used, to the minute; null: never.", default=None, nullable=True
    )
    revoked_on: dt.datetime | None = moment("When it was revoked; null: it was not.", default=None, nullable=True)


@strawberry.pydantic.type(description="Somebody, or some program, that logs in.")
class User(Fields):
    """Somebody that logs in."""

    id: int = Field(description="The user's id.")
    first_name: str = Field(default="", max_length=80, description="What the user is called.")
    username: str = Field(max_length=254, unique=True, description="What is typed to log in; often the e-mail address.")
    email: str = Field(default="", max_length=254, description="Where the user gets mail; empty: nowhere.")
    role: UserRole = choice(UserRole, "Whose data the user sees.")
    is_active: bool = Field(default=True, description="Whether the user may log in, and its tokens work.")
    created_on: dt.datetime = moment("When the user was made.")
    partner = relation(
        Partner, by="partner_id", description="The partner that the user works for; null: none.", nullable=True
    )
    marketplace = relation(
        Marketplace,
        by="marketplace_id",
        description="The marketplace that the user works for; null: none, or that of the partner.",
        nullable=True,
    )
    effective_permissions = computed(
        list[Permission], "What the user may do: what was granted, else what the role may do by default."
    )
    tokens = relations(Token, by="user_id", description="The user's tokens, revoked and expired ones too.")
