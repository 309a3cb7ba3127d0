"""Each visit of a hosted page: what it does, and what the buyer sees or where the buyer goes next."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence

from coffret.sandbox import checkout, results
from coffret.sandbox.cards import BY_NUMBER, CHALLENGE_CODE, Trouble, offered
from coffret.sandbox.checkout import WRONG_CODES, Checkout, Choice, Stage
from coffret.sandbox.database import Session
from coffret.sandbox.pages import visits
from coffret.sandbox.pages.forms import CardForm, Filled, security_code_length
from coffret.sandbox.pages.texts import Texts
from coffret.sandbox.pages.visits import Answer, Link, Sent, Shown, Visit


def address(visit: Visit, step: str = "") -> str:
    """The address of a step of this payment."""
    return f"{visit.base}/pay/{visit.token}{step}" + (f"?{visit.language[1:]}" if visit.language else "")


def texts_of(visit: Visit, page: Checkout | None) -> Texts:
    """The language to answer in."""
    return visit.texts(page.culture if page else "")


def of_payment(step: Callable[[Session, Visit, Checkout], Answer]) -> Callable[[Session, Visit], Answer]:
    """A step of the payment that its address names, or what somebody sees whose address leads to none."""

    def taken(session: Session, visit: Visit) -> Answer:
        page = checkout.of_token(session, visit.token)
        return unknown(visit) if page is None else step(session, visit, page)

    return taken


@of_payment
def show_card(session: Session, visit: Visit, page: Checkout) -> Answer:
    """The card page, filled in with the test card that was chosen."""
    if page.stage is not Stage.CARD:
        return ended(visit, page)
    card = BY_NUMBER.get(visit.query.get("card", ""))
    filled = Filled.by(card, example(session)) if card and page.brand in card.brands else Filled()
    return card_page(session, visit, page, filled)


@of_payment
def pay(session: Session, visit: Visit, page: Checkout) -> Answer:
    """The card form was sent; sent again, it leads to where the first one led."""
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
            return notice(visit, page, "request_lost", "bad", [Link(address(visit), "retry"), Link(page.shop, "back")])
        case Trouble.NONE:
            return onward(visit, page)


@of_payment
def cancel(session: Session, visit: Visit, page: Checkout) -> Answer:
    """The buyer gives up and goes back to the shop."""
    checkout.cancel(session, page)
    return onward(visit, checkout.of_token(session, visit.token) or page)


@of_payment
def show_challenge(_session: Session, visit: Visit, page: Checkout) -> Answer:
    """The bank's page."""
    match page.stage:
        case Stage.CHALLENGE:
            return challenge_page(visit, page)
        case Stage.SILENT:
            return notice(visit, page, "silent", "wait", [Link(page.shop, "back")])
        case _:
            return ended(visit, page)


@of_payment
def answer(session: Session, visit: Visit, page: Checkout) -> Answer:
    """The bank's form was sent."""
    choice = Choice.REFUSE if visit.typed.get("choice") == Choice.REFUSE else Choice.CONFIRM
    right = checkout.answer(session, page, choice, visit.typed.get("code", ""))
    page = checkout.of_token(session, visit.token) or page
    if not right and page.stage is Stage.CHALLENGE:
        return challenge_page(
            visit, page, {"code": texts_of(visit, page)("code_wrong", left=WRONG_CODES - page.wrong_codes)}
        )
    return onward(visit, page)


@of_payment
def show_left(_session: Session, visit: Visit, page: Checkout) -> Answer:
    """The buyer left the bank's page without an answer: nothing is decided."""
    if page.stage is not Stage.CHALLENGE:
        return ended(visit, page)
    return notice(visit, page, "left", "wait", [Link(address(visit, "/challenge"), "resume"), Link(page.shop, "back")])


def unknown(visit: Visit) -> Answer:
    """An address that leads to no payment."""
    return notice(visit, None, "unknown", "bad", [], status=404)


def onward(visit: Visit, page: Checkout) -> Answer:
    """Where the payment goes on."""
    match page.stage:
        case Stage.CARD:
            return Sent(address(visit))
        case Stage.CHALLENGE | Stage.SILENT:
            return Sent(address(visit, "/challenge"))
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
    texts, digits = texts_of(visit, page), security_code_length(page.brand)
    found = {name: texts(reason, example=example(session), digits=digits) for name, reason in (problems or {}).items()}
    values = {
        "page": page,
        "filled": filled,
        "found": found,
        "number": filled.number.replace(" ", ""),
        "kept": f"&card={filled.number.replace(' ', '')}" if filled.number else "",
        "offered": offered(page.brand),
        "example": example(session),
        "digits": digits,
        "here": address(visit),
        "cancel": address(visit, "/cancel"),
        "language": visit.language,
    }
    return Shown("card.html", texts, 400 if found else 200, values)


def challenge_page(visit: Visit, page: Checkout, found: Mapping[str, str] | None = None) -> Shown:
    """The bank's form, with what is wrong with it."""
    values = {
        "page": page,
        "found": found or {},
        "code": CHALLENGE_CODE,
        "here": address(visit, "/challenge"),
        "leave": address(visit, "/left"),
    }
    return Shown("challenge.html", texts_of(visit, page), 400 if found else 200, values)


def notice(
    visit: Visit, page: Checkout | None, name: str, mood: str, links: Sequence[Link], *, status: int = 200
) -> Shown:
    """A page that tells one thing of a payment and shows the way on."""
    minutes = page.minutes_left if page else 0
    return visits.notice(texts_of(visit, page), name, mood, links, status=status, minutes=minutes)


def today(session: Session) -> dt.date:
    """The day, in UTC."""
    return dt.datetime.fromtimestamp(session.now, dt.UTC).date()


def example(session: Session) -> str:
    """A month two years ahead, such as 12/27."""
    return f"12/{(today(session).year + 2) % 100:02}"
