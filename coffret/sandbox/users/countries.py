"""What users of a country may do. No country is blocked in the sandbox."""

from babel import Locale

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ResourceNotFound
from coffret.sandbox.wire.paging import cut

NO_COUNTRIES = {"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"}
NAMES = {
    code: str(name)
    for code, name in sorted(Locale("en").territories.items())
    if len(code) == 2 and code.isalpha() and code not in NO_COUNTRIES
}
CHANGED_AT = 1672531200
"""When the authorisations changed last: 1 January 2023."""


def present(country: str) -> Json:
    """The authorisations of a country in the provider's format."""
    return {
        "CountryCode": country,
        "CountryName": NAMES[country],
        "Authorization": {"BlockUserCreation": False, "BlockBankAccountCreation": False, "BlockPayout": False},
        "LastUpdate": CHANGED_AT,
    }


def read(_session: SandboxSession, call: HttpCall) -> Json:
    """GET /countries/{country}/authorizations"""
    country = call.path["country"].upper()
    if country not in NAMES:
        raise ResourceNotFound
    return present(country)


def list_all(_session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /countries/authorizations"""
    return cut(call, [present(code) for code in NAMES])


ENDPOINTS = (
    WireEndpoint("GET", "/countries/authorizations", list_all, public=True),
    WireEndpoint("GET", "/countries/{country}/authorizations", read, public=True),
)
