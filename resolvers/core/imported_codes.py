"""Codes of vouchers and gift cards that another system issued: which cannot be taken over, and which exist already."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, func, select

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.operation import Call
from schema.core.errors import InvalidInput, Problem, ProblemPath
from schema.core.message_names import TemplatedMessage
from schema.validation.characters import clean_line
from store.core.codes import is_mistyped, normalize
from store.database.db import violated_constraint
from store.database.loaders import is_any_of
from store.gift_card.gift_cards import GiftCardRow
from store.partner.partners import PartnerRow
from store.voucher.vouchers import VoucherRow

SHORTEST_CODE, LONGEST_CODE = 3, 40
CODE_LENGTH = "Use {least} to {most} characters, spaces and hyphens not counted."
MISTYPED = "This looks like one of our codes with a wrong character. Compare it with the {thing}."
EXISTS = "A {thing} with this code exists already."
VOUCHERS_EXIST = "Vouchers with one or more of these codes exist already. Import them one by one to find out which."
GIFT_CARDS_EXIST = "Gift cards with one or more of these codes exist already. Import them one by one to find out which."


class ExistingCodes(NamedTuple):
    """Which of the codes belong to existing objects."""

    visible: frozenset[str]
    """Codes of objects visible to the caller."""
    has_hidden: bool
    """True if some belong to objects that the caller cannot see."""


@dataclass(frozen=True)
class ImportedCodes:
    """The codes of an import, as they were sent."""

    call: Call
    table: type[VoucherRow] | type[GiftCardRow]
    thing: str
    """What has them: `voucher` or `gift card`."""
    under: ProblemPath
    """The path of the list in the input; empty if it is one object."""
    codes: Sequence[str]

    @cached_property
    def normal(self) -> Sequence[str]:
        """The codes as they are compared."""
        return [normalize(code) for code in self.codes]

    @cached_property
    def _times(self) -> Counter[str]:
        return Counter(self.normal)

    async def find_existing(self) -> ExistingCodes:
        """Which of the codes exist."""
        table, networks = self.table, getattr(self.table, "network_id", None)
        marketplace = col(PartnerRow.marketplace_id)
        query = select(col(table.normal_code), col(table.partner_id), marketplace)
        if networks is not None:
            query = select(col(table.normal_code), col(table.partner_id), func.coalesce(marketplace, networks))
        query = query.select_from(table).join(PartnerRow, col(PartnerRow.id) == col(table.partner_id), isouter=True)
        rows = (await self.call.db.exec(query.where(is_any_of(col(table.normal_code), list(self._times))))).all()
        seen = frozenset(code for code, *owner in rows if self.call.caller.sees(*owner))
        return ExistingCodes(seen, len(seen) < len(rows))

    async def check_hidden(self) -> None:
        """Raise InvalidInput if an object of another tenant has one of the codes. The check counts as one guess.

        For several objects the error does not name the code, so that a refusal reveals no more than one look-up by code.
        It comes last, when everything else is valid, so that invalid input reveals nothing. It is skipped while the input
        has other problems (`Call.dry_run`).
        """
        if self.call.dry_run:
            return

        async def none() -> bool:
            return not (await self.find_existing()).has_hidden

        if not await throttled_lookup(self.call.context, self.thing, none):
            if self.under:
                many = VOUCHERS_EXIST if self.table is VoucherRow else GIFT_CARDS_EXIST
                raise InvalidInput(Problem(self.under, "ALREADY_TAKEN", many))
            raise InvalidInput(Problem(("code",), "ALREADY_TAKEN", TemplatedMessage(EXISTS, thing=self.thing)))

    def problems_of(self, code: str, existing: frozenset[str]) -> Sequence[Problem]:
        """What is wrong with a code. `existing` are the visible ones."""
        plain = normalize(code)
        if "/" in code or not code.isprintable() or not clean_line(code):
            return (Problem(("code",), "INVALID", "A code must not contain `/` or invisible characters."),)
        if not SHORTEST_CODE <= len(plain) <= LONGEST_CODE or len(code.strip()) > LONGEST_CODE:
            most = TemplatedMessage(CODE_LENGTH, least=SHORTEST_CODE, most=LONGEST_CODE)
            return (Problem(("code",), "INVALID" if len(plain) < SHORTEST_CODE else "TOO_LONG", most),)
        if is_mistyped(plain):
            return (Problem(("code",), "INVALID", TemplatedMessage(MISTYPED, thing=self.thing)),)
        if plain in existing:
            return (Problem(("code",), "ALREADY_TAKEN", TemplatedMessage(EXISTS, thing=self.thing)),)
        if self._times[plain] > 1:
            return (Problem(("code",), "ALREADY_TAKEN", "This code was sent more than once."),)
        return ()

    async def insert(self, rows: Callable[[], Awaitable[object]], constraint: str) -> None:
        """Insert rows within a savepoint. `constraint` makes their codes unique.

        Raises InvalidInput at each code that was taken since it was checked.
        """
        try:
            async with self.call.db.begin_nested():
                await rows()
        except IntegrityError as error:
            if violated_constraint(error) != constraint:
                raise
            existing = (await self.find_existing()).visible
            places = [
                (*self.under, at, "code") if self.under else ("code",)
                for at, code in enumerate(self.normal)
                if code in existing
            ]
            if not places:
                await self.check_hidden()
                raise
            raise InvalidInput(
                *(Problem(place, "ALREADY_TAKEN", TemplatedMessage(EXISTS, thing=self.thing)) for place in places)
            ) from error
