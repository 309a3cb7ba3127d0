"""Vouchers that a partner issues by itself: on the telephone, at its desk, as a gesture."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from sqlmodel import col, select

from resolvers.core.operation import Call, operation
from resolvers.core.scoping import visible
from schema.checkout.basket import VoucherChoice
from schema.core.errors import InvalidInput, Path, Problem
from schema.core.input_errors import Findings, refuse, told_already
from schema.core.permission import Permission
from schema.coupon.coupon import ReceptionMode
from schema.validation.countries import country_code
from schema.validation.numbers import CENT, LARGEST_AMOUNT
from schema.voucher.issue_input import Given, IssueVoucher
from schema.voucher.voucher import Voucher, VoucherGiftee, VoucherGifter, VoucherState
from store.catalogue.catalogue import VoucherPrototypeRow
from store.catalogue.offers import SoldPrototype, load_prototypes
from store.catalogue.prices import nights_of, rent_price
from store.checkout.basket_lines import chosen_options, party_of, voucher_problems
from store.voucher.activation import zone_of
from store.voucher.issuing import ChosenOption, NewVoucher, issue_vouchers

ISSUED = (VoucherState.PAID, VoucherState.DRAFT)
PLACES = {"adults": "nb_adults", "children": "nb_children", "babies": "nb_babies", "nights": "nb_nights"}
"""What the shop and the input call by different names."""


@operation(Permission.UPDATE_VOUCHER)
async def issue_voucher(call: Call, input: IssueVoucher) -> Voucher:
    """Issue a voucher as the shop would sell it, at the shop's price: only what is sold today, for as many persons and
    nights, with such options as the shop would offer. What was really paid may be another amount.
    """
    now = call.services.clock.now()
    findings, sold = Findings(), told_already(SoldPrototype)
    with findings.of_one():
        partner_id, sold = await _sold(call, input.voucher_prototype_id)
    with findings.of_one():
        _check_state(input)
    with findings.of_one():
        _check_country(input)
    with findings.of_one():
        refuse(_choice_problems(input, sold))
    with findings.of_one():
        refuse(recipient_problems(input))
    findings.tell()
    return (await issue_vouchers(call.db, [_new(partner_id, sold, input)], now))[0]


async def _sold(call: Call, prototype_id: int) -> tuple[int, SoldPrototype]:
    """The prototype, as the shop sells it today, and whose it is."""
    query = select(VoucherPrototypeRow.partner_id).where(
        *visible(call.caller, VoucherPrototypeRow), col(VoucherPrototypeRow.id) == prototype_id
    )
    partner_id = (await call.db.exec(query)).one_or_none()
    if partner_id is None:
        raise InvalidInput.at("voucher_prototype_id", "No prototype of yours has this id.")
    today = call.services.clock.now().astimezone(await zone_of(call.db, partner_id)).date()
    sold = (await load_prototypes(call.db, partner_id, today, [prototype_id]))[prototype_id]
    if not sold.is_sold:
        raise InvalidInput.at(
            "voucher_prototype_id", "This prototype is not sold: it is inactive, or its last day is over."
        )
    return partner_id, sold


def _choice(input: IssueVoucher) -> VoucherChoice:
    """What was sent as a customer would have chosen it."""
    options = {option.option_id: option.count for option in input.options}
    return VoucherChoice(
        0, input.nb_adults, input.nb_children, input.nb_babies, nights=input.nb_nights, options=options
    )


def _check_state(input: IssueVoucher) -> None:
    """Only another system may say any state of its vouchers."""
    if input.state not in ISSUED:
        raise InvalidInput.at("state", "A voucher is issued as `PAID` or as `DRAFT`.")


def _check_country(input: IssueVoucher) -> None:
    """Only another system may say a country as it wrote it."""
    country = gifter_of(input).country
    if country and country_code(country) is None:
        raise InvalidInput.at(("gifter_details", "country"), "Send a country: its ISO 3166 code, or its name.")


def _choice_problems(input: IssueVoucher, sold: SoldPrototype) -> Sequence[Problem]:
    """What the shop would refuse, told at the fields of the input."""
    ids = [option.option_id for option in input.options]
    twice = [
        Problem(("options", at, "option_id"), "INVALID", "Send each option once, with how many of it.")
        for at, id in enumerate(ids)
        if id in ids[:at]
    ]
    if twice:
        return twice

    def place(of_choice: Path) -> Path:
        kind, *rest = of_choice
        if kind == "options":
            return ("options", ids.index(int(rest[0])), "option_id")
        return ("options",) if kind == "categories" else (PLACES[str(kind)],)

    return [Problem(place(p.path), p.code, p.message) for p in voucher_problems(_choice(input), sold)]


def recipient_problems(input: Given) -> Sequence[Problem]:
    """Whether a voucher can reach its recipient in the way that it is to."""
    gifter, giftee = gifter_of(input), giftee_of(input)
    if input.self_gifted and input.giftee_details is not None:
        return (Problem(("giftee_details",), "INVALID", "The buyer keeps it: it is for nobody else."),)
    email = gifter.email if input.self_gifted else giftee.email
    address = gifter.address if input.self_gifted else giftee.address
    side = "gifter_details" if input.self_gifted else "giftee_details"
    match input.reception_mode:
        case ReceptionMode.GIFTEE_EMAIL if not email:
            return (Problem((side, "email"), "REQUIRED", "It goes by e-mail: send the address."),)
        case ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY if not address:
            return (Problem((side, "address"), "REQUIRED", "It goes by post: send the address."),)
        case ReceptionMode.EXPEDITION if not gifter.address:
            return (Problem(("gifter_details", "address"), "REQUIRED", "It goes by post: send the address."),)
        case _:
            return ()


def gifter_of(input: Given) -> VoucherGifter:
    sent = input.gifter_details
    return VoucherGifter() if sent is None else VoucherGifter(**sent.model_dump())


def giftee_of(input: Given) -> VoucherGiftee:
    """Whom it is for; an empty text is nothing."""
    sent = input.giftee_details
    return VoucherGiftee() if sent is None else VoucherGiftee(**{k: v or None for k, v in sent.model_dump().items()})


def _new(partner_id: int, sold: SoldPrototype, input: IssueVoucher) -> NewVoucher:
    choice = _choice(input)
    rent = rent_price(sold.offered, sold.rates, party_of(choice))
    options = chosen_options(choice, sold.offered.categories)
    total = rent + sum((chosen.total for chosen in options), Decimal("0.00"))
    if total > LARGEST_AMOUNT:
        raise InvalidInput.at("voucher_prototype_id", f"A voucher costs at most {LARGEST_AMOUNT}.", "OUT_OF_RANGE")
    paid = total if input.purchase_price is None else input.purchase_price
    return NewVoucher(
        partner_id=partner_id,
        prototype_id=input.voucher_prototype_id,
        options=[ChosenOption(chosen.option.id, chosen.count, chosen.option.price) for chosen in options],
        nb_nights=nights_of(sold.offered, party_of(choice)),
        rent_price=rent,
        total_price=total,
        bought_rent_price=rent_part(paid, rent, total),
        purchase_price=paid,
        gifter=gifter_of(input),
        giftee=giftee_of(input),
        state=input.state,
        nb_adults=input.nb_adults,
        nb_children=input.nb_children,
        nb_babies=input.nb_babies,
        self_gifted=input.self_gifted,
        message=input.message or None,
        to_giftee=input.to_giftee,
        from_gifter=input.from_gifter,
        reception_mode=input.reception_mode,
        language=input.language,
        payment_type=input.payment_type,
    )


def rent_part(paid: Decimal, rent: Decimal, total: Decimal) -> Decimal:
    """What of a payment is for the prototype: the part that it is of the price."""
    return (paid * rent / total).quantize(CENT, ROUND_HALF_UP) if total else paid
