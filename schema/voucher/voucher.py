"""Vouchers: an experience that somebody bought for somebody."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as Part
from sqlmodel import Field

from schema.catalogue.option import VoucherOption
from schema.catalogue.prototype import VoucherPrototype, VoucherPrototypeType
from schema.core.derived import derived
from schema.core.ownership import of_partner
from schema.core.resource import (
    ClosedSet,
    Fields,
    Text,
    choice,
    closed_set,
    embedded,
    inline,
    moment,
    money,
    relation,
    relations,
    text,
)
from schema.coupon.coupon import Coupon, ReceptionMode
from schema.customer import Customer


@closed_set
class VoucherState(ClosedSet):
    """Where a voucher stands."""

    DRAFT = "draft", "Not paid for yet; it cannot be used."
    PAID = "paid", "It can be used."
    ERROR = "error", "Its payment failed; it cannot be used."
    USING = "using", "Some of it has been used."
    USED = "used", "It has been used."
    EXPIRED = "exprd", "Its time is over; it cannot be used."


@closed_set
class VoucherKind(ClosedSet):
    """Where a voucher comes from."""

    SOLD = "voucher", "It was issued here."
    IMPORTED = "imported", "It was issued by another system."


@closed_set
class ExpeditionStatus(ClosedSet):
    """How far the sending of a paper voucher is."""

    NONE = "none", "It is not sent by post."
    TO_SEND = "to_send", "It is to be sent."
    SENT = "sent", "It was sent."


@strawberry.pydantic.type(description="Who gave a voucher, as told when it was bought.")
class VoucherGifter(BaseModel):
    """Who gave a voucher."""

    civility: str = Part(default="", description="Form of address; empty: none.")
    first_name: str = Part(default="", description="First name.")
    last_name: str = Part(default="", description="Last name.")
    email: str = Part(default="", description="E-mail address; empty: not known.")
    address: str = Part(default="", description="Street and number; empty: not known.")
    postal_code: str = Part(default="", description="Postal code; empty: not known.")
    city: str = Part(default="", description="Town; empty: not known.")
    country: str = Part(default="", description="ISO 3166 alpha-2 code, or as an import named it; empty: not known.")
    wired_phone: str | None = Part(default=None, description="Telephone; null: not known.")
    mobile_phone: str | None = Part(default=None, description="Mobile telephone; null: not known.")


@strawberry.pydantic.type(description="Whom a voucher is for, as told when it was bought.")
class VoucherGiftee(BaseModel):
    """Whom a voucher is for."""

    first_name: str | None = Part(default=None, description="First name; null: not told.")
    last_name: str | None = Part(default=None, description="Last name; null: not told.")
    email: str | None = Part(default=None, description="E-mail address; null: not told.")
    phone_number: str | None = Part(default=None, description="Telephone; null: not told.")
    address: str | None = Part(default=None, description="Where it is sent by post, in lines; null: not told.")


@strawberry.pydantic.type(description="The sending of a paper voucher.")
class VoucherExpedition(BaseModel):
    """The sending of a paper voucher."""

    status: ExpeditionStatus = Part(description="How far it is.")
    sent_on: dt.datetime | None = Part(description="When it was sent; null: it was not.")
    cover_letter_url: str = Part(description="The letter to go with it; empty: none.")


@strawberry.pydantic.type(description="An option that a voucher was bought with.")
class VoucherChosenOption(Fields):
    """An option that a voucher was bought with."""

    id: int = Field(description="Its id.")
    name: Text = text("The option's name that day.")
    count: int = Field(description="How many of it.")
    unit_price = money("unit_price_amount", description="What one cost, VAT included.")
    total_price = money("total_price_amount", description="What all of it cost.")
    option_id: int = Field(description="The option.")
    option = relation(VoucherOption, by="option_id", description="The option as it is now.")
    partner = of_partner()


@strawberry.pydantic.type(description="An option that came with a voucher's prototype.")
class VoucherIncludedOption(Fields):
    """An option that came with a voucher's prototype."""

    id: int = Field(description="Its id.")
    name: Text = text("The option's name that day.")
    source_id: str = Field(default="", max_length=80, description="Its id in the partner's own system; empty: none.")
    count: int = Field(description="How many of it.")
    option_id: int = Field(description="The option.")
    option = relation(VoucherOption, by="option_id", description="The option as it is now.")
    partner = of_partner()


@strawberry.pydantic.type(description="A booking that uses a voucher.")
class VoucherRental(Fields):
    """A booking that uses a voucher."""

    id: int = Field(description="Its id.")
    starts_on: dt.date = Field(description="The first day.")
    ends_on: dt.date | None = Field(default=None, description="The last day; null: the same.")
    reference: str = Field(default="", max_length=80, description="Its number in the booking engine; empty: none.")
    comment: str = Field(default="", max_length=1000, description="What the venue noted; empty: nothing.")
    created_on: dt.datetime = moment("When it was noted.")
    partner = of_partner()


@strawberry.pydantic.type(description="An experience that somebody bought, for somebody or for themselves.")
class Voucher(Fields):
    """An experience that somebody bought."""

    id: int = Field(description="Its id.")
    code: str = Field(max_length=40, description="The code printed on it, in groups of four.")
    state: VoucherState = choice(VoucherState, "Where it stands.", default=VoucherState.DRAFT)
    kind: VoucherKind = choice(VoucherKind, "Where it comes from.", default=VoucherKind.SOLD)
    summary: str | None = Field(default=None, max_length=1000, description="A line about it; null: none.")
    origin: str = Field(default="", max_length=300, description="Where it was sold: an address or a word.")
    imported_from: str = Field(default="", max_length=80, description="The system it was imported from; empty: none.")
    language: str = Field(default="en", max_length=2, description="The language it was bought in.")
    prototype_name: Text = text("The prototype's name that day.")
    prototype_description: Text = text("The prototype's description that day.")
    prototype_rent_conditions: Text = text("What using it is subject to, as of that day.")
    prototype_type: VoucherPrototypeType = choice(VoucherPrototypeType, "What kind of experience it is.")
    voucher_prototype_id: int = Field(description="The prototype.")
    prototype = relation(VoucherPrototype, by="voucher_prototype_id", description="The prototype as it is now.")
    nb_nights: int = Field(default=0, description="Nights.")
    nb_adults: int = Field(default=0, description="Adults.")
    nb_children: int = Field(default=0, description="Children.")
    nb_babies: int = Field(default=0, description="Babies.")
    options = relations(VoucherChosenOption, by="voucher_id", description="The options it was bought with.")
    included_options = relations(
        VoucherIncludedOption, by="voucher_id", description="The options that came with its prototype."
    )
    rentals = relations(VoucherRental, by="voucher_id", description="The bookings that use it.", order="starts_on")
    reception_mode: ReceptionMode = choice(
        ReceptionMode, "How it reaches its recipient.", length=40, default=ReceptionMode.PRINT_AT_HOME
    )
    self_gifted: bool = Field(default=False, description="Whether the buyer keeps it.")
    message: str | None = Field(default=None, max_length=1000, description="What the gifter wrote; null: nothing.")
    to_giftee: str = Field(default="", max_length=160, description='The name that stands after "for"; empty: none.')
    from_gifter: str = Field(default="", max_length=160, description='The name that stands after "from"; empty: none.')
    gifter_details = embedded(inline(VoucherGifter, prefix="gifter_"), "Who gave it, as told when it was bought.")
    giftee_details = embedded(
        inline(VoucherGiftee, {"address": "recipient_address"}, prefix="giftee_"),
        "Whom it is for, as told when it was bought.",
    )
    gifter = relation(Customer, by="gifter_id", description="The customer who gave it; null: not known.", nullable=True)
    giftee = relation(Customer, by="giftee_id", description="The customer it is for; null: not known.", nullable=True)
    total_price = money("total_price_amount", description="Its price with its options, before any coupon.")
    purchase_price = money("purchase_price_amount", description="What was paid for it.")
    rent_price = money("rent_price_amount", description="The price of the prototype, options left out.")
    bought_rent_price = money(
        "bought_rent_price_amount", description="What was paid for the prototype, options left out."
    )
    payment_type: str = Field(default="", max_length=40, description="What it was paid with; empty: not known.")
    is_group_payment: bool = Field(default=False, description="Whether several people paid for it.")
    coupon_id: int | None = Field(default=None, description="The coupon it was bought with; null: none.")
    coupon = relation(Coupon, by="coupon_id", description="The coupon it was bought with; null: none.", nullable=True)
    expedition = embedded(
        inline(
            VoucherExpedition,
            {"sent_on": "expedition_date", "cover_letter_url": "cover_letter_url"},
            prefix="expedition_",
        ),
        "The sending of it on paper.",
    )
    created_on: dt.datetime = moment("When it was made.")
    activated_on: dt.datetime | None = moment(
        "From when on it can be used; null: not paid.", default=None, nullable=True
    )
    used_on: dt.datetime | None = moment("When it was used; null: it was not.", default=None, nullable=True)
    expires_on: dt.datetime | None = moment("When it stops working; null: never.", default=None, nullable=True)
    updated_on: dt.datetime = moment("When it last changed.")
    order_id: int | None = Field(default=None, description="The order it was sold with; null: none.")
    last_day = derived(
        dt.date | None,
        ("expires_on",),
        "The last day on which it works, in the time zone of the caller's marketplace (UTC without one); null: no end.",
    )
    is_usable = derived(
        bool, ("state", "activated_on", "expires_on"), "Whether it can be used now, or what is left of it."
    )
    is_extendable = derived(bool, ("state", "expires_on"), "Whether it can be given more time.")
    is_refundable = derived(
        bool,
        ("state", "kind", "expires_on", "purchase_price_amount"),
        "Whether its price could be paid back: sold here, for money, unused, and its time is not over.",
    )
    document_url = derived(
        str | None,
        ("state", "document_token"),
        "The address of its printable document, a PDF: nobody guesses it, and whoever knows it may open it. "
        "Null where there is none: before it is paid for.",
    )
    partner = of_partner()
