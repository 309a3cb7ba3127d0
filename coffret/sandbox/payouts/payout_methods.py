"""Payout methods of bank accounts per country, and the fields that each requires.

Modelled are accounts with an IBAN, international transfers, and local transfers in euros and in pounds sterling.
"""

from typing import Annotated, Literal

from pydantic import Field
from schwifty import IBAN, registry
from schwifty.exceptions import InvalidCountryCode, SchwiftyException

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.bodies import Body, Country, Currency
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import NotModelled, ParamError

Method = Literal["LocalBankTransfer", "InternationalBankTransfer"]
Kind = Literal["Individual", "Business"]
Scope = Literal["PAYOUT", "PAYIN"]
LOCAL, INTERNATIONAL = "LocalBankTransfer", "InternationalBankTransfer"
DISPLAY_NAME = r"^[^&,'/\r\n]{1,50}$"
REJECTED = "DE95000000000000000005"
"""An account that no bank knows: registration is refused."""


class PayoutRoute(Body):
    """The query of GET /recipients/payout-methods."""

    country: Country
    currency: Currency


class PayoutAccount(PayoutRoute):
    """The query of GET /recipients/schema."""

    payout_method_type: Method
    recipient_type: Kind


class NewRoute(PayoutAccount):
    """The payout route in the body of a new recipient."""

    display_name: Annotated[str, Field(pattern=DISPLAY_NAME)]


def methods(country: str, currency: str) -> list[str]:
    """The payout methods for a country and currency. Raises NotModelled."""
    if currency not in {"EUR", "GBP"}:
        raise NotModelled(f"The sandbox models accounts in EUR and GBP, not in {currency}.")
    local = in_sepa(country) if currency == "EUR" else country == "GB"
    return [LOCAL, INTERNATIONAL] if local else [INTERNATIONAL]


def in_sepa(country: str) -> bool:
    """Raises NotModelled for a country without IBANs."""
    try:
        return registry.get_iban_spec(country).in_sepa_zone
    except InvalidCountryCode:
        raise NotModelled(f"Accounts in {country} have no IBAN; the sandbox models accounts that have one.") from None


def check_route(route: PayoutAccount) -> None:
    """Raise ParamError if the payout method is not available for the country and currency."""
    if route.payout_method_type not in methods(route.country, route.currency):
        raise ParamError(
            {"PayoutMethodType": f"{route.country} has no {route.payout_method_type} in {route.currency}."}
        )


def account(field: str, number: str, country: str) -> IBAN:
    """Parse an IBAN of the country. Raises ParamError."""
    try:
        iban = IBAN(number)
    except SchwiftyException:
        raise ParamError({field: f"The field {field} is not a valid IBAN."}) from None
    if iban.country_code != country:
        raise ParamError({field: f"The field {field} is an account in {iban.country_code}, not in {country}."})
    if iban == REJECTED:
        raise ParamError({field: f"The field {field} is an account that the bank does not know."})
    return iban


def list_methods(_session: SandboxSession, call: HttpCall) -> Json:
    """GET /recipients/payout-methods"""
    route = PayoutRoute.read(query_values(call, "Country", "Currency"))
    return {"AvailablePayoutMethods": methods(route.country, route.currency)}


def read_schema(_session: SandboxSession, call: HttpCall) -> Json:
    """GET /recipients/schema"""
    wanted = PayoutAccount.read(query_values(call, "PayoutMethodType", "RecipientType", "Currency", "Country"))
    check_route(wanted)
    return {
        "DisplayName": holder_field("Display Name", most=50, pattern=DISPLAY_NAME),
        "Currency": platform_field("Currency", wanted.currency),
        "Country": platform_field("Destination Country", wanted.country),
        "RecipientType": platform_field("Recipient Type", wanted.recipient_type),
        "PayoutMethodType": platform_field("Payout Method Type", wanted.payout_method_type),
        "RecipientScope": {**platform_field("Recipient Scope", "PAYOUT", "PAYIN"), "Required": False},
        "Tag": {"Required": False, "MaxLength": 255, "Label": "Tag", "EndUserDisplay": "Hide"},
        **holder_schema(wanted.recipient_type),
        **account_schema(wanted),
    }


def holder_schema(kind: Kind) -> Json:
    """The required fields of the account's holder."""
    address = {
        "AddressLine1": holder_field("Address Line 1"),
        "AddressLine2": holder_field("Address Line 2", required=False),
        "City": holder_field("City"),
        "Region": holder_field("Region", required=False),
        "PostalCode": holder_field("Postal Code"),
        "Country": holder_field("Country", most=2, pattern="^[A-Z]{2}$"),
    }
    if kind == "Business":
        return {"BusinessRecipient": {"BusinessName": holder_field("Business Name"), "Address": address}}
    names = {"FirstName": holder_field("First Name"), "LastName": holder_field("Last Name")}
    return {"IndividualRecipient": {**names, "Address": address}}


def account_schema(account: PayoutAccount) -> Json:
    """The required fields of the account."""
    if (account.payout_method_type, account.currency) == (LOCAL, "GBP"):
        sort_code = holder_field("Sort Code", most=6, pattern=r"^\d{6}$")
        number = holder_field("Account Number", most=8, pattern=r"^\d{8}$")
        return {LOCAL: {"GBP": {"SortCode": sort_code, "AccountNumber": number}}}
    pattern = f"^{account.country}[0-9]{{2}}{registry.get_iban_spec(account.country).regex.pattern.removeprefix('^')}"
    bic = holder_field("BIC", required=False, most=11)
    if account.payout_method_type == LOCAL:
        return {LOCAL: {account.currency: {"IBAN": holder_field("IBAN", most=34, pattern=pattern), "BIC": bic}}}
    return {INTERNATIONAL: {"AccountNumber": holder_field("IBAN", most=34, pattern=pattern), "BIC": bic}}


def holder_field(label: str, *, required: bool = True, most: int = 255, pattern: str | None = None) -> Json:
    """A field that the account's holder fills in."""
    rule = {"Pattern": pattern} if pattern else {}
    return {"Required": required, "MaxLength": most, **rule, "Label": label, "EndUserDisplay": "Show"}


def platform_field(label: str, *values: str) -> Json:
    """A field that the platform fills in."""
    return {"Required": True, "AllowedValues": list(values), "Label": label, "EndUserDisplay": "Hide"}


def query_values(call: HttpCall, *names: str) -> Json:
    """Query parameters by the names that bodies use.

    SDKs write them in lower case, the provider's documentation does not.
    """
    values = {name.lower(): values[-1] for name, values in call.query.items()}
    return {name: values[name.lower()] for name in names if name.lower() in values}


ENDPOINTS = (
    WireEndpoint("GET", "/recipients/payout-methods", list_methods),
    WireEndpoint("GET", "/recipients/schema", read_schema),
)
