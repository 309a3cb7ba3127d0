"""Validation of a partner as a whole, for fields that depend on each other."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlalchemy import inspect
from stdnum.eu import vat
from stdnum.exceptions import ValidationError
from stdnum.fr import siret

from schema.core.errors import InvalidInput, Problem
from schema.core.message_names import TemplatedMessage
from schema.partner.partner import PartnerStatus
from schema.validation.contact import phone_number
from schema.validation.countries import country_code
from store.core.brand_colours import UNREADABLE_TINT, is_readable_tint
from store.core.hosts import host_of
from store.partner.brand import ThemeColumns
from store.partner.partners import PartnerRow

MIN_AGE = 18
"""Minimum age of a legal representative in years. Payment providers accept nobody younger."""
MAX_AGE = 120
SIRET_DIGITS = 14
FRANCE = "FR"
EU_VAT_PREFIXES = frozenset({*(state.upper() for state in vat.MEMBER_STATES), "EL"})
TERRITORIES = {
    **dict.fromkeys(("GP", "MQ", "GF", "RE", "YT", "PM", "BL", "MF", "NC", "PF", "WF", "TF"), FRANCE),
    **dict.fromkeys(("GG", "JE", "IM"), "GB"),
    "AX": "FI",
}
"""Territory -> state. Banks there have BICs of the territory and IBANs of the state."""

Check: TypeAlias = Callable[[PartnerRow, dt.date], Problem | None]


def check_partner(row: PartnerRow, today: dt.date) -> None:
    """Validate and normalize the changed fields of a partner, or all fields of a new one, before they are written.

    Sets the country code of the head office, removes blanks from numbers, and puts the telephone number into its
    international form. Raises InvalidInput with one problem for each invalid field, named as in the inputs.
    """
    if _has_changed(row, "hq_country"):
        row.hq_country_code = country_code(row.hq_country) or ""
    problems = [problem for look in CHECKS if (problem := look(row, today)) is not None]
    if problems:
        raise InvalidInput(*problems)


def check_theme(columns: ThemeColumns) -> None:
    """Raise InvalidInput if texts or fields would be hard to see on the tint, on light pages or on dark ones."""
    if columns.page_tint and not is_readable_tint(columns.page_tint):
        raise InvalidInput.at(("theme", "page_tint"), UNREADABLE_TINT)


def company_number(text: str) -> str:
    """A company number as it is stored and compared: in capitals, without blanks, dots and hyphens."""
    return "".join(character for character in text if character not in " .-\u00a0\u202f").upper()


def _has_changed(row: PartnerRow, *names: str) -> bool:
    """True if any of these columns was set to a new value since the row was loaded; on a new row, to any value."""
    attributes = inspect(row).attrs
    return any(attributes[name].history.added for name in names)


def _company_number(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    """Check a SIRET if the head office is in France or its country is unknown. Test partners skip the check digits."""
    if not _has_changed(row, "siret_number", "hq_country_code", "status") or not row.siret_number:
        return None
    at = ("registration", "siret_number")
    row.siret_number = company_number(row.siret_number)
    if row.hq_country_code not in {"", FRANCE}:
        return None if row.siret_number.isalnum() else Problem(at, "INVALID", "Send letters and digits.")
    if len(row.siret_number) != SIRET_DIGITS or not row.siret_number.isdecimal():
        return Problem(at, "INVALID", "A SIRET has 14 digits. For a company elsewhere, send its country too.")
    if row.status is not PartnerStatus.TEST and not siret.is_valid(row.siret_number):
        return Problem(at, "INVALID", "This is no SIRET: compare its digits with the company's papers.")
    return None


def _vat_id(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    """Check an EU number by its country's rules, and any other by its form only."""
    if not _has_changed(row, "vat_id") or not row.vat_id:
        return None
    row.vat_id = company_number(row.vat_id).replace("/", "")
    wrong = Problem(
        ("registration", "vat_id"),
        "INVALID",
        "This is no VAT number: send it with its country in front, as FR40303265045.",
    )
    country = row.hq_country_code
    if row.vat_id[:1].isdecimal() and country in EU_VAT_PREFIXES:
        row.vat_id = f"{'EL' if country == 'GR' else country}{row.vat_id}"
    if row.vat_id[:2] in EU_VAT_PREFIXES:
        try:
            row.vat_id = vat.validate(row.vat_id)
        except ValidationError:
            return wrong
        return None
    return None if row.vat_id.isascii() and row.vat_id.isalnum() else wrong


def _phone(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    if not _has_changed(row, "agency_phone") or not row.agency_phone:
        return None
    number = phone_number(row.agency_phone, row.hq_country_code)
    if number is None:
        return Problem(("agency_phone",), "INVALID", "Send a telephone number, such as +33 1 23 45 67 89.")
    row.agency_phone = number
    return None


def _birthday(row: PartnerRow, today: dt.date) -> Problem | None:
    born = row.legal_representative_birthday
    if not _has_changed(row, "legal_representative_birthday") or born is None:
        return None
    at = ("legal_representative", "birthday")
    if born > today:
        return Problem(at, "INVALID", "Send a day in the past.")
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    if age > MAX_AGE:
        return Problem(at, "INVALID", "Nobody is that old: look at the year.")
    if age < MIN_AGE:
        return Problem(
            at, "INVALID", TemplatedMessage("A legal representative is at least {least} years old.", least=MIN_AGE)
        )
    return None


def _bank(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    """Check that bank and account are in the same country. A territory counts as its state."""
    if not _has_changed(row, "iban", "bic") or not (row.iban and row.bic):
        return None
    from schwifty import BIC, IBAN  # see schema.validation.contact

    account, bank = IBAN(row.iban).country_code, BIC(row.bic).country_code
    if TERRITORIES.get(account, account) == TERRITORIES.get(bank, bank):
        return None
    return Problem(
        ("bank_account", "bic"),
        "INVALID",
        TemplatedMessage("This bank is in {bank}, and the account in {account}.", bank=bank, account=account),
    )


def _return_hosts(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    """Normalize the host names as browsers send them, and drop duplicates."""
    if not _has_changed(row, "return_hosts"):
        return None
    hosts = [host_of(entry, with_port=True) for entry in row.return_hosts]
    if None in hosts:
        at, message = hosts.index(None), "Send the name of a host, without a scheme or a path, such as shop.example."
        return Problem(("return_hosts", at), "INVALID", message)
    row.return_hosts = [host for host in dict.fromkeys(hosts) if host]
    return None


CHECKS: Sequence[Check] = (_company_number, _vat_id, _phone, _birthday, _bank, _return_hosts)


def check_freezing(partner: PartnerRow, date: dt.datetime | None) -> None:
    """Raise InvalidInput if the partner may not choose the date that decides about a payout. Removing it is allowed."""
    if date is not None and not partner.freeze_payout:
        raise InvalidInput.at("freeze_payout_date", "This partner may not choose the date.")
