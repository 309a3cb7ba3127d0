"""Inputs that issue vouchers, and import those of another system."""

import datetime as dt
from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.ownership import PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.coupon.coupon import ReceptionMode
from schema.validation.characters import line_up_to, multiline_up_to
from schema.validation.contact import Email, Phone
from schema.validation.languages import Language
from schema.validation.numbers import MoneyAmount, RowId
from schema.voucher.input import Address, LongText, Name, ShortText
from schema.voucher.voucher import Voucher, VoucherChosenOption, VoucherGiftee, VoucherGifter, VoucherState

MOST_IMPORTED = 500
Persons = Annotated[int, Field(ge=0, le=999)]
Nights = Annotated[int, Field(ge=0, le=365)]
PaymentType = Annotated[str, line_up_to(40)]


@graphql_input_for(VoucherGifter)
class VoucherGifterInput(SchemaModel):
    """The gifter of a voucher. Omitted fields are unknown."""

    civility: Annotated[str, line_up_to(20)] = ""
    first_name: Name = ""
    last_name: Name = ""
    email: Email = ""
    address: Annotated[str, multiline_up_to(255)] = ""
    postal_code: Annotated[str, line_up_to(20)] = ""
    city: Name = ""
    country: Name = ""
    wired_phone: Phone | None = None
    mobile_phone: Phone | None = None


@graphql_input_for(VoucherGiftee)
class NewVoucherGifteeInput(SchemaModel):
    """The giftee of a voucher. Omitted fields are unknown."""

    first_name: Name | None = None
    last_name: Name | None = None
    email: Email | None = None
    phone_number: Phone | None = None
    address: Address | None = None


@graphql_input_for(VoucherChosenOption)
class ChosenOptionInput(SchemaModel):
    """An option to add to a voucher."""

    option_id: RowId = Field(description="The id of the option.")
    count: Annotated[int, Field(ge=1, le=99)] = 1


class VoucherIssueFields(SchemaModel):
    """The fields that issuing and importing share: gifter, giftee, reception and persons."""

    gifter_details: VoucherGifterInput | None = None
    giftee_details: NewVoucherGifteeInput | None = None
    self_gifted: bool = False
    message: LongText | None = None
    to_giftee: ShortText = ""
    from_gifter: ShortText = ""
    reception_mode: ReceptionMode = ReceptionMode.PRINT_AT_HOME
    language: Language = "en"
    nb_nights: Nights = 0
    nb_adults: Persons = 0
    nb_children: Persons = 0
    nb_babies: Persons = 0
    payment_type: PaymentType = ""


@graphql_input_for(Voucher)
class IssueVoucher(VoucherIssueFields):
    """Issue a voucher as the shop sells it: the prototype limits persons, nights and options, and sets the price."""

    voucher_prototype_id: RowId
    nb_adults: Persons = 1
    nb_nights: Nights = Field(default=0, description="The number of nights of a stay; 0 for the minimum.")
    options: Annotated[list[ChosenOptionInput], Field(max_length=100)] = Field(
        default_factory=list, description="The options to add."
    )
    state: VoucherState = Field(
        default=VoucherState.PAID,
        description="`PAID`: it can be used at once. `DRAFT`: it can be used after it is paid.",
    )
    purchase_price: MoneyAmount | None = Field(
        default=None, description="The price paid, in the partner's currency; its own price if omitted."
    )


@graphql_input_for(Voucher)
class ImportedVoucher(VoucherIssueFields):
    """A voucher that another system issued, in its current state. Amounts are in the partner's currency."""

    code: str = Field(
        description="Its code: 3 to 40 characters without `/`, not counting spaces and hyphens; case is ignored."
    )
    voucher_prototype_id: RowId
    state: VoucherState = VoucherState.PAID
    imported_from: Annotated[str, line_up_to(80, min_length=1)] = Field(description="The system it comes from.")
    origin: Annotated[str, line_up_to(300)] = ""
    summary: LongText | None = None
    prototype_name: TextInput | None = Field(
        default=None, description="Its name in the other system; the prototype's name if omitted."
    )
    total_price: MoneyAmount = Field(description="Its price, before discounts.")
    purchase_price: MoneyAmount | None = Field(default=None, description="The price paid; its own price if omitted.")
    created_on: dt.datetime | None = Field(default=None, description="When it was issued; now if omitted.")
    activated_on: dt.datetime | None = Field(
        default=None, description="When it became usable; if omitted, when it was created, unless it is not paid."
    )
    used_on: dt.datetime | None = Field(default=None, description="When it was used; required if it is `USED`.")
    expires_on: dt.datetime | None = None


@graphql_input_for(Voucher)
class ImportVoucher(ImportedVoucher):
    """Import a voucher that another system issued, in its current state. Amounts are in the partner's currency."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)


@graphql_input_for(Voucher)
class ImportVouchers(SchemaModel):
    """Import vouchers that another system issued: all of them, or none."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    vouchers: Annotated[list[ImportedVoucher], Field(min_length=1, max_length=MOST_IMPORTED)] = Field(
        description=f"1 to {MOST_IMPORTED} vouchers."
    )
    dry_run: bool = Field(default=False, description="Whether to check them only: nothing is imported.")
