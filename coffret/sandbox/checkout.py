"""The buyer's way through the hosted page of a web pay-in: card, challenge, end. Each step is taken once."""

import datetime as dt
import json
import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode, urlsplit, urlunsplit

from coffret.sandbox import movements, results
from coffret.sandbox.cards import BY_NUMBER, CHALLENGE_CODE, Brand, Card, Trouble
from coffret.sandbox.database import Session

OPEN_FOR = 900
"""Seconds that the page lives."""
WRONG_CODES = 3
"""So many wrong codes end a challenge."""


class Stage(StrEnum):
    """Where the buyer is."""

    CARD = "card"
    """Typing the card."""
    CHALLENGE = "challenge"
    """At the bank, being asked for the code."""
    SILENT = "silent"
    """At a bank that never answers."""
    SETTLING = "settling"
    """Sent back to the shop; the result comes later."""
    DONE = "done"
    """The pay-in has ended."""


class Choice(StrEnum):
    """What a buyer does on the bank's page."""

    CONFIRM = "confirm"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Checkout:
    """One hosted page and its pay-in. `minutes_left` rounds up; `shop` is where the buyer goes in the end."""

    payin_id: str
    token: str
    stage: Stage
    due_at: float
    card: str | None
    wrong_codes: int
    merchant: str
    brand: Brand
    culture: str
    currency: str
    amount: int
    result_code: str | None
    shop: str
    now: float

    @property
    def minutes_left(self) -> int:
        """Whole minutes until the page ends, at least 1 while it is open."""
        return max(0, -int(-(self.due_at - self.now) // 60))

    @property
    def chosen(self) -> Card | None:
        """The card that was used."""
        return BY_NUMBER.get(self.card or "")


def open_page(session: Session, payin_id: str, token: str) -> None:
    """Open the hosted page of a new pay-in."""
    session.change(
        "INSERT INTO checkout (payin_id, token, stage, due_at) VALUES (?, ?, ?, ?)",
        payin_id,
        token,
        Stage.CARD,
        session.now + OPEN_FOR,
    )


def of_token(session: Session, token: str) -> Checkout | None:
    """The page that an address leads to."""
    return loaded(session, "checkout.token = ?", token)


def of_payin(session: Session, payin_id: str) -> Checkout | None:
    """The page of a pay-in."""
    return loaded(session, "checkout.payin_id = ?", payin_id)


def submit(session: Session, payin_id: str, card: Card) -> Trouble:
    """Pay with a card. Only the first submission of a page does anything. Answers what happens to the buyer's page."""
    if card.trouble is Trouble.REQUEST_LOST:
        return card.trouble if stage(session, payin_id) is Stage.CARD else Trouble.NONE
    if card.challenge:
        move(session, payin_id, Stage.CARD, Stage.CHALLENGE, card=card.number)
        return Trouble.NONE
    if card.settles_after:
        move(session, payin_id, Stage.CARD, Stage.SETTLING, card=card.number, due_at=session.now + card.settles_after)
        return Trouble.NONE
    if not move(session, payin_id, Stage.CARD, Stage.DONE, card=card.number):
        return Trouble.NONE
    movements.finish(session, payin_id, card.result)
    return card.trouble


def answer(session: Session, page: Checkout, choice: Choice, code: str) -> bool:
    """Answer the bank's challenge; answers whether the code was right. A challenge that has ended changes nothing."""
    card = page.chosen
    if stage(session, page.payin_id) is not Stage.CHALLENGE or card is None:
        return True
    if choice is Choice.REFUSE:
        end(session, page.payin_id, results.AUTHENTICATION_FAILED)
    elif code.strip() != CHALLENGE_CODE:
        session.change("UPDATE checkout SET wrong_codes = wrong_codes + 1 WHERE payin_id = ?", page.payin_id)
        if page.wrong_codes + 1 >= WRONG_CODES:
            end(session, page.payin_id, results.AUTHENTICATION_FAILED)
        return False
    elif card.silent:
        move(session, page.payin_id, Stage.CHALLENGE, Stage.SILENT)
    else:
        end(session, page.payin_id, card.result)
    return True


def cancel(session: Session, page: Checkout) -> None:
    """The buyer gives up. A page that has ended, or was sent on to settle, changes nothing."""
    if stage(session, page.payin_id) not in {Stage.SETTLING, Stage.DONE}:
        end(session, page.payin_id, results.CANCELLED_BY_BUYER)


def settle_due(session: Session) -> None:
    """End every page whose time is up."""
    for row in session.rows(
        "SELECT * FROM checkout WHERE stage <> ? AND due_at <= ? ORDER BY due_at", Stage.DONE, session.now
    ):
        match Stage(row["stage"]):
            case Stage.SETTLING:
                code = BY_NUMBER[row["card"]].result
            case Stage.CARD:
                code = results.LINK_EXPIRED
            case _:
                code = results.AUTHENTICATION_EXPIRED
        end(session, row["payin_id"], code, row["due_at"])


def end(session: Session, payin_id: str, code: str, at: float | None = None) -> None:
    """Close the page and end the pay-in with a result code."""
    session.change("UPDATE checkout SET stage = ? WHERE payin_id = ?", Stage.DONE, payin_id)
    movements.finish(session, payin_id, code, at)


def expiry(session: Session) -> dt.date:
    """The expiry month that test cards are filled in with."""
    return dt.datetime.fromtimestamp(session.now, dt.UTC).date().replace(day=1) + dt.timedelta(days=2 * 366)


def stage(session: Session, payin_id: str) -> Stage:
    """Where the buyer is now."""
    row = session.row("SELECT stage FROM checkout WHERE payin_id = ?", payin_id)
    return Stage(row["stage"]) if row else Stage.DONE


def move(
    session: Session,
    payin_id: str,
    before: Stage,
    after: Stage,
    *,
    card: str | None = None,
    due_at: float | None = None,
) -> bool:
    """Take a page from one stage to the next, if it is still there; answers whether it was."""
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


def loaded(session: Session, condition: str, value: str) -> Checkout | None:
    """A page with what it shows of its pay-in."""
    row: sqlite3.Row | None = session.row(
        f"""SELECT checkout.*, movement.*, user.name AS merchant FROM checkout
            JOIN movement ON movement.id = checkout.payin_id JOIN user ON user.id = movement.credited_user_id
            WHERE {condition}""",  # noqa: S608 - the condition is written in this module
        value,
    )
    if row is None:
        return None
    body = json.loads(row["body"])
    return Checkout(
        payin_id=row["payin_id"],
        token=row["token"],
        stage=Stage(row["stage"]),
        due_at=row["due_at"],
        card=row["card"],
        wrong_codes=row["wrong_codes"],
        merchant=row["merchant"],
        brand=Brand(body["CardType"]),
        culture=body["Culture"],
        currency=row["currency"],
        amount=row["debited"],
        result_code=row["result_code"],
        shop=returning(body["ReturnURL"], row["payin_id"]),
        now=session.now,
    )


def returning(return_url: str, payin_id: str) -> str:
    """The shop's address with `transactionId` added to whatever query it has."""
    parts = urlsplit(return_url)
    query = "&".join(part for part in (parts.query, urlencode({"transactionId": payin_id})) if part)
    return urlunsplit(parts._replace(query=query))
