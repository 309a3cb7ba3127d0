"""Reports of the older and the newer interface. They are accepted, and stay PENDING: the sandbox writes no files."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.resources import Collection
from coffret.sandbox.wire.bodies import Body, Flag, Tag, Text, Timestamp
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError

OLDER = Collection("reports", "report_m_")
NEWER = Collection("reporting/reports", "report_m_")
PENDING = "PENDING"
KINDS = ("TRANSACTIONS", "WALLETS")
Upper = BeforeValidator(lambda text: text.upper() if isinstance(text, str) else text)


class ReportBody(Body):
    """The fields of every request of a report."""

    download_format: Annotated[Literal["CSV"], Upper] = "CSV"
    sort: Text | None = None
    filters: dict[str, Any] | None = None
    columns: list[Text] | None = None
    tag: Tag | None = None


class NewReport(ReportBody):
    """The body of POST /reports/{kind}."""

    callback_url: Annotated[Text | None, Field(alias="CallbackURL")] = None
    preview: Flag | None = None


class NewNewerReport(ReportBody):
    """The body of POST /reporting/reports."""

    report_type: Literal[
        "COLLECTED_FEES",
        "USER_WALLET_TRANSACTIONS",
        "ECHO_INTENT",
        "ECHO_INTENT_ACTION",
        "ECHO_SETTLEMENT",
        "ECHO_SPLIT",
    ]
    after_date: Timestamp
    before_date: Timestamp


def create_older(session: SandboxSession, call: HttpCall, kind: str) -> Json:
    """POST /reports/{kind}"""
    return add(session, OLDER, {**call.json(NewReport).to_wire(), "ReportType": kind})


def create_newer(session: SandboxSession, call: HttpCall) -> Json:
    """POST /reporting/reports"""
    body = call.json(NewNewerReport)
    if body.after_date > body.before_date:
        raise ParamError({"BeforeDate": "BeforeDate must not be earlier than AfterDate."})
    return add(session, NEWER, body.to_wire())


def add(session: SandboxSession, reports: Collection, report: Json) -> Json:
    unknown = dict.fromkeys(("ReportDate", "DownloadURL", "ResultCode", "ResultMessage"))
    return reports.add(session, {**report, **unknown, "Status": PENDING})


def list_newer(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /reporting/reports"""
    filters = {name: value for name in ("Status", "ReportType") if (value := call.one(name))}
    return NEWER.page(session, call, **filters)


ENDPOINTS = (
    *(WireEndpoint("POST", f"/reports/{kind.lower()}", partial(create_older, kind=kind)) for kind in KINDS),
    WireEndpoint("GET", "/reports", OLDER.list_all),
    WireEndpoint("GET", "/reports/{id}", OLDER.read),
    WireEndpoint("POST", "/reporting/reports", create_newer),
    WireEndpoint("GET", "/reporting/reports", list_newer),
    WireEndpoint("GET", "/reporting/reports/{id}", NEWER.read),
)
