"""What is checked of a partner as a whole: what one field may hold depends on others."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import TypeAlias

from schwifty import BIC, IBAN
from sqlalchemy import inspect
from stdnum.eu import vat
from stdnum.exceptions import ValidationError
from stdnum.fr import siret

from schema.core.errors import InvalidInput, Problem
from schema.partner.partner import PartnerStatus
from schema.validation.contact import phone_number
from schema.validation.countries import country_code
from store.core.hosts import host_of
from store.partner.partners import PartnerRow

FULL_AGE = 18
"""Of a legal representative, in years: payment providers take nobody younger."""
OLDEST = 120
SIRET_DIGITS = 14
FRANCE = "FR"
EU_VAT_PREFIXES = frozenset({*(state.upper() for state in vat.MEMBER_STATES), "EL"})
TERRITORIES = {
    **dict.fromkeys(("GP", "MQ", "GF", "RE", "YT", "PM", "BL", "MF", "NC", "PF", "WF", "TF"), FRANCE),
    **dict.fromkeys(("GG", "JE", "IM"), "GB"),
    "AX": "FI",
}
"""Where banks have BICs of their own territory and IBANs of the state that it belongs to."""

Check: TypeAlias = Callable[[PartnerRow, dt.date], Problem | None]


def check(row: PartnerRow, today: dt.date) -> None:
    """Check and tidy what was changed of a partner, or all of a new one, before it is written.

    The head office gets its country's code, numbers are kept without blanks, the telephone number in its international
    form. Raises InvalidInput with a problem at each field that cannot be, named as the inputs name it.
    """
    if _changed(row, "hq_country"):
        row.hq_country_code = country_code(row.hq_country) or ""
    problems = [problem for look in CHECKS if (problem := look(row, today)) is not None]
    if problems:
        raise InvalidInput(*problems)


def company_number(text: str) -> str:
    """A company number as it is kept and compared: without blanks, dots and hyphens, in capitals."""
    return "".join(character for character in text if character not in " .-\u00a0\u202f").upper()


def _changed(row: PartnerRow, *names: str) -> bool:
    """Whether any of these columns was given another value since the row was read, or is new with one."""
    attributes = inspect(row).attrs
    return any(attributes[name].history.added for name in names)


def _company_number(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    """A SIRET is checked by its digits where the head office is in France, or nobody says where, but for those who test."""
    if not _changed(row, "siret_number", "hq_country_code", "status") or not row.siret_number:
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
    """A number of the European Union is checked by its country's rules, another only for its form."""
    if not _changed(row, "vat_id") or not row.vat_id:
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
    if not _changed(row, "agency_phone") or not row.agency_phone:
        return None
    number = phone_number(row.agency_phone, row.hq_country_code)
    if number is None:
        return Problem(("agency_phone",), "INVALID", "Send a telephone number, such as +33 1 23 45 67 89.")
    row.agency_phone = number
    return None


def _birthday(row: PartnerRow, today: dt.date) -> Problem | None:
    born = row.legal_representative_birthday
    if not _changed(row, "legal_representative_birthday") or born is None:
        return None
    at = ("legal_representative", "birthday")
    if born > today:
        return Problem(at, "INVALID", "Send a day in the past.")
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    if age > OLDEST:
        return Problem(at, "INVALID", "Nobody is that old: look at the year.")
    if age < FULL_AGE:
        return Problem(at, "INVALID", f"A legal representative is at least {FULL_AGE} years old.")
    return None


def _bank(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    """Bank and account are in one country, territories counted with their state."""
    if not _changed(row, "iban", "bic") or not (row.iban and row.bic):
        return None
    account, bank = IBAN(row.iban).country_code, BIC(row.bic).country_code
    if TERRITORIES.get(account, account) == TERRITORIES.get(bank, bank):
        return None
    return Problem(("bank_account", "bic"), "INVALID", f"This bank is in {bank}, and the account in {account}.")


def _return_hosts(row: PartnerRow, today: dt.date) -> Problem | None:  # noqa: ARG001
    """Names of hosts, each once, as browsers send them."""
    if not _changed(row, "return_hosts"):
        return None
    found = [host_of(sent, with_port=True) for sent in row.return_hosts]
    if None in found:
        at, told = found.index(None), "Send the name of a host, without a scheme or a path, such as shop.example."
        return Problem(("return_hosts", at), "INVALID", told)
    row.return_hosts = [host for host in dict.fromkeys(found) if host]
    return None


CHECKS: Sequence[Check] = (_company_number, _vat_id, _phone, _birthday, _bank, _return_hosts)
