"""The electronic money of a user: what its wallets received and paid in a year, a month, or ever."""

import datetime as dt

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import ledger
from coffret.sandbox.users import users
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ResourceNotFound


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /users/{id}/emoney, …/{year} and …/{year}/{month}"""
    user, currency = users.find(session, call.path["id"]), call.one("Currency") or "EUR"
    start, end = period(call)
    amounts = [
        row["amount"]
        for wallet in session.rows("SELECT id FROM wallet WHERE owner_id = ?", user["id"])
        for row in session.rows(
            "SELECT amount FROM posting WHERE account = ? AND currency = ? AND posted_at >= ? AND posted_at < ?",
            ledger.wallet(wallet["id"]),
            currency,
            start.timestamp(),
            end.timestamp(),
        )
    ]
    return {
        "UserId": user["id"],
        "CreditedEMoney": {"Currency": currency, "Amount": sum(amount for amount in amounts if amount > 0)},
        "DebitedEMoney": {"Currency": currency, "Amount": -sum(amount for amount in amounts if amount < 0)},
    }


def period(call: HttpCall) -> tuple[dt.datetime, dt.datetime]:
    """The beginning and the end of the period in the path. Raises ResourceNotFound."""
    year, month = call.path.get("year"), call.path.get("month")
    try:
        if year is None:
            return dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.datetime(9999, 1, 1, tzinfo=dt.UTC)
        start = dt.datetime(int(year), int(month or 1), 1, tzinfo=dt.UTC)
        return start, (start + dt.timedelta(days=32 if month else 366)).replace(day=1)
    except (ValueError, OverflowError):
        raise ResourceNotFound from None


ENDPOINTS = (
    WireEndpoint("GET", "/users/{id}/emoney", read),
    WireEndpoint("GET", "/users/{id}/emoney/{year}", read),
    WireEndpoint("GET", "/users/{id}/emoney/{year}/{month}", read),
)
