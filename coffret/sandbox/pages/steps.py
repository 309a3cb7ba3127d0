"""Handlers of the hosted payment page. Each returns a page or a redirect."""

from collections.abc import Callable, Mapping, Sequence

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.pages import visits
from coffret.sandbox.pages.forms import CardForm, Filled, security_code_length
from coffret.sandbox.pages.texts import PageTexts
from coffret.sandbox.pages.visits import HostedPageRequest, NoticeLink, PageRedirect, PageResponse, RenderedPage
from coffret.sandbox.payments import checkout, results
from coffret.sandbox.payments.cards import BY_NUMBER, CHALLENGE_CODE, Trouble, cards_by_group
from coffret.sandbox.payments.checkout import WRONG_CODES, ChallengeChoice, HostedPayment, HostedPaymentStage


def address(visit: HostedPageRequest, step: str = "") -> str:
    """The URL of a step of this payment."""
    return f"{visit.base}/pay/{visit.token}{step}" + (
        f"?{visit.language_parameter[1:]}" if visit.language_parameter else ""
    )


def texts_of(visit: HostedPageRequest, page: HostedPayment | None) -> PageTexts:
    """The texts in the language of this response."""
    return visit.texts(page.culture if page else "")


def of_payment(
    step: Callable[[SandboxSession, HostedPageRequest, HostedPayment], PageResponse],
) -> Callable[[SandboxSession, HostedPageRequest], PageResponse]:
    """Wrap a step: load the payment of the URL's token. An unknown token gets a 404 page."""

    def run_step(session: SandboxSession, visit: HostedPageRequest) -> PageResponse:
        page = checkout.of_token(session, visit.token)
        return unknown(visit) if page is None else step(session, visit, page)

    return run_step


@of_payment
def show_card(session: SandboxSession, visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    """The card form, filled in with the test card in the query."""
    if page.stage is not HostedPaymentStage.CARD:
        return past_step_response(visit, page)
    card = BY_NUMBER.get(visit.query.get("card", ""))
    filled = Filled.by(card, example(session)) if card and page.brand in card.brands else Filled()
    return card_page(session, visit, page, filled)


@of_payment
def pay(session: SandboxSession, visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    """Process the card form. A repeated submission leads to the payment's current step."""
    if page.stage is not HostedPaymentStage.CARD:
        return onward(visit, page)
    form = CardForm.read(visit.typed, page.brand, session.today)
    if form.card is None or form.problems:
        return card_page(session, visit, page, form.filled, form.problems)
    trouble = checkout.submit(session, page.payin_id, form.card)
    page = checkout.of_token(session, visit.token) or page
    match trouble:
        case Trouble.ANSWER_LOST:
            return notice(visit, page, "answer_lost", "wait", [NoticeLink(page.shop, "back")])
        case Trouble.BAD_GATEWAY:
            return notice(visit, page, "bad_gateway", "bad", [NoticeLink(page.shop, "back")], status=502)
        case Trouble.REQUEST_LOST:
            return notice(
                visit, page, "request_lost", "bad", [NoticeLink(address(visit), "retry"), NoticeLink(page.shop, "back")]
            )
        case Trouble.NONE:
            return onward(visit, page)


@of_payment
def cancel(session: SandboxSession, visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    checkout.cancel(session, page)
    return onward(visit, checkout.of_token(session, visit.token) or page)


@of_payment
def show_challenge(_session: SandboxSession, visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    """The bank's challenge."""
    match page.stage:
        case HostedPaymentStage.CHALLENGE:
            return challenge_page(visit, page)
        case HostedPaymentStage.SILENT:
            return notice(visit, page, "silent", "wait", [NoticeLink(page.shop, "back")])
        case _:
            return past_step_response(visit, page)


@of_payment
def answer(session: SandboxSession, visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    """Process the bank's form."""
    choice = ChallengeChoice.REFUSE if visit.typed.get("choice") == ChallengeChoice.REFUSE else ChallengeChoice.CONFIRM
    right = checkout.answer(session, page, choice, visit.typed.get("code", ""))
    page = checkout.of_token(session, visit.token) or page
    if not right and page.stage is HostedPaymentStage.CHALLENGE:
        return challenge_page(
            visit, page, {"code": texts_of(visit, page)("code_wrong", left=WRONG_CODES - page.wrong_codes)}
        )
    return onward(visit, page)


@of_payment
def show_left(_session: SandboxSession, visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    """The buyer left the bank's page without an answer. The payment stays open."""
    if page.stage is not HostedPaymentStage.CHALLENGE:
        return past_step_response(visit, page)
    return notice(
        visit, page, "left", "wait", [NoticeLink(address(visit, "/challenge"), "resume"), NoticeLink(page.shop, "back")]
    )


def unknown(visit: HostedPageRequest) -> PageResponse:
    """The page for an unknown token."""
    return notice(visit, None, "unknown", "bad", [], status=404)


def onward(visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    """The response that leads to the payment's current step."""
    match page.stage:
        case HostedPaymentStage.CARD:
            return PageRedirect(address(visit))
        case HostedPaymentStage.CHALLENGE | HostedPaymentStage.SILENT:
            return PageRedirect(address(visit, "/challenge"))
        case HostedPaymentStage.SETTLING:
            return PageRedirect(page.shop)
        case HostedPaymentStage.DONE:
            return past_step_response(visit, page) if is_expired(page) else PageRedirect(page.shop)


def past_step_response(visit: HostedPageRequest, page: HostedPayment) -> PageResponse:
    """The response for a step that is no longer current."""
    if page.stage in {HostedPaymentStage.CARD, HostedPaymentStage.CHALLENGE, HostedPaymentStage.SILENT}:
        return onward(visit, page)
    if page.stage is HostedPaymentStage.SETTLING:
        return notice(visit, page, "settling", "wait", [NoticeLink(page.shop, "back")])
    name, mood = (
        ("paid", "good")
        if page.result_code == results.SUCCESS
        else ("expired", "bad")
        if is_expired(page)
        else ("failed", "bad")
    )
    return notice(visit, page, name, mood, [NoticeLink(page.shop, "back")], status=410)


def is_expired(page: HostedPayment) -> bool:
    """True if the payment ended by expiry."""
    return page.result_code in {results.LINK_EXPIRED, results.AUTHENTICATION_EXPIRED}


def card_page(
    session: SandboxSession,
    visit: HostedPageRequest,
    page: HostedPayment,
    filled: Filled,
    problems: Mapping[str, str] | None = None,
) -> RenderedPage:
    """The card form with its errors."""
    texts, digits = texts_of(visit, page), security_code_length(page.brand)
    found = {name: texts(reason, example=example(session), digits=digits) for name, reason in (problems or {}).items()}
    values = {
        "page": page,
        "filled": filled,
        "found": found,
        "number": filled.number.replace(" ", ""),
        "kept": f"&card={filled.number.replace(' ', '')}" if filled.number else "",
        "offered": cards_by_group(page.brand),
        "example": example(session),
        "digits": digits,
        "here": address(visit),
        "cancel": address(visit, "/cancel"),
        "language": visit.language_parameter,
    }
    return RenderedPage("card.html", texts, 400 if found else 200, values)


def challenge_page(
    visit: HostedPageRequest, page: HostedPayment, errors: Mapping[str, str] | None = None
) -> RenderedPage:
    """The bank's form with its errors."""
    values = {
        "page": page,
        "found": errors or {},
        "code": CHALLENGE_CODE,
        "here": address(visit, "/challenge"),
        "leave": address(visit, "/left"),
    }
    return RenderedPage("challenge.html", texts_of(visit, page), 400 if errors else 200, values)


def notice(
    visit: HostedPageRequest,
    page: HostedPayment | None,
    name: str,
    mood: str,
    links: Sequence[NoticeLink],
    *,
    status: int = 200,
) -> RenderedPage:
    """A page with one message about a payment, and links."""
    minutes = page.minutes_left if page else 0
    return visits.notice(texts_of(visit, page), name, mood, links, status=status, minutes=minutes)


def example(session: SandboxSession) -> str:
    """A month two years from now, such as 12/27."""
    return f"12/{(session.today.year + 2) % 100:02}"
