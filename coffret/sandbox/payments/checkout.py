"""The steps of the hosted payment page: card, challenge, end. Each step is taken at most once."""

import datetime as dt
import json
import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode, urlsplit, urlunsplit

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import movements, results
from coffret.sandbox.payments.cards import BY_NUMBER, CHALLENGE_CODE, Card, CardBrand, Trouble
from coffret.sandbox.wire.endpoints import Json

OPEN_FOR = 900
"""Lifetime of the page in seconds."""
WRONG_CODES = 3
"""Number of wrong codes after which a challenge fails."""


class HostedPaymentStage(StrEnum):
    """The buyer's current step."""

    CARD = "card"
    """The card form."""
    CHALLENGE = "challenge"
    """The bank's challenge asks for the code."""
    SILENT = "silent"
    """The bank never answers."""
    SETTLING = "settling"
    """The buyer returned to the shop; the result follows later."""
    DONE = "done"
    """The pay-in has ended."""


class ChallengeChoice(StrEnum):
    """The buyer's choice on the bank's page."""

    CONFIRM = "confirm"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class HostedPayment:
    """A hosted page and its pay-in. `shop` is the return URL."""

    payin_id: str
    token: str
    stage: HostedPaymentStage
    due_at: float
    card: str | None
    wrong_codes: int
    merchant: str
    brand: CardBrand
    culture: str
    currency: str
    amount: int
    result_code: str | None
    shop: str
    now: float

    @property
    def minutes_left(self) -> int:
        """Minutes until the page expires, rounded up; 0 after it."""
        return max(0, -int(-(self.due_at - self.now) // 60))

    @property
    def chosen(self) -> Card | None:
        """The card that the buyer used; None before."""
        return BY_NUMBER.get(self.card or "")


def open_page(
    session: SandboxSession,
    payin_id: str,
    token: str,
    stage: HostedPaymentStage = HostedPaymentStage.CARD,
    lifetime: int = OPEN_FOR,
) -> None:
    """Create the hosted page of a new pay-in, at its first step."""
    session.change(
        "INSERT INTO checkout (payin_id, token, stage, due_at) VALUES (?, ?, ?, ?)",
        payin_id,
        token,
        stage,
        session.now + lifetime,
    )


def of_token(session: SandboxSession, token: str) -> HostedPayment | None:
    """The page with a token."""
    return load_page(session, "checkout.token = ?", token)


def of_payin(session: SandboxSession, payin_id: str) -> HostedPayment | None:
    return load_page(session, "checkout.payin_id = ?", payin_id)


def submit(session: SandboxSession, payin_id: str, card: Card, *, force_challenge: bool = False) -> Trouble:
    """Pay with a card, which may ask for a challenge.

    Only the first submission of a page has an effect. Returns the disturbance of the buyer's page.
    """
    if card.trouble is Trouble.REQUEST_LOST:
        return card.trouble if stage(session, payin_id) is HostedPaymentStage.CARD else Trouble.NONE
    if card.challenge or force_challenge:
        move(session, payin_id, HostedPaymentStage.CARD, HostedPaymentStage.CHALLENGE, card=card.number)
        return Trouble.NONE
    if card.settles_after:
        move(
            session,
            payin_id,
            HostedPaymentStage.CARD,
            HostedPaymentStage.SETTLING,
            card=card.number,
            due_at=session.now + card.settles_after,
        )
        return Trouble.NONE
    if not move(session, payin_id, HostedPaymentStage.CARD, HostedPaymentStage.DONE, card=card.number):
        return Trouble.NONE
    movements.finish(session, payin_id, card.result)
    return card.trouble


def answer(session: SandboxSession, page: HostedPayment, choice: ChallengeChoice, code: str) -> bool:
    """Answer the bank's challenge. Returns False if the code was wrong. Has no effect once the challenge has ended."""
    card = page.chosen
    if stage(session, page.payin_id) is not HostedPaymentStage.CHALLENGE:
        return True
    if choice is ChallengeChoice.REFUSE:
        end(session, page.payin_id, results.AUTHENTICATION_FAILED)
    elif code.strip() != CHALLENGE_CODE:
        session.change("UPDATE checkout SET wrong_codes = wrong_codes + 1 WHERE payin_id = ?", page.payin_id)
        if page.wrong_codes + 1 >= WRONG_CODES:
            end(session, page.payin_id, results.AUTHENTICATION_FAILED)
        return False
    elif card is not None and card.silent:
        move(session, page.payin_id, HostedPaymentStage.CHALLENGE, HostedPaymentStage.SILENT)
    else:
        end(session, page.payin_id, card.result if card else results.SUCCESS)
    return True


def cancel(session: SandboxSession, page: HostedPayment) -> None:
    """Cancel the payment. Has no effect on a page that has ended or is settling."""
    if stage(session, page.payin_id) not in {HostedPaymentStage.SETTLING, HostedPaymentStage.DONE}:
        end(session, page.payin_id, results.CANCELLED_BY_BUYER)


def settle_due(session: SandboxSession) -> None:
    """End every page whose time has come."""
    for row in session.rows(
        "SELECT * FROM checkout WHERE stage <> ? AND due_at <= ? ORDER BY due_at", HostedPaymentStage.DONE, session.now
    ):
        match HostedPaymentStage(row["stage"]):
            case HostedPaymentStage.SETTLING:
                code = BY_NUMBER[row["card"]].result if row["card"] else results.SUCCESS
            case HostedPaymentStage.CARD:
                code = results.LINK_EXPIRED
            case _:
                code = results.AUTHENTICATION_EXPIRED
        end(session, row["payin_id"], code, row["due_at"])


def end(session: SandboxSession, payin_id: str, code: str, at: float | None = None) -> None:
    """Close the page and finish the pay-in with a result code."""
    session.change("UPDATE checkout SET stage = ? WHERE payin_id = ?", HostedPaymentStage.DONE, payin_id)
    movements.finish(session, payin_id, code, at)


def expiry(session: SandboxSession) -> dt.date:
    """The expiry month that the test cards show."""
    return dt.datetime.fromtimestamp(session.now, dt.UTC).date().replace(day=1) + dt.timedelta(days=2 * 366)


def stage(session: SandboxSession, payin_id: str) -> HostedPaymentStage:
    row = session.row("SELECT stage FROM checkout WHERE payin_id = ?", payin_id)
    return HostedPaymentStage(row["stage"]) if row else HostedPaymentStage.DONE


def move(
    session: SandboxSession,
    payin_id: str,
    before: HostedPaymentStage,
    after: HostedPaymentStage,
    *,
    card: str | None = None,
    due_at: float | None = None,
) -> bool:
    """Move a page to the next stage if it is at `before`. Returns whether it was."""
    return bool(
        session.change(
            """UPDATE checkout SET stage = ?, card = coalesce(?, card), due_at = coalesce(?, due_at)
               WHERE payin_id = ? AND stage = ?""",
            after,
            card,
            due_at,
            payin_id,
            before,
        )
    )


def load_page(session: SandboxSession, condition: str, value: str) -> HostedPayment | None:
    """A page with the data of its pay-in."""
    row: sqlite3.Row | None = session.row(
        f"""SELECT checkout.*, movement.*, user.name AS merchant FROM checkout
            JOIN movement ON movement.id = checkout.payin_id JOIN user ON user.id = movement.credited_user_id
            WHERE {condition}""",  # noqa: S608 - the condition is written in this module
        value,
    )
    if row is None:
        return None
    body = json.loads(row["body"])
    return HostedPayment(
        payin_id=row["payin_id"],
        token=row["token"],
        stage=HostedPaymentStage(row["stage"]),
        due_at=row["due_at"],
        card=row["card"],
        wrong_codes=row["wrong_codes"],
        merchant=row["merchant"],
        brand=brand(body, row["card"]),
        culture=body.get("Culture") or "EN",
        currency=row["currency"],
        amount=row["debited"],
        result_code=row["result_code"],
        shop=return_address(body.get("ReturnURL") or body.get("SecureModeReturnURL") or "", row["payin_id"]),
        now=session.now,
    )


def brand(body: Json, number: str | None) -> CardBrand:
    """The brand of cards that a page is for: the one that was asked for, or that of the card that is charged."""
    asked = body.get("CardType")
    if asked in list(CardBrand):
        return CardBrand(asked)
    return BY_NUMBER[number].brands[0] if number else CardBrand.CB_VISA_MASTERCARD


def return_address(return_url: str, payin_id: str) -> str:
    """The shop's return URL with `transactionId` added to its query."""
    parts = urlsplit(return_url)
    query = "&".join(part for part in (parts.query, urlencode({"transactionId": payin_id})) if part)
    return urlunsplit(parts._replace(query=query))
