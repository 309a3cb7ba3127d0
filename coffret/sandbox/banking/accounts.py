"""Accounts that money can be sent to: those of the provider, virtual accounts and banking aliases of wallets."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator
from schwifty import IBAN

from coffret.sandbox import events
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import results, wallets
from coffret.sandbox.resources import Collection
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Country, Id, Tag, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError

VIRTUAL = Collection("virtual-accounts", "va_m_")
ALIASES = Collection("bankingaliases", "ba_m_")
BANKS: Mapping[str, str] = {
    "DE": "10010010", "ES": "0049", "FR": "30004", "GB": "NWBK601613", "LU": "001", "NL": "INGB", "PL": "10201097",
}  # fmt: skip
"""A bank of each country in which accounts are opened."""
PROVIDER_ADDRESS = {
    "AddressLine1": "2 Avenue Amélie",
    "AddressLine2": None,
    "City": "Luxembourg",
    "Region": None,
    "PostalCode": "L-1125",
    "Country": "LU",
}
Purpose = Annotated[Literal["COLLECTION", "USER_OWNED"], BeforeValidator(lambda text: str(text).upper())]


class NewVirtualAccount(Body):
    """The body of POST /wallets/{id}/virtual-accounts."""

    country: Country
    virtual_account_purpose: Purpose
    tag: Tag | None = None


class NewAlias(Body):
    """The body of POST /wallets/{id}/bankingaliases/iban."""

    owner_name: Text
    country: Country = "LU"
    credited_user_id: Id | None = None
    type: Literal["IBAN", "GB"] = "IBAN"
    tag: Tag | None = None


class ChangedAlias(Body):
    """The body of PUT /bankingaliases/{id}: an alias can only be deactivated."""

    active: Literal[False]


def iban_of(session: SandboxSession, country: str) -> IBAN:
    """A new account number in a country. Raises ParamError."""
    if country not in BANKS:
        raise ParamError({"Country": f"Accounts are opened in {', '.join(sorted(BANKS))}."})
    digits = str(int.from_bytes(session.secret().encode(), "big"))[-8:]
    return IBAN.generate(country, bank_code=BANKS[country], account_code=digits)


def of_provider(session: SandboxSession) -> Json:
    """The provider's account that bank wires are sent to."""
    iban = IBAN.generate("LU", bank_code=BANKS["LU"], account_code="1")
    return {
        "Type": "IBAN",
        "OwnerName": session.settings.client_id,
        "OwnerAddress": PROVIDER_ADDRESS,
        "IBAN": iban.compact,
        "BIC": str(iban.bic) if iban.bic else None,
    }


def create_virtual(session: SandboxSession, call: HttpCall) -> Json:
    """POST /wallets/{id}/virtual-accounts"""
    wallet, body = wallets.find(session, call.path["id"]), call.json(NewVirtualAccount)
    iban = iban_of(session, body.country)
    numbers = {"Iban": iban.compact, "Bic": str(iban.bic) if iban.bic else None}
    place = {
        "StreetName": PROVIDER_ADDRESS["AddressLine1"],
        "PostCode": PROVIDER_ADDRESS["PostalCode"],
        "TownName": PROVIDER_ADDRESS["City"],
        "CountrySubDivision": None,
        "Country": PROVIDER_ADDRESS["Country"],
    }
    details = {"Address": place, "Account": numbers, "BankName": "Sandbox bank"}
    account = VIRTUAL.add(
        session,
        {
            **body.to_wire(),
            "WalletId": wallet["id"],
            "CreditedUserId": wallet["owner_id"],
            "Status": "ACTIVE",
            "Active": True,
            "AccountOwner": users.name(session, wallet["owner_id"]),
            "LocalAccountDetails": details,
            "InternationalAccountDetails": [details],
            "Capabilities": {
                "LocalPayinAvailable": True,
                "InternationalPayinAvailable": True,
                "Currencies": [wallet["currency"]],
            },
            "ResultCode": results.SUCCESS,
            "ResultMessage": results.message(results.SUCCESS),
        },
    )
    events.emit(session, "VIRTUAL_ACCOUNT_ACTIVE", account["Id"])
    return account


def read_virtual(session: SandboxSession, call: HttpCall) -> Json:
    """GET /wallets/{id}/virtual-accounts/{account}"""
    return VIRTUAL.find_within(session, call.path["account"], WalletId=call.path["id"])


def close_virtual(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /wallets/{id}/virtual-accounts/{account}: permanent"""
    account = read_virtual(session, call)
    if account["Active"]:
        events.emit(session, "VIRTUAL_ACCOUNT_CLOSED", account["Id"])
    return VIRTUAL.change(session, account["Id"], {"Status": "CLOSED", "Active": False})


def list_virtual(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /wallets/{id}/virtual-accounts"""
    return VIRTUAL.page(session, call, WalletId=wallets.find(session, call.path["id"])["id"])


def availability(_session: SandboxSession, _call: HttpCall) -> Json:
    """GET /virtual-accounts/availability: countries in which accounts are opened"""
    countries = [{"Country": country, "Available": True, "Currencies": ["EUR"]} for country in sorted(BANKS)]
    return {"Collection": countries, "UserOwned": countries}


def create_alias(session: SandboxSession, call: HttpCall) -> Json:
    """POST /wallets/{id}/bankingaliases/iban"""
    wallet, body = wallets.find(session, call.path["id"]), call.json(NewAlias)
    if body.credited_user_id not in {None, wallet["owner_id"]}:
        raise ParamError({"CreditedUserId": "The CreditedUserId must be the owner of the wallet."})
    iban = iban_of(session, body.country)
    local = {"SortCode": iban.branch_code, "AccountNumber": iban.account_code}
    return ALIASES.add(
        session,
        {
            **body.to_wire(),
            "CreditedUserId": wallet["owner_id"],
            "WalletId": wallet["id"],
            "LocalAccountDetails": local if body.type == "GB" else None,
            "IBAN": iban.compact,
            "BIC": str(iban.bic) if iban.bic else None,
            "Active": True,
            "VirtualAccountPurpose": "COLLECTION",
        },
    )


def deactivate_alias(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /bankingaliases/{id}: permanent"""
    alias = ALIASES.find(session, call.path["id"])
    call.json(ChangedAlias)
    return ALIASES.change(session, alias["Id"], {"Active": False})


def list_aliases(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /wallets/{id}/bankingaliases"""
    return ALIASES.page(session, call, WalletId=wallets.find(session, call.path["id"])["id"])


ENDPOINTS = (
    WireEndpoint("POST", "/wallets/{id}/virtual-accounts", create_virtual),
    WireEndpoint("GET", "/wallets/{id}/virtual-accounts", list_virtual),
    WireEndpoint("GET", "/wallets/{id}/virtual-accounts/{account}", read_virtual),
    WireEndpoint("PUT", "/wallets/{id}/virtual-accounts/{account}", close_virtual),
    WireEndpoint("GET", "/virtual-accounts/availability", availability),
    WireEndpoint("POST", "/wallets/{id}/bankingaliases/iban", create_alias),
    WireEndpoint("GET", "/wallets/{id}/bankingaliases", list_aliases),
    WireEndpoint("GET", "/bankingaliases/{id}", ALIASES.read),
    WireEndpoint("PUT", "/bankingaliases/{id}", deactivate_alias),
)
