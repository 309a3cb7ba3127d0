"""The hosted pages of strong authentication. Every outcome leads back to `returnUrl`."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.pages import visits
from coffret.sandbox.pages.visits import HostedPageRequest, NoticeLink, PageRedirect, PageResponse, RenderedPage
from coffret.sandbox.users import sca, sca_walk, users
from coffret.sandbox.users.sca import ScaOutcome, ScaSession, ScaStage
from coffret.sandbox.wire.bodies import web_address

LONGEST_ADDRESS = 2_000
SECRETS = {"pin", "pin_again", "code"}
"""Form fields whose values are never displayed again."""
PURPOSES = {
    "enrolment": "sca_enrolment",
    "consent": "sca_consent",
    "account_access": "sca_account_access",
    "recipient": "sca_recipient",
    "transfer": "sca_transfer",
}
STEPS = {
    ScaStage.TERMS: "sca_terms",
    ScaStage.CONSENTS: "sca_consents",
    ScaStage.PASSKEY: "sca_passkey",
    ScaStage.EMAIL: "sca_email",
    ScaStage.PIN: "sca_pin",
    ScaStage.PHONE: "sca_phone",
    ScaStage.CODE: "sca_code",
}
"""The prefix of each step's texts."""
ENDED = {
    ScaOutcome.SUCCEEDED: ("sca_done", "good"),
    ScaOutcome.FAILED: ("sca_failed", "bad"),
    ScaOutcome.EXPIRED: ("sca_expired", "bad"),
}


def show(session: SandboxSession, visit: HostedPageRequest) -> PageResponse:
    """The current step of the session. GET changes nothing."""
    page = sca.of_token(session, visit.query.get("token", ""))
    if page is None:
        return notice(visit, "sca_unknown", "bad", 404)
    back = return_url_of(session, visit)
    if back is None:
        return notice(visit, "sca_lost", "bad", 400)
    if page.outcome is not None:
        name, mood = ENDED[page.outcome]
        return notice(visit, name, mood, 410, back)
    return step(session, visit, page, back, {}, autofill_values(session, page) if "fill" in visit.query else {})


def answer(session: SandboxSession, visit: HostedPageRequest) -> PageResponse:
    """Process the answer of a step, or a tester's shortcut. A session that ends redirects to `returnUrl`."""
    page, back = sca.of_token(session, visit.query.get("token", "")), return_url_of(session, visit)
    if page is None or back is None or page.outcome is not None:
        return show(session, visit)
    found: sca_walk.Problems = {}
    if (outcome := sca.CHOICES.get(visit.typed.get("outcome", ""))) is not None:
        sca.end(session, page.token, outcome)
    else:
        found = sca_walk.answer(session, page, visit.typed.get("stage", ""), visit.typed)
    page = sca.of_token(session, page.token) or page
    if page.outcome is not None:
        return PageRedirect(back)
    if found:
        shown_again = {name: value for name, value in visit.typed.items() if name not in SECRETS}
        return step(session, visit, page, back, found, shown_again)
    return PageRedirect(f"{visit.base}/sca?{session_query(visit)[1:]}{visit.language_parameter}")


def return_url_of(session: SandboxSession, visit: HostedPageRequest) -> str | None:
    """The valid `returnUrl` of the query; None if it is missing or invalid, or if the whole URL is too long."""
    whole = f"{session.settings.root}/sca?{session_query(visit)[1:]}"
    try:
        url = web_address(visit.query.get("returnUrl", ""))
    except ValueError:
        return None
    return url if len(whole) < LONGEST_ADDRESS else None


def session_query(visit: HostedPageRequest) -> str:
    """The query parameters that every URL of the session repeats."""
    return "&" + urlencode({name: visit.query[name] for name in ("token", "returnUrl") if name in visit.query})


def step(
    session: SandboxSession,
    visit: HostedPageRequest,
    page: ScaSession,
    back: str,
    errors: Mapping[str, str],
    values: Mapping[str, str],
) -> RenderedPage:
    """The form of a step, with its errors and the shortcuts for testers."""
    texts, user, name = visit.texts(), users.present(session, page.user_id), users.name(session, page.user_id)
    region = sca_walk.region(session, page)
    gaps = {"name": name, "left": sca_walk.WRONG_CODES - page.wrong_codes, "example": sca_walk.example_number(region)}
    return RenderedPage(
        "sca.html",
        texts,
        400 if errors else 200,
        {
            "page": page,
            "name": name,
            "purpose": texts(PURPOSES[page.purpose]),
            "number": page.stages.index(page.stage) + 1,
            "title": texts(f"{title(page)}_title"),
            "text": texts(f"{title(page)}_text", name=name, end=page.phone_end),
            "found": {field: texts(problem, **gaps) for field, problem in errors.items()},
            "values": values,
            "consents": sca_walk.consents(page),
            "chooses_pin": sca_walk.chooses_pin(page),
            "example": gaps["example"],
            "code": sca_walk.CODE,
            "email": users.email(user),
            "here": f"{visit.base}/sca?{session_query(visit)[1:]}{visit.language_parameter}",
            "kept": session_query(visit),
            "back": back,
        },
    )


def notice(visit: HostedPageRequest, name: str, mood: str, status: int, back: str | None = None) -> RenderedPage:
    """A page with one message and, if it is known, the link back."""
    links = [NoticeLink(back, "sca_back")] if back else []
    shown = visits.notice(visit.texts(), name, mood, links, status=status)
    return replace(shown, template="sca_notice.html", values={**shown.values, "kept": session_query(visit)})


def title(page: ScaSession) -> str:
    """The prefix of a step's texts. Enrolled users already have a PIN and a phone number, so their texts differ."""
    if page.purpose != "enrolment":
        other = {ScaStage.CONSENTS: "sca_proxy", ScaStage.PIN: "sca_pin_known", ScaStage.CODE: "sca_code_known"}
        return other[page.stage]
    return STEPS[page.stage]


def autofill_values(session: SandboxSession, page: ScaSession) -> Mapping[str, str]:
    """The values that the testers' autofill inserts."""
    return {
        "email": users.email(users.present(session, page.user_id)),
        "pin": "135790",
        "pin_again": "135790",
        "phone": sca_walk.example_number(sca_walk.region(session, page)),
        "code": sca_walk.CODE,
        **dict.fromkeys(("terms", *sca_walk.CONSENTS), sca_walk.TICKED),
    }
