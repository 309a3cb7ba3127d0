"""Vouchers that another system issued, and that are used here from now on."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from resolvers.core.brute_force import look_up
from resolvers.core.input_mapping import owner_among, text_of
from resolvers.core.operation import Call, operation
from resolvers.voucher.issuing import giftee_of, gifter_of
from schema.core.errors import InvalidInput, Path, Problem
from schema.core.input_errors import Findings, refuse
from schema.core.permission import Permission
from schema.validation.characters import in_one_line
from schema.voucher.issue_input import ImportedVoucher, ImportVoucher, ImportVouchers
from schema.voucher.voucher import Voucher, VoucherKind, VoucherState
from store.catalogue.catalogue import VoucherPrototypeRow
from store.core.codes import grouped, mistyped, normal
from store.core.constraints import broken
from store.customer import Person, customers_for
from store.database.loaders import among
from store.partner.partners import PartnerRow
from store.voucher.issuing import giftee_columns, gifter_columns, prototype_columns
from store.voucher.vouchers import VoucherRow

SHORTEST_CODE, LONGEST_CODE = 3, 40
TAKEN = "There is a voucher with this code."
ONE_IS_TAKEN = "There is a voucher with one of these codes, or with several. Send them one by one to learn with which."
NEVER_PAID = (VoucherState.DRAFT, VoucherState.ERROR)
AS_SENT = (
    *("state", "summary", "origin", "imported_from", "language", "nb_nights", "nb_adults", "nb_children", "nb_babies"),
    *("reception_mode", "self_gifted", "to_giftee", "from_gifter", "payment_type", "used_on", "expires_on"),
)
"""What an imported voucher and its row call by the same name."""


@operation(Permission.UPDATE_VOUCHER)
async def import_voucher(call: Call, input: ImportVoucher) -> Voucher:
    """Take a voucher over from another system, with its code, dates, state and prices. Nobody is told of it."""
    findings = Findings()
    partner = await owner_among(findings, call, input)
    with findings.of_one():
        prototypes = await _checked(call, partner, [input], ())
    findings.tell()
    return (await _taken_over(call, partner, [input], prototypes, ()))[0]


@operation(Permission.UPDATE_VOUCHER)
async def import_vouchers(call: Call, input: ImportVouchers) -> list[Voucher]:
    """Take up to 500 vouchers over from another system: all of them, or none when something is wrong with one. Answers them in
    the order in which they were sent. Codes that others have already are counted as guesses; which they are is told by
    `importVoucher`, one by one.
    """
    findings, under = Findings(), ("vouchers",)
    partner = await owner_among(findings, call, input)
    with findings.of_one():
        prototypes = await _checked(call, partner, input.vouchers, under)
    findings.tell()
    return list(await _taken_over(call, partner, input.vouchers, prototypes, under))


async def _checked(
    call: Call, partner: PartnerRow, sent: Sequence[ImportedVoucher], under: Path
) -> Mapping[int, VoucherPrototypeRow]:
    """The prototypes of new vouchers; InvalidInput with all that is wrong, each problem at its voucher's place."""
    now, findings = call.services.clock.now(), Findings()
    prototypes = None
    with findings.of_one():
        prototypes = await _prototypes(call, partner.id, sent)
    times = Counter(normal(each.code) for each in sent)
    taken = (await _found(call, list(times))).seen
    with findings.of_one():
        refuse(
            Problem((*under, at, *p.path) if under else p.path, p.code, p.message)
            for at, each in enumerate(sent)
            for p in (*_code_problems(each, taken, times), *_problems(each, prototypes, now))
        )
    findings.tell()
    assert prototypes is not None
    return prototypes


async def _taken_over(
    call: Call,
    partner: PartnerRow,
    sent: Sequence[ImportedVoucher],
    prototypes: Mapping[int, VoucherPrototypeRow],
    under: Path,
) -> Sequence[VoucherRow]:
    """The rows of new vouchers, which were checked.

    Codes that others have are looked for only when nothing else is wrong: what is not meant to be taken over tells nothing.
    """
    now = call.services.clock.now()
    await _not_of_others(call, [normal(each.code) for each in sent], under)
    people = await customers_for(call.db, partner.id, (who for each in sent for who in _people(each)))
    rows = [_row(partner.id, each, prototypes[each.voucher_prototype_id], people, now) for each in sent]
    await _add(call, rows, under)
    return rows


async def _add(call: Call, rows: Sequence[VoucherRow], under: Path) -> None:
    """Put the rows into the database, those with the first codes first: two who import the same in another order do not wait
    for each other. InvalidInput at the place of each code that somebody else has taken since it was looked for.
    """
    try:
        async with call.db.begin_nested():
            call.db.add_all(sorted(rows, key=attrgetter("normal_code")))
    except IntegrityError as error:
        if broken(error) != "voucher_code_key":
            raise
        codes = [row.normal_code for row in rows]
        taken = (await _found(call, codes)).seen
        lost = [(*under, at, "code") if under else ("code",) for at, code in enumerate(codes) if code in taken]
        if not lost:
            await _not_of_others(call, codes, under)
            raise
        raise InvalidInput(*(Problem(place, "ALREADY_TAKEN", TAKEN) for place in lost)) from error


async def _prototypes(
    call: Call, partner_id: int, sent: Sequence[ImportedVoucher]
) -> Mapping[int, VoucherPrototypeRow]:
    table = VoucherPrototypeRow
    wanted = among(col(table.id), list({each.voucher_prototype_id for each in sent}))
    found = (await call.db.exec(select(table).where(col(table.partner_id) == partner_id, wanted))).all()
    return {row.id: row for row in found}


class _Found(NamedTuple):
    """Which of some codes there are."""

    seen: frozenset[str]
    """Those of vouchers that the caller sees."""
    of_others: bool
    """Whether there are any that it does not see."""


async def _found(call: Call, codes: Sequence[str]) -> _Found:
    owner = col(PartnerRow.id) == col(VoucherRow.partner_id)
    query = select(VoucherRow.normal_code, PartnerRow.id, PartnerRow.marketplace_id).join(PartnerRow, owner)
    found = (await call.db.exec(query.where(among(col(VoucherRow.normal_code), codes)))).all()
    seen = frozenset(code for code, *owned in found if call.caller.sees(*owned))
    return _Found(seen, len(seen) < len(found))


async def _not_of_others(call: Call, codes: Sequence[str], under: Path) -> None:
    """InvalidInput when somebody whom the caller does not see has one of the codes, which is a guess that is counted.

    Of several vouchers it is not told which: each refusal tells as much as the look-up of one code, and costs as much. While
    something else is wrong nobody is told anything, and nothing is counted.
    """
    if call.trial:
        return

    async def none() -> bool:
        return not (await _found(call, codes)).of_others

    if not await look_up(call.context, "voucher", none):
        place, message = (under, ONE_IS_TAKEN) if under else (("code",), TAKEN)
        raise InvalidInput(Problem(place, "ALREADY_TAKEN", message))


def _code_problems(sent: ImportedVoucher, taken: frozenset[str], times: Mapping[str, int]) -> Sequence[Problem]:
    code = normal(sent.code)
    if "/" in sent.code or not sent.code.isprintable() or not in_one_line(sent.code):
        return (Problem(("code",), "INVALID", "A code has no `/` and nothing that cannot be seen."),)
    if not SHORTEST_CODE <= len(code) <= LONGEST_CODE or len(sent.code.strip()) > LONGEST_CODE:
        most = f"Use {SHORTEST_CODE} to {LONGEST_CODE} characters, spaces and hyphens not counted."
        return (Problem(("code",), "INVALID" if len(code) < SHORTEST_CODE else "TOO_LONG", most),)
    if mistyped(code):
        wrong = "This looks like a code of ours with a wrong character. Compare it with the voucher."
        return (Problem(("code",), "INVALID", wrong),)
    if code in taken:
        return (Problem(("code",), "ALREADY_TAKEN", TAKEN),)
    if times[code] > 1:
        return (Problem(("code",), "ALREADY_TAKEN", "This code was sent more than once."),)
    return ()


def _problems(
    sent: ImportedVoucher, prototypes: Mapping[int, VoucherPrototypeRow] | None, now: dt.datetime
) -> Sequence[Problem]:
    """What cannot be of a voucher in its state. Of a partner that is not known, nobody knows the prototypes."""
    created = sent.created_on or now
    is_used, has_day = sent.state is VoucherState.USED, sent.used_on is not None
    begins = sent.activated_on or created
    never, wrong = sent.state in NEVER_PAID, "INVALID"
    checks = (
        (
            prototypes is not None and sent.voucher_prototype_id not in prototypes,
            "voucher_prototype_id",
            wrong,
            "No prototype of yours has this id.",
        ),
        (created > now, "created_on", wrong, "It was issued in the past."),
        (is_used and not has_day, "used_on", "REQUIRED", "Say when it was used."),
        (has_day and not is_used, "used_on", wrong, "Only a voucher that is `USED` has such a day."),
        (sent.used_on is not None and sent.used_on > now, "used_on", wrong, "It was used in the past."),
        (
            sent.used_on is not None and sent.used_on < created,
            "used_on",
            wrong,
            "A voucher is used after it was issued: `createdOn` says when that was.",
        ),
        (never and sent.activated_on is not None, "activated_on", wrong, "One that is not paid does not work."),
        (
            sent.state is VoucherState.EXPIRED and (sent.expires_on is None or sent.expires_on > now),
            "expires_on",
            wrong,
            "One that has expired has a day in the past on which it did.",
        ),
        (
            sent.expires_on is not None and sent.expires_on <= begins,
            "expires_on",
            wrong,
            "A voucher expires after it begins to work.",
        ),
    )
    return [Problem((field,), code, message) for is_wrong, field, code, message in checks if is_wrong]


def _people(sent: ImportedVoucher) -> tuple[Person, Person]:
    """Who gives it, and who gets it: whoever keeps it gave it too."""
    gifter, giftee = gifter_of(sent), giftee_of(sent)
    gives = Person(gifter.first_name, gifter.last_name, gifter.email)
    gets = Person(giftee.first_name or "", giftee.last_name or "", giftee.email or "")
    return gives, gives if sent.self_gifted else gets


def _row(
    partner_id: int,
    sent: ImportedVoucher,
    prototype: VoucherPrototypeRow,
    people: Mapping[Person, int | None],
    now: dt.datetime,
) -> VoucherRow:
    gives, gets = _people(sent)
    created = sent.created_on or now
    paid = sent.total_price if sent.purchase_price is None else sent.purchase_price
    known = prototype_columns(prototype)
    if sent.prototype_name is not None:
        known["prototype_name"] = text_of(sent.prototype_name)
    return VoucherRow(
        partner_id=partner_id,
        kind=VoucherKind.IMPORTED,
        code=grouped(sent.code.strip()),
        normal_code=normal(sent.code),
        created_on=created,
        activated_on=None if sent.state in NEVER_PAID else sent.activated_on or created,
        message=sent.message or None,
        gifter_id=people[gives],
        giftee_id=people[gets],
        currency=prototype.currency,
        total_price_amount=sent.total_price,
        purchase_price_amount=paid,
        rent_price_amount=sent.total_price,
        bought_rent_price_amount=paid,
        **{name: getattr(sent, name) for name in AS_SENT},
        **known,
        **gifter_columns(gifter_of(sent)),
        **giftee_columns(giftee_of(sent)),
    )
