"""Import of vouchers that another system issued."""

import datetime as dt
from collections.abc import Mapping, Sequence
from operator import attrgetter

from sqlmodel import col, select

from resolvers.core.imported_codes import ImportedCodes
from resolvers.core.input_mapping import collect_owner, text_of
from resolvers.core.operation import Call, operation
from resolvers.voucher.issuing import voucher_row
from schema.core.errors import Problem, ProblemPath
from schema.core.input_errors import ProblemCollector, raise_if_problems
from schema.core.permission import Permission
from schema.voucher.issue_input import ImportedVoucher, ImportVoucher, ImportVouchers
from schema.voucher.voucher import Voucher, VoucherKind, VoucherState
from store.catalogue.catalogue import VoucherPrototypeRow
from store.core.codes import format_code, normalize
from store.database.loaders import is_any_of
from store.partner.partners import PartnerRow
from store.voucher.issuing import copy_prototype, put_customers
from store.voucher.vouchers import VoucherRow

NEVER_PAID = (VoucherState.DRAFT, VoucherState.ERROR)


@operation(Permission.UPDATE_VOUCHER)
async def import_voucher(call: Call, input: ImportVoucher) -> Voucher:
    """Import a voucher from another system, with its code, dates, state and prices. No mail is sent and no event is
    emitted.
    """
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        prototypes = await _validate(call, partner, [input], ())
    findings.raise_problems()
    return (await _import_rows(call, partner, [input], prototypes, ()))[0]


@operation(Permission.UPDATE_VOUCHER)
async def import_vouchers(call: Call, input: ImportVouchers) -> list[Voucher]:
    """Import up to 500 vouchers from another system: all of them, or none if one is invalid. Returns them in the order
    of the input. A dry run answers none, and the errors that the import would have, each at its voucher.

    If a voucher that you cannot see already has one of the codes, the request is refused and counts as a guess, and the
    error does not name the code. Import the vouchers one by one with `importVoucher` to find it.
    """
    findings, under = ProblemCollector(), ("vouchers",)
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        prototypes = await _validate(call, partner, input.vouchers, under)
    findings.raise_problems()
    return list(await _import_rows(call, partner, input.vouchers, prototypes, under, dry_run=input.dry_run))


def _codes(call: Call, vouchers: Sequence[ImportedVoucher], under: ProblemPath) -> ImportedCodes:
    return ImportedCodes(call, VoucherRow, "voucher", under, [each.code for each in vouchers])


async def _validate(
    call: Call, partner: PartnerRow, vouchers: Sequence[ImportedVoucher], under: ProblemPath
) -> Mapping[int, VoucherPrototypeRow]:
    """Check the vouchers, and return their prototypes by id. Raises InvalidInput with all problems, each at the
    position of its voucher.
    """
    now, findings, codes = call.services.clock.now(), ProblemCollector(), _codes(call, vouchers, under)
    prototypes = None
    with findings.collect():
        prototypes = await _prototypes(call, partner.id, vouchers)
    existing = (await codes.find_existing()).visible
    with findings.collect():
        raise_if_problems(
            Problem((*under, at, *p.path) if under else p.path, p.code, p.message)
            for at, each in enumerate(vouchers)
            for p in (*codes.problems_of(each.code, existing), *_problems(each, prototypes, now))
        )
    findings.raise_problems()
    assert prototypes is not None
    return prototypes


async def _import_rows(
    call: Call,
    partner: PartnerRow,
    vouchers: Sequence[ImportedVoucher],
    prototypes: Mapping[int, VoucherPrototypeRow],
    under: ProblemPath,
    *,
    dry_run: bool = False,
) -> Sequence[VoucherRow]:
    """Insert the rows of checked vouchers, in the order of their codes, so that concurrent imports of the same codes
    cannot deadlock. A dry run inserts none.
    """
    now, codes = call.services.clock.now(), _codes(call, vouchers, under)
    await codes.check_hidden()
    if dry_run:
        return []
    rows = [_row(partner.id, each, prototypes[each.voucher_prototype_id], now) for each in vouchers]
    await put_customers(call.db, partner.id, rows)

    async def insert() -> None:
        call.db.add_all(sorted(rows, key=attrgetter("normal_code")))
        await call.db.flush()

    await codes.insert(insert, "voucher_code_key")
    return rows


async def _prototypes(
    call: Call, partner_id: int, vouchers: Sequence[ImportedVoucher]
) -> Mapping[int, VoucherPrototypeRow]:
    table = VoucherPrototypeRow
    is_named = is_any_of(col(table.id), list({each.voucher_prototype_id for each in vouchers}))
    rows = (await call.db.exec(select(table).where(col(table.partner_id) == partner_id, is_named))).all()
    return {row.id: row for row in rows}


def _problems(
    voucher: ImportedVoucher, prototypes: Mapping[int, VoucherPrototypeRow] | None, now: dt.datetime
) -> Sequence[Problem]:
    """Problems with the prototype, the state and the dates. `prototypes` is None if the partner is unknown; then the
    prototype is not checked.
    """
    if prototypes is None or voucher.voucher_prototype_id in prototypes:
        return _date_problems(voucher, now)
    unknown = Problem(("voucher_prototype_id",), "INVALID", "No prototype of yours has this id.")
    return [unknown, *_date_problems(voucher, now)]


def _date_problems(voucher: ImportedVoucher, now: dt.datetime) -> Sequence[Problem]:
    created, used, expires = voucher.created_on or now, voucher.used_on, voucher.expires_on
    begins = voucher.activated_on or created
    is_used, is_expired = voucher.state is VoucherState.USED, voucher.state is VoucherState.EXPIRED
    never_paid = voucher.state in NEVER_PAID and voucher.activated_on is not None
    past, early = "Send a time in the past.", "A voucher cannot be used before it was issued, at `createdOn`."
    checks = (
        (created > now, Problem(("created_on",), "INVALID", past)),
        (is_used and used is None, Problem(("used_on",), "REQUIRED", "Say when it was used.")),
        (used and not is_used, Problem(("used_on",), "INVALID", "Send this only for a voucher in state `USED`.")),
        (used and used > now, Problem(("used_on",), "INVALID", past)),
        (used and used < created, Problem(("used_on",), "INVALID", early)),
        (never_paid, Problem(("activated_on",), "INVALID", "A voucher that was never paid has no activation time.")),
        (
            is_expired and (expires is None or expires > now),
            Problem(("expires_on",), "INVALID", "An expired voucher needs an expiry time in the past."),
        ),
        (
            expires and expires <= begins,
            Problem(("expires_on",), "INVALID", "A voucher must expire after its activation."),
        ),
    )
    return [problem for is_wrong, problem in checks if is_wrong]


def _row(partner_id: int, voucher: ImportedVoucher, prototype: VoucherPrototypeRow, now: dt.datetime) -> VoucherRow:
    row = voucher_row(voucher, skip={"code", "created_on", "activated_on", "prototype_name"})
    row.partner_id, row.kind = partner_id, VoucherKind.IMPORTED
    row.code, row.normal_code = format_code(voucher.code.strip()), normalize(voucher.code)
    row.created_on = voucher.created_on or now
    row.activated_on = None if voucher.state in NEVER_PAID else voucher.activated_on or row.created_on
    if voucher.purchase_price is None:
        row.purchase_price_amount = voucher.total_price
    row.rent_price_amount, row.bought_rent_price_amount = row.total_price_amount, row.purchase_price_amount
    copy_prototype(row, prototype)
    if voucher.prototype_name is not None:
        row.prototype_name = text_of(voucher.prototype_name)
    return row
