"""Vouchers that a partner issues itself, without a checkout: by telephone, at a venue, or as a goodwill gesture."""

from collections.abc import Collection, Sequence
from decimal import ROUND_HALF_UP, Decimal

from sqlmodel import col, select

from resolvers.core.input_mapping import embedded_of, values_of
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import visible_conditions
from schema.checkout.basket import VoucherChoice
from schema.core.errors import InvalidInput, Problem, ProblemPath
from schema.core.input_errors import ProblemCollector, already_reported, raise_if_problems
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.coupon.coupon import ReceptionMode
from schema.validation.countries import country_code
from schema.validation.numbers import CENT, LARGEST_AMOUNT
from schema.voucher.issue_input import IssueVoucher, VoucherIssueFields
from schema.voucher.voucher import Voucher, VoucherGiftee, VoucherGifter, VoucherState
from store.catalogue.catalogue import VoucherPrototypeRow
from store.catalogue.offers import ShopPrototype, load_prototypes
from store.catalogue.prices import nights_of, rent_price
from store.checkout.basket_lines import chosen_options, party_of, voucher_problems
from store.voucher.issuing import NewVoucher, NewVoucherOption, issue_vouchers
from store.voucher.payment import zone_of
from store.voucher.vouchers import VoucherRow

ISSUABLE_STATES = (VoucherState.PAID, VoucherState.DRAFT)
INPUT_FIELDS = {"adults": "nb_adults", "children": "nb_children", "babies": "nb_babies", "nights": "nb_nights"}
"""Field of the shop's choice -> field of the input."""


@operation(Permission.UPDATE_VOUCHER)
async def issue_voucher(call: Call, input: IssueVoucher) -> Voucher:
    """Issue a voucher on the terms of the shop: the prototype must be on sale, the persons, nights and options must be
    allowed, and the price is the shop's price. The amount actually paid may differ.
    """
    now = call.services.clock.now()
    findings, sold = ProblemCollector(), already_reported(ShopPrototype)
    with findings.collect():
        partner_id, sold = await _find_sold_prototype(call, input.voucher_prototype_id)
    with findings.collect():
        _check_state(input)
    with findings.collect():
        _check_country(input)
    with findings.collect():
        raise_if_problems(_choice_problems(input, sold))
    with findings.collect():
        raise_if_problems(recipient_problems(input))
    findings.raise_problems()
    return (await issue_vouchers(call.db, [_new_voucher(partner_id, sold, input)], now))[0]


async def _find_sold_prototype(call: Call, prototype_id: int) -> tuple[int, ShopPrototype]:
    """The id of the partner, and the prototype as sold today. Raises InvalidInput if it is unknown or not on sale."""
    query = select(VoucherPrototypeRow.partner_id).where(
        *visible_conditions(call.caller, VoucherPrototypeRow), col(VoucherPrototypeRow.id) == prototype_id
    )
    partner_id = (await call.db.exec(query)).one_or_none()
    if partner_id is None:
        raise InvalidInput.at("voucher_prototype_id", "No prototype of yours has this id.")
    today = call.services.clock.now().astimezone(await zone_of(call.db, partner_id)).date()
    sold = (await load_prototypes(call.db, partner_id, today, [prototype_id]))[prototype_id]
    if not sold.is_on_sale:
        raise InvalidInput.at(
            "voucher_prototype_id", "This prototype is not on sale: it is inactive, or its last day of sale has passed."
        )
    return partner_id, sold


def _choice(input: IssueVoucher) -> VoucherChoice:
    """The input as a choice in the shop."""
    options = {option.option_id: option.count for option in input.options}
    return VoucherChoice(
        0, input.nb_adults, input.nb_children, input.nb_babies, nights=input.nb_nights, options=options
    )


def _check_state(input: IssueVoucher) -> None:
    """Imported vouchers may have any state; issued ones may not."""
    if input.state not in ISSUABLE_STATES:
        raise InvalidInput.at("state", "A voucher is issued as `PAID` or as `DRAFT`.")


def _check_country(input: IssueVoucher) -> None:
    """Imported vouchers may have any text as country; issued ones may not."""
    country = gifter_of(input).gifter_country
    if country and country_code(country) is None:
        raise InvalidInput.at(("gifter_details", "country"), "Send a country: its ISO 3166 code, or its name.")


def _choice_problems(input: IssueVoucher, sold: ShopPrototype) -> Sequence[Problem]:
    """The problems that the shop reports for this choice, at the fields of the input."""
    ids = [option.option_id for option in input.options]
    twice = [
        Problem(("options", at, "option_id"), "INVALID", "Send each option once, with its count.")
        for at, id in enumerate(ids)
        if id in ids[:at]
    ]
    if twice:
        return twice

    def place(of_choice: ProblemPath) -> ProblemPath:
        kind, *rest = of_choice
        if kind == "options":
            return ("options", ids.index(int(rest[0])), "option_id")
        return ("options",) if kind == "categories" else (INPUT_FIELDS[str(kind)],)

    return [Problem(place(p.path), p.code, p.message) for p in voucher_problems(_choice(input), sold)]


def recipient_problems(input: VoucherIssueFields) -> Sequence[Problem]:
    """Problems with the recipient: the e-mail or postal address that the reception mode needs is missing."""
    gifter, giftee = gifter_of(input), giftee_of(input)
    if input.self_gifted and input.giftee_details is not None:
        return (Problem(("giftee_details",), "INVALID", "A self-gifted voucher has no giftee."),)
    email = gifter.gifter_email if input.self_gifted else giftee.giftee_email
    address = gifter.gifter_address if input.self_gifted else giftee.recipient_address
    side = "gifter_details" if input.self_gifted else "giftee_details"
    match input.reception_mode:
        case ReceptionMode.GIFTEE_EMAIL if not email:
            return (Problem((side, "email"), "REQUIRED", "The voucher is sent by e-mail: send the address."),)
        case ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY if not address:
            return (Problem((side, "address"), "REQUIRED", "The voucher is sent by post: send the address."),)
        case ReceptionMode.EXPEDITION if not gifter.gifter_address:
            return (
                Problem(("gifter_details", "address"), "REQUIRED", "The voucher is sent by post: send the address."),
            )
        case _:
            return ()


def gifter_of(input: VoucherIssueFields) -> VoucherGifter:
    return embedded_of(VoucherGifter, input.gifter_details)


def giftee_of(input: VoucherIssueFields) -> VoucherGiftee:
    return embedded_of(VoucherGiftee, input.giftee_details)


def _new_voucher(partner_id: int, sold: ShopPrototype, input: IssueVoucher) -> NewVoucher:
    choice = _choice(input)
    rent = rent_price(sold.offered, sold.rates, party_of(choice))
    options = chosen_options(choice, sold.offered.categories)
    total = rent + sum((chosen.total for chosen in options), Decimal("0.00"))
    if total > LARGEST_AMOUNT:
        raise InvalidInput.at(
            "voucher_prototype_id",
            TemplatedMessage("A voucher costs at most {most}.", most=LARGEST_AMOUNT),
            "OUT_OF_RANGE",
        )
    paid = total if input.purchase_price is None else input.purchase_price
    row = voucher_row(input, skip={"options", "purchase_price", "nb_nights"})
    row.partner_id = partner_id
    row.nb_nights = nights_of(sold.offered, party_of(choice))
    row.total_price_amount, row.purchase_price_amount = total, paid
    row.rent_price_amount, row.bought_rent_price_amount = rent, rent_part(paid, rent, total)
    return NewVoucher(row, [NewVoucherOption(each.option.id, each.count, each.option.price) for each in options])


def voucher_row(input: VoucherIssueFields, *, skip: Collection[str]) -> VoucherRow:
    """The row of a voucher with the fields of its input. Empty texts about the giftee, and an empty message, are
    null.
    """
    row = VoucherRow(**values_of(input, skip))
    for column in ("message", *VoucherGiftee.model_fields):
        setattr(row, column, getattr(row, column) or None)
    return row


def rent_part(paid: Decimal, rent: Decimal, total: Decimal) -> Decimal:
    """The part of the payment for the prototype without options, in proportion to the price, rounded to cents."""
    return (paid * rent / total).quantize(CENT, ROUND_HALF_UP) if total else paid
