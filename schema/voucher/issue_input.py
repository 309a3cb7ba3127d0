"""What it takes to issue vouchers, and to import those of another system."""

import datetime as dt
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schema.core.ownership import FOR_WHOM
from schema.core.resource import Fields, TextInput, writable_as
from schema.coupon.coupon import ReceptionMode
from schema.validation.characters import lines_up_to, up_to
from schema.validation.contact import Email, Phone
from schema.validation.languages import LANGUAGES
from schema.validation.numbers import MoneyAmount, RowId
from schema.voucher.input import Address, LongText, Name, ShortText
from schema.voucher.voucher import Voucher, VoucherChosenOption, VoucherGiftee, VoucherGifter, VoucherState

MOST_IMPORTED = 500
Persons = Annotated[int, Field(ge=0, le=999)]
Nights = Annotated[int, Field(ge=0, le=365)]
Word = Annotated[str, up_to(40)]


def _language(value: str) -> str:
    if value not in LANGUAGES:
        raise PydanticCustomError("language", "Send one of {languages}.", {"languages": ", ".join(LANGUAGES)})
    return value


Language = Annotated[str, AfterValidator(_language)]


@writable_as(VoucherGifter)
class VoucherGifterInput(Fields):
    """Who gives a voucher. What is left out is not known."""

    civility: Annotated[str, up_to(20)] = ""
    first_name: Name = ""
    last_name: Name = ""
    email: Email = ""
    address: Annotated[str, lines_up_to(255)] = ""
    postal_code: Annotated[str, up_to(20)] = ""
    city: Name = ""
    country: Name = ""
    wired_phone: Phone | None = None
    mobile_phone: Phone | None = None


@writable_as(VoucherGiftee)
class NewVoucherGifteeInput(Fields):
    """Whom a voucher is for. What is left out is not known."""

    first_name: Name | None = None
    last_name: Name | None = None
    email: Email | None = None
    phone_number: Phone | None = None
    address: Address | None = None


@writable_as(VoucherChosenOption)
class ChosenOptionInput(Fields):
    """An option to add."""

    option_id: RowId = Field(description="The option.")
    count: Annotated[int, Field(ge=1, le=99)] = 1


class Given(Fields):
    """Who gives a voucher to whom, and how it reaches them."""

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
    payment_type: Word = ""


@writable_as(Voucher)
class IssueVoucher(Given):
    """A voucher as the shop would sell it: for as many persons and nights, with such options, at its price."""

    voucher_prototype_id: RowId
    nb_adults: Persons = 1
    nb_nights: Nights = Field(default=0, description="Nights of a stay; 0: the fewest.")
    options: Annotated[list[ChosenOptionInput], Field(max_length=100)] = Field(
        default_factory=list, description="What to add."
    )
    state: VoucherState = Field(
        default=VoucherState.PAID, description="`PAID`: it works at once. `DRAFT`: it does not, until it is paid."
    )
    purchase_price: MoneyAmount | None = Field(
        default=None, description="What is paid for it, in the partner's currency; left out: its price."
    )


@writable_as(Voucher)
class ImportedVoucher(Given):
    """A voucher that another system issued, as it stands there. Amounts are in the partner's currency."""

    code: str = Field(
        description="Its code there: 3 to 40 characters, spaces and hyphens not counted, without `/`, matched ignoring case."
    )
    voucher_prototype_id: RowId
    state: VoucherState = VoucherState.PAID
    imported_from: Annotated[str, up_to(80, least=1)] = Field(description="The system it comes from.")
    origin: Annotated[str, up_to(300)] = ""
    summary: LongText | None = None
    prototype_name: TextInput | None = Field(
        default=None, description="What it was called there; left out: the prototype's name."
    )
    total_price: MoneyAmount = Field(description="Its price, before any reduction.")
    purchase_price: MoneyAmount | None = Field(default=None, description="What was paid for it; left out: its price.")
    created_on: dt.datetime | None = Field(default=None, description="When it was issued there; left out: now.")
    activated_on: dt.datetime | None = Field(
        default=None, description="From when on it can be used; left out: since it was made, unless it is not paid."
    )
    used_on: dt.datetime | None = Field(default=None, description="When it was used; wanted of one that is `USED`.")
    expires_on: dt.datetime | None = None


@writable_as(Voucher)
class ImportVoucher(ImportedVoucher):
    """A voucher that another system issued, as it stands there. Amounts are in the partner's currency."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)


@writable_as(Voucher)
class ImportVouchers(Fields):
    """Vouchers that another system issued: all of them are taken over, or none."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    vouchers: Annotated[list[ImportedVoucher], Field(min_length=1, max_length=MOST_IMPORTED)] = Field(
        description=f"1 to {MOST_IMPORTED} of them."
    )
