"""Vouchers: experiences bought for oneself or as a gift."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.catalogue.option import VoucherOption
from schema.catalogue.prototype import VoucherPrototype, VoucherPrototypeType
from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived, masked_code_field, pass_url
from schema.core.gift_columns import send_on_column
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import EmbeddedColumns, SchemaModel, embedded, embedded_type, relation, relations
from schema.core.text import Text, translated_text_column
from schema.coupon.coupon import Coupon, ReceptionMode
from schema.customer import Customer


@graphql_enum
class VoucherState(DescribedEnum):
    """The state of a voucher."""

    DRAFT = "draft", "Not paid yet; it cannot be used."
    PAID = "paid", "It can be used."
    ERROR = "error", "Its payment failed; it cannot be used."
    USING = "using", "A part has been used."
    USED = "used", "It has been used."
    EXPIRED = "exprd", "It has expired and cannot be used."


@graphql_enum
class VoucherKind(DescribedEnum):
    """The origin of a voucher."""

    SOLD = "voucher", "It was issued here."
    IMPORTED = "imported", "It was issued by another system."


@graphql_enum
class ExpeditionStatus(DescribedEnum):
    """The status of a voucher's expedition by post."""

    NONE = "none", "It is not sent by post."
    TO_SEND = "to_send", "It has to be sent."
    SENT = "sent", "It was sent."


@embedded_type("The gifter of a voucher, as given at purchase.", prefix="gifter_")
class VoucherGifter(EmbeddedColumns):
    gifter_civility: str = Field(default="", max_length=20, description="Form of address; empty if none.")
    gifter_first_name: str = Field(default="", max_length=80, description="First name.")
    gifter_last_name: str = Field(default="", max_length=80, description="Last name.")
    gifter_email: str = Field(default="", max_length=254, description="E-mail address; empty if unknown.")
    gifter_address: str = Field(default="", max_length=255, description="Street and number; empty if unknown.")
    gifter_postal_code: str = Field(default="", max_length=20, description="Postal code; empty if unknown.")
    gifter_city: str = Field(default="", max_length=80, description="Town; empty if unknown.")
    gifter_country: str = Field(
        default="",
        max_length=80,
        description="ISO 3166 alpha-2 code, or the country as an import named it; empty if unknown.",
    )
    gifter_wired_phone: str | None = Field(
        default=None, max_length=40, description="Telephone number; null if unknown."
    )
    gifter_mobile_phone: str | None = Field(
        default=None, max_length=40, description="Mobile telephone number; null if unknown."
    )


@embedded_type(
    "The giftee of a voucher, as given at purchase.", prefix="giftee_", names={"recipient_address": "address"}
)
class VoucherGiftee(EmbeddedColumns):
    giftee_first_name: str | None = Field(default=None, max_length=80, description="First name; null if not given.")
    giftee_last_name: str | None = Field(default=None, max_length=80, description="Last name; null if not given.")
    giftee_email: str | None = Field(default=None, max_length=254, description="E-mail address; null if not given.")
    giftee_phone_number: str | None = Field(
        default=None, max_length=40, description="Telephone number; null if not given."
    )
    recipient_address: str | None = Field(
        default=None, max_length=600, description="Postal address in lines; null if not given."
    )


@embedded_type("The expedition of a voucher by post.", prefix="expedition_", names={"expedition_date": "sent_on"})
class VoucherExpedition(EmbeddedColumns):
    expedition_status: ExpeditionStatus = enum_column(
        ExpeditionStatus, "The status of the expedition.", default=ExpeditionStatus.NONE
    )
    expedition_date: dt.datetime | None = datetime_column(
        "When it was sent; null if it was not.", default=None, nullable=True
    )
    cover_letter_url: str = Field(default="", max_length=300, description="The URL of the cover letter; empty if none.")


@strawberry.pydantic.type(description="An option that was bought with a voucher.")
class VoucherChosenOption(SchemaModel):
    id: int = id_column("The row's id.")
    name: Text = translated_text_column("The option's name at the time of purchase.")
    count: int = Field(description="The quantity.")
    unit_price_amount: Decimal = money_column()
    unit_price = money("unit_price_amount", description="The unit price, VAT included.")
    total_price_amount: Decimal = money_column()
    total_price = money("total_price_amount", description="The total price, VAT included.")
    option_id: int = Field(foreign_key="voucher_option.id", index=True, description="The option's id.")
    option = relation(VoucherOption, by="option_id", description="The option as it is now.")
    partner = partner_relation()


@strawberry.pydantic.type(description="An option that is included in the price of a voucher's prototype.")
class VoucherIncludedOption(SchemaModel):
    id: int = id_column("The row's id.")
    name: Text = translated_text_column("The option's name at the time of purchase.")
    source_id: str = Field(default="", max_length=80, description="Its id in the partner's own system; empty if none.")
    count: int = Field(description="The quantity.")
    option_id: int = Field(foreign_key="voucher_option.id", index=True, description="The option's id.")
    option = relation(VoucherOption, by="option_id", description="The option as it is now.")
    partner = partner_relation()


@strawberry.pydantic.type(description="A booking that uses a voucher.")
class VoucherRental(SchemaModel):
    id: int = id_column("The booking's id.")
    starts_on: dt.date = Field(description="The first day.")
    ends_on: dt.date | None = Field(default=None, description="The last day; null if it is the first day.")
    reference: str = Field(default="", max_length=80, description="Its number in the booking engine; empty if none.")
    comment: str = Field(default="", max_length=1000, description="A comment of the venue; empty if none.")
    created_on: dt.datetime = datetime_column("When it was recorded.")
    partner = partner_relation()


@strawberry.pydantic.type(description="An experience, bought for oneself or as a gift.")
class Voucher(SchemaModel):
    id: int = id_column("The voucher's id.")
    code: str = Field(max_length=40, description="The code printed on it, in groups of four characters.")
    masked_code = masked_code_field()
    state: VoucherState = enum_column(VoucherState, "The voucher's state.", default=VoucherState.DRAFT)
    kind: VoucherKind = enum_column(
        VoucherKind, "Whether it was issued here or by another system.", default=VoucherKind.SOLD
    )
    summary: str | None = Field(default=None, max_length=1000, description="A one-line summary; null if none.")
    origin: str = Field(default="", max_length=300, description="Where it was sold: a URL or a word.")
    imported_from: str = Field(default="", max_length=80, description="The system it was imported from; empty if none.")
    language: str = Field(default="en", max_length=2, description="The language it was bought in.")
    prototype_name: Text = translated_text_column("The prototype's name at the time of purchase.")
    prototype_description: Text = translated_text_column("The prototype's description at the time of purchase.")
    prototype_rent_conditions: Text = translated_text_column("The conditions of use at the time of purchase.")
    prototype_type: VoucherPrototypeType = enum_column(VoucherPrototypeType, "The type of experience.")
    voucher_prototype_id: int = Field(foreign_key="voucher_prototype.id", index=True, description="The prototype's id.")
    prototype = relation(VoucherPrototype, by="voucher_prototype_id", description="The prototype as it is now.")
    nb_nights: int = Field(default=0, description="The number of nights.")
    nb_adults: int = Field(default=0, description="The number of adults.")
    nb_children: int = Field(default=0, description="The number of children.")
    nb_babies: int = Field(default=0, description="The number of babies.")
    options = relations(VoucherChosenOption, by="voucher_id", description="The options that were bought with it.")
    included_options = relations(
        VoucherIncludedOption, by="voucher_id", description="The options that were included in its prototype."
    )
    rentals = relations(VoucherRental, by="voucher_id", description="The bookings that use it.", order="starts_on")
    reception_mode: ReceptionMode = enum_column(
        ReceptionMode, "How it reaches its recipient.", length=40, default=ReceptionMode.PRINT_AT_HOME
    )
    self_gifted: bool = Field(default=False, description="Whether the buyer keeps it.")
    message: str | None = Field(default=None, max_length=1000, description="The gifter's message; null if none.")
    to_giftee: str = Field(default="", max_length=160, description='The name printed after "for"; empty if none.')
    from_gifter: str = Field(default="", max_length=160, description='The name printed after "from"; empty if none.')
    send_on: dt.datetime | None = send_on_column()
    gifter_details = embedded(VoucherGifter, "The gifter, as given at purchase.")
    giftee_details = embedded(VoucherGiftee, "The giftee, as given at purchase.")
    gifter = relation(Customer, by="gifter_id", description="The customer who gave it; null if unknown.", nullable=True)
    giftee = relation(
        Customer, by="giftee_id", description="The customer who received it; null if unknown.", nullable=True
    )
    total_price_amount: Decimal = money_column()
    total_price = money("total_price_amount", description="Its price with options, before coupons.")
    purchase_price_amount: Decimal = money_column()
    purchase_price = money("purchase_price_amount", description="The price that was paid.")
    rent_price_amount: Decimal = money_column()
    rent_price = money("rent_price_amount", description="The price of the prototype, without options.")
    bought_rent_price_amount: Decimal = money_column()
    bought_rent_price = money(
        "bought_rent_price_amount", description="The price that was paid for the prototype, without options."
    )
    payment_type: str = Field(default="", max_length=40, description="The payment method; empty if unknown.")
    is_group_payment: bool = Field(default=False, description="Whether several people paid for it.")
    coupon_id: int | None = Field(
        default=None,
        foreign_key="coupon.id",
        index=True,
        description="The id of the coupon it was bought with; null if none.",
    )
    coupon = relation(Coupon, by="coupon_id", description="The coupon it was bought with; null if none.", nullable=True)
    expedition = embedded(VoucherExpedition, "Its expedition by post.")
    created_on: dt.datetime = datetime_column("When it was created.")
    activated_on: dt.datetime | None = datetime_column(
        "When it becomes usable; null if it is not paid.", default=None, nullable=True
    )
    used_on: dt.datetime | None = datetime_column("When it was used; null if it was not.", default=None, nullable=True)
    expires_on: dt.datetime | None = datetime_column("When it expires; null if never.", default=None, nullable=True)
    updated_on: dt.datetime = datetime_column("When it was last updated.")
    frozen_on: dt.datetime | None = datetime_column(
        "Since when it cannot be used because the payment of its order is disputed; null normally.",
        default=None,
        nullable=True,
    )
    refunded_on: dt.datetime | None = datetime_column(
        "When it was refunded, with its line of the order; null normally. It cannot be used since.",
        default=None,
        nullable=True,
    )
    order_id: int | None = Field(
        default=None,
        foreign_key="shop_order.id",
        index=True,
        description="The id of the order it was sold with; null if none.",
    )
    last_day = derived(
        dt.date | None,
        ("expires_on",),
        "The last day on which it can be used, in the time zone of the caller's marketplace (UTC "
        "without one); null if it never expires.",
    )
    is_usable = derived(
        bool,
        ("state", "activated_on", "expires_on", "frozen_on", "refunded_on"),
        "Whether it, or the rest of it, can be used now.",
    )
    is_extendable = derived(bool, ("state", "expires_on", "refunded_on"), "Whether its validity can be extended.")
    is_refundable = derived(
        bool,
        ("state", "kind", "expires_on", "purchase_price_amount", "frozen_on", "refunded_on"),
        "Whether its price could be refunded: sold here at a price above zero, unused, not expired and not frozen.",
    )
    document_url = derived(
        str | None,
        ("state", "document_token"),
        "The URL of its printable PDF document. The URL cannot be guessed; it needs no "
        "authentication. Null before it is paid.",
    )
    apple_wallet_url = pass_url("Apple Wallet", "state", "document_token", "partner_id")
    google_wallet_url = pass_url("Google Wallet", "state", "document_token", "partner_id")
    partner = partner_relation()
