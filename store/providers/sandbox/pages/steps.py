"""Each visit of a hosted page: what it does, and what the buyer sees or where the buyer goes next."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.providers.sandbox import checkout, results
from store.providers.sandbox.cards import BY_NUMBER, CHALLENGE_CODE, Trouble, offered
from store.providers.sandbox.checkout import WRONG_CODES, Checkout, Choice, Stage
from store.providers.sandbox.database import Session
from store.providers.sandbox.pages.forms import CardForm, Filled, security_code_length
from store.providers.sandbox.pages.texts import LANGUAGES, Texts, pick


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a hosted page: what was asked and typed. `base` is the path that the sandbox is mounted at."""

    base: str
    token: str
    card: str = ""
    wished: str | None = None
    accepted: Sequence[str] = ()
    typed: Mapping[str, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """What keeps a chosen language in an address that has a query already."""
        return f"&lang={self.wished}" if self.wished in LANGUAGES else ""

    def address(self, step: str = "") -> str:
        """The address of a step of this payment."""
        return f"{self.base}/pay/{self.token}{step}" + (f"?{self.language[1:]}" if self.language else "")

    def texts(self, page: Checkout | None) -> Texts:
        """The language to answer in."""
        return pick(self.wished, page.culture if page else "", self.accepted)


@dataclass(frozen=True, slots=True)
class Link:
    """A way on: an address and the name of its text."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A page to render."""

    template: str
    texts: Texts
    status: int = 200
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sent:
    """Another address to go to."""

    url: str


Answer = Shown | Sent


def show_card(session: Session, visit: Visit) -> Answer:
    """The card page, filled in with the test card that was chosen."""
    page = checkout.of_token(session, visit.token)
    if page is None:
        return unknown(session, visit)
    if page.stage is not Stage.CARD:
        return ended(visit, page)
    card = BY_NUMBER.get(visit.card)
    filled = Filled.by(card, example(session)) if card and page.brand in card.brands else Filled()
    return card_page(session, visit, page, filled)


def pay(session: Session, visit: Visit) -> Answer:
    """The card form was sent; sent again, it leads to where the first one led."""
    page = checkout.of_token(session, visit.token)
    if page is None:
        return unknown(session, visit)
    if page.stage is not Stage.CARD:
        return onward(visit, page)
    form = CardForm.read(visit.typed, page.brand, today(session))
    if form.card is None or form.problems:
        return card_page(session, visit, page, form.filled, form.problems)
    trouble = checkout.submit(session, page.payin_id, form.card)
    page = checkout.of_token(session, visit.token) or page
    match trouble:
        case Trouble.ANSWER_LOST:
            return notice(visit, page, "answer_lost", "wait", [Link(page.shop, "back")])
        case Trouble.BAD_GATEWAY:
            return notice(visit, page, "bad_gateway", "bad", [Link(page.shop, "back")], status=502)
        case Trouble.REQUEST_LOST:
            return notice(visit, page, "request_lost", "bad", [Link(visit.address(), "retry"), Link(page.shop, "back")])
        case Trouble.NONE:
            return onward(visit, page)


def cancel(session: Session, visit: Visit) -> Answer:
    """The buyer gives up and goes back to the shop."""
    page = checkout.of_token(session, visit.token)
    if page is None:
        return unknown(session, visit)
    checkout.cancel(session, page)
    return onward(visit, checkout.of_token(session, visit.token) or page)


def show_challenge(session: Session, visit: Visit) -> Answer:
    """The bank's page."""
    page = checkout.of_token(session, visit.token)
    if page is None:
        return unknown(session, visit)
    match page.stage:
        case Stage.CHALLENGE:
            return challenge_page(visit, page)
        case Stage.SILENT:
            return notice(visit, page, "silent", "wait", [Link(page.shop, "back")])
        case _:
            return ended(visit, page)


def answer(session: Session, visit: Visit) -> Answer:
    """The bank's form was sent."""
    page = checkout.of_token(session, visit.token)
    if page is None:
        return unknown(session, visit)
    choice = Choice.REFUSE if visit.typed.get("choice") == Choice.REFUSE else Choice.CONFIRM
    right = checkout.answer(session, page, choice, visit.typed.get("code", ""))
    page = checkout.of_token(session, visit.token) or page
    if not right and page.stage is Stage.CHALLENGE:
        return challenge_page(
            visit, page, {"code": visit.texts(page)("code_wrong", left=WRONG_CODES - page.wrong_codes)}
        )
    return onward(visit, page)


def show_left(session: Session, visit: Visit) -> Answer:
    """The buyer left the bank's page without an answer: nothing is decided."""
    page = checkout.of_token(session, visit.token)
    if page is None:
        return unknown(session, visit)
    if page.stage is not Stage.CHALLENGE:
        return ended(visit, page)
    return notice(visit, page, "left", "wait", [Link(visit.address("/challenge"), "resume"), Link(page.shop, "back")])


def unmodelled(_session: Session, visit: Visit) -> Answer:
    """A page of the provider that the sandbox does not have."""
    return notice(visit, None, "unmodelled", "wait", [], status=501)


def unknown(_session: Session, visit: Visit) -> Answer:
    """An address that leads to no payment."""
    return notice(visit, None, "unknown", "bad", [], status=404)


def onward(visit: Visit, page: Checkout) -> Answer:
    """Where the payment goes on."""
    match page.stage:
        case Stage.CARD:
            return Sent(visit.address())
        case Stage.CHALLENGE | Stage.SILENT:
            return Sent(visit.address("/challenge"))
        case Stage.SETTLING:
            return Sent(page.shop)
        case Stage.DONE:
            return ended(visit, page) if expired(page) else Sent(page.shop)


def ended(visit: Visit, page: Checkout) -> Answer:
    """What someone sees who comes to a page that is no longer the payment's."""
    if page.stage in {Stage.CARD, Stage.CHALLENGE, Stage.SILENT}:
        return onward(visit, page)
    if page.stage is Stage.SETTLING:
        return notice(visit, page, "settling", "wait", [Link(page.shop, "back")])
    name, mood = (
        ("paid", "good")
        if page.result_code == results.SUCCESS
        else ("expired", "bad")
        if expired(page)
        else ("failed", "bad")
    )
    return notice(visit, page, name, mood, [Link(page.shop, "back")], status=410)


def expired(page: Checkout) -> bool:
    """Whether time ended the payment."""
    return page.result_code in {results.LINK_EXPIRED, results.AUTHENTICATION_EXPIRED}


def card_page(
    session: Session, visit: Visit, page: Checkout, filled: Filled, problems: Mapping[str, str] | None = None
) -> Shown:
    """The card form, with what is wrong with it."""
    texts, digits = visit.texts(page), security_code_length(page.brand)
    found = {name: texts(reason, example=example(session), digits=digits) for name, reason in (problems or {}).items()}
    values = {
        "page": page,
        "filled": filled,
        "found": found,
        "number": filled.number.replace(" ", ""),
        "offered": offered(page.brand),
        "example": example(session),
        "digits": digits,
        "here": visit.address(),
        "cancel": visit.address("/cancel"),
        "language": visit.language,
    }
    return Shown("card.html", texts, 400 if found else 200, values)


def challenge_page(visit: Visit, page: Checkout, found: Mapping[str, str] | None = None) -> Shown:
    """The bank's form, with what is wrong with it."""
    values = {
        "page": page,
        "found": found or {},
        "code": CHALLENGE_CODE,
        "here": visit.address("/challenge"),
        "leave": visit.address("/left"),
    }
    return Shown("challenge.html", visit.texts(page), 400 if found else 200, values)


def notice(
    visit: Visit, page: Checkout | None, name: str, mood: str, links: Sequence[Link], *, status: int = 200
) -> Shown:
    """A page that tells one thing and shows the way on. `mood` is `good`, `bad` or `wait`."""
    texts = visit.texts(page)
    minutes = page.minutes_left if page else 0
    values = {
        "title": texts(f"{name}_title"),
        "text": texts(f"{name}_text", minutes=minutes),
        "mood": mood,
        "links": links,
    }
    return Shown("notice.html", texts, status, values)


def today(session: Session) -> dt.date:
    """The day, in UTC."""
    return dt.datetime.fromtimestamp(session.now, dt.UTC).date()


def example(session: Session) -> str:
    """A month two years ahead, such as 12/27."""
    return f"12/{(today(session).year + 2) % 100:02}"
