"""Reports of the older and the newer interface. The newer ones are made after a moment and can then be downloaded; the
older ones are accepted and stay PENDING.
"""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from coffret.sandbox import events, switches
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import results
from coffret.sandbox.reporting import statements
from coffret.sandbox.resources import Collection
from coffret.sandbox.wire.bodies import Body, Flag, Tag, Text, Timestamp
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ParamError, ResourceNotFound

OLDER = Collection("reports", "report_m_")
NEWER = Collection("reporting/reports", "report_m_")
PENDING, READY, FAILED = "PENDING", "READY_FOR_DOWNLOAD", "FAILED"
MADE_AFTER = 2
"""Seconds from the request of a report until its file is there."""
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
    report = {**body.to_wire(), "EndsWith": call.fail_with or results.SUCCESS}
    return without_secrets(add(session, NEWER, report, due_at=session.now + MADE_AFTER))


def add(session: SandboxSession, reports: Collection, report: Json, *, due_at: float | None = None) -> Json:
    unknown = dict.fromkeys(("ReportDate", "DownloadURL", "ResultCode", "ResultMessage"))
    return reports.add(session, {**report, **unknown, "Status": PENDING}, due_at=due_at)


def settle_due(session: SandboxSession) -> None:
    """Make the reports whose time has come, unless the switch holds them back."""
    if not switches.read(session).reports_are_made:
        return
    for report in NEWER.due(session):
        code = report["EndsWith"]
        ended: Json = {"ReportDate": int(session.now), "ResultCode": code, "ResultMessage": results.message(code)}
        if code == results.SUCCESS:
            secret = session.secret()
            url = f"{session.settings.root}/reporting/downloads/{report['Id']}.csv?Signature={secret}"
            ended |= {"Status": READY, "DownloadURL": url, "Signature": secret}
            ended["Content"] = statements.write(session, report)
        else:
            ended["Status"] = FAILED
        NEWER.change(session, report["Id"], ended)
        events.emit(session, f"REPORT_{'GENERATED' if code == results.SUCCESS else 'FAILED'}", report["Id"])


def content(session: SandboxSession, id: str, signature: str) -> str:
    """The file of a report that was made. Raises ResourceNotFound for a wrong signature too."""
    report = NEWER.find(session, id)
    if not signature or report.get("Signature") != signature:
        raise ResourceNotFound
    return str(report["Content"])


def without_secrets(report: Json) -> Json:
    """A report as the provider tells it."""
    return {name: value for name, value in report.items() if name not in {"EndsWith", "Signature", "Content"}}


def read_newer(session: SandboxSession, call: HttpCall) -> Json:
    """GET /reporting/reports/{id}"""
    return without_secrets(NEWER.find(session, call.path["id"]))


def list_newer(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /reporting/reports"""
    filters = {name: value for name in ("Status", "ReportType") if (value := call.one(name))}
    page = NEWER.page(session, call, **filters)
    return replace(page, items=[without_secrets(report) for report in page.items])


ENDPOINTS = (
    *(WireEndpoint("POST", f"/reports/{kind.lower()}", partial(create_older, kind=kind)) for kind in KINDS),
    WireEndpoint("GET", "/reports", OLDER.list_all),
    WireEndpoint("GET", "/reports/{id}", OLDER.read),
    WireEndpoint("POST", "/reporting/reports", create_newer),
    WireEndpoint("GET", "/reporting/reports", list_newer),
    WireEndpoint("GET", "/reporting/reports/{id}", read_newer),
)
