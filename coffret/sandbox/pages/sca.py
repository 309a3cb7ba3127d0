"""The hosted pages of strong authentication. Whatever the outcome, they lead back to the address in `returnUrl`."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from coffret.sandbox import sca, sca_walk, users
from coffret.sandbox.database import Session
from coffret.sandbox.pages import visits
from coffret.sandbox.pages.visits import Answer, Link, Sent, Shown, Visit
from coffret.sandbox.sca import Authentication, Outcome, Stage
from coffret.sandbox.wire.bodies import web_address

LONGEST_ADDRESS = 2_000
SECRETS = {"pin", "pin_again", "code"}
"""What is never shown again."""
PURPOSES = {
    "enrolment": "sca_enrolment",
    "consent": "sca_consent",
    "account_access": "sca_account_access",
    "recipient": "sca_recipient",
    "transfer": "sca_transfer",
}
STEPS = {
    Stage.TERMS: "sca_terms",
    Stage.CONSENTS: "sca_consents",
    Stage.PASSKEY: "sca_passkey",
    Stage.EMAIL: "sca_email",
    Stage.PIN: "sca_pin",
    Stage.PHONE: "sca_phone",
    Stage.CODE: "sca_code",
}
"""The name of each step's title and text."""
ENDED = {
    Outcome.SUCCEEDED: ("sca_done", "good"),
    Outcome.FAILED: ("sca_failed", "bad"),
    Outcome.EXPIRED: ("sca_expired", "bad"),
}


def show(session: Session, visit: Visit) -> Answer:
    """The step that the session is at. Looking changes nothing, however often."""
    page = sca.of_token(session, visit.query.get("token", ""))
    if page is None:
        return notice(visit, "sca_unknown", "bad", 404)
    back = way_back(session, visit)
    if back is None:
        return notice(visit, "sca_lost", "bad", 400)
    if page.outcome is not None:
        name, mood = ENDED[page.outcome]
        return notice(visit, name, mood, 410, back)
    return step(session, visit, page, back, {}, filled(session, page) if "fill" in visit.query else {})


def answer(session: Session, visit: Visit) -> Answer:
    """A step was answered, or a tester took a shortcut; an end leads back at once."""
    page, back = sca.of_token(session, visit.query.get("token", "")), way_back(session, visit)
    if page is None or back is None or page.outcome is not None:
        return show(session, visit)
    found: sca_walk.Problems = {}
    if (outcome := sca.CHOICES.get(visit.typed.get("outcome", ""))) is not None:
        sca.end(session, page.token, outcome)
    else:
        found = sca_walk.answer(session, page, visit.typed.get("stage", ""), visit.typed)
    page = sca.of_token(session, page.token) or page
    if page.outcome is not None:
        return Sent(back)
    if found:
        shown_again = {name: value for name, value in visit.typed.items() if name not in SECRETS}
        return step(session, visit, page, back, found, shown_again)
    return Sent(f"{visit.base}/sca?{kept(visit)[1:]}{visit.language}")


def way_back(session: Session, visit: Visit) -> str | None:
    """Where the person goes in the end. Without a good `returnUrl`, written exactly so, there is no way back."""
    whole = f"{session.settings.root}/sca?{kept(visit)[1:]}"
    try:
        url = web_address(visit.query.get("returnUrl", ""))
    except ValueError:
        return None
    return url if len(whole) < LONGEST_ADDRESS else None


def kept(visit: Visit) -> str:
    """What every address of the session holds."""
    return "&" + urlencode({name: visit.query[name] for name in ("token", "returnUrl") if name in visit.query})


def step(
    session: Session,
    visit: Visit,
    page: Authentication,
    back: str,
    found: Mapping[str, str],
    values: Mapping[str, str],
) -> Shown:
    """The form of a step, with what is wrong with it, and what testers can do besides."""
    texts, user, name = visit.texts(), users.present(session, page.user_id), users.name(session, page.user_id)
    region = sca_walk.region(session, page)
    gaps = {"name": name, "left": sca_walk.WRONG_CODES - page.wrong_codes, "example": sca_walk.example_number(region)}
    return Shown(
        "sca.html",
        texts,
        400 if found else 200,
        {
            "page": page,
            "name": name,
            "purpose": texts(PURPOSES[page.purpose]),
            "number": page.stages.index(page.stage) + 1,
            "title": texts(f"{title(page)}_title"),
            "text": texts(f"{title(page)}_text", name=name, end=page.phone_end),
            "found": {field: texts(problem, **gaps) for field, problem in found.items()},
            "values": values,
            "consents": sca_walk.consents(page),
            "chooses_pin": sca_walk.chooses_pin(page),
            "example": gaps["example"],
            "code": sca_walk.CODE,
            "email": users.email(user),
            "here": f"{visit.base}/sca?{kept(visit)[1:]}{visit.language}",
            "kept": kept(visit),
            "back": back,
        },
    )


def notice(visit: Visit, name: str, mood: str, status: int, back: str | None = None) -> Shown:
    """A page that tells one thing and, where it is known, shows the way back."""
    links = [Link(back, "sca_back")] if back else []
    shown = visits.notice(visit.texts(), name, mood, links, status=status)
    return replace(shown, template="sca_notice.html", values={**shown.values, "kept": kept(visit)})


def title(page: Authentication) -> str:
    """The name of a step's title and text. Who is enrolled already has a PIN and a telephone."""
    if page.purpose != "enrolment":
        other = {Stage.CONSENTS: "sca_proxy", Stage.PIN: "sca_pin_known", Stage.CODE: "sca_code_known"}
        return other[page.stage]
    return STEPS[page.stage]


def filled(session: Session, page: Authentication) -> Mapping[str, str]:
    """What a tester would type."""
    return {
        "email": users.email(users.present(session, page.user_id)),
        "pin": "135790",
        "pin_again": "135790",
        "phone": sca_walk.example_number(sca_walk.region(session, page)),
        "code": sca_walk.CODE,
        **dict.fromkeys(("terms", *sca_walk.CONSENTS), sca_walk.TICKED),
    }
