"""A partner whose payments are active, files to hand in, and what the provider decides over them."""

import dataclasses
import datetime as dt
import io
from typing import Any

from sqlalchemy import text
from starlette.datastructures import Headers, UploadFile

from resolvers import bank_accounts, identity, kyc, kyc_documents, provider_hints
from resolvers.kyc import kyc_rows
from resolvers.kyc_view import KycRows
from schema.bank_account import RegisterBankAccount, RegisteredBankAccount
from schema.kyc import IdentityVerification, Kyc, KycDocumentType, OpenIdentityVerification
from schema.kyc_document import KycDocument, PushKycDocument
from store.clock import clock
from store.providers.base import Subject
from store.providers.sandbox.sca import Outcome
from tests.activation_world import Newcomer

MARKER = b"THE FACE OF SOMEBODY"
IBAN, OTHER_IBAN = "FR7630004000031234567890143", "DE89370400440532013000"
T = KycDocumentType


def pdf(size: int = 2000, salt: str = "") -> bytes:
    """A file that begins like a PDF, of so many bytes, with the marker in it."""
    content = b"%PDF-1.7 " + MARKER + salt.encode()
    return (content + b" " * size)[:size]


def upload(content: bytes, name: str = "passport.pdf", kind: str = "application/pdf") -> UploadFile:
    """An uploaded file."""
    return UploadFile(io.BytesIO(content), size=len(content), filename=name, headers=Headers({"content-type": kind}))


@dataclasses.dataclass
class Payee(Newcomer):
    """A partner that the provider knows."""

    @classmethod
    async def of(cls, newcomer: Newcomer, **columns: Any) -> "Payee":
        """A newcomer whose payments were activated; what `columns` say is changed afterwards."""
        begun = await newcomer.activate()
        await newcomer.authenticate(begun.pending_user_action)
        await newcomer.activate()
        payee = cls(newcomer.services, newcomer.sandbox, newcomer.partner)
        await payee.change(iban=IBAN, **columns)
        payee.partner = await payee.now()
        assert payee.partner.payments_active
        return payee

    # ---- what is asked of us

    async def push(
        self, content: bytes | None = None, kind: T = T.IDENTITY_PROOF, comment: str = "A passport"
    ) -> KycDocument:
        """Hand a document in."""
        file = upload(pdf() if content is None else content)
        sent = PushKycDocument(partner_uuid=self.partner.uuid, document_type=kind, comment=comment, file=file)
        return await kyc_documents.push_kyc_document(self.manager, sent)

    async def level(self) -> Kyc:
        """How far it is identified, asked of the provider."""
        await self.execute("UPDATE partner_kyc SET checked_on = checked_on - interval '1 hour'")
        return await kyc.kyc_level(self.manager, self.partner.uuid)

    async def open_identity(self) -> IdentityVerification:
        """Open an identity verification, or find the one that is open."""
        sent = OpenIdentityVerification(partner_uuid=self.partner.uuid)
        return await identity.open_identity_verification(self.manager, sent)

    async def register(self) -> RegisteredBankAccount:
        """Register its bank account."""
        return await bank_accounts.register_bank_account(
            self.manager, RegisterBankAccount(partner_uuid=self.partner.uuid)
        )

    # ---- what the provider does

    async def decide(self, document: KycDocument, outcome: str = "validate", **more: Any) -> None:
        """The provider decides over a document."""
        id = await self.one(f"SELECT provider_id FROM kyc_document WHERE id = {document.id}")  # noqa: S608
        answer = await self.control("POST", f"/kyc/{id}", {"outcome": outcome, **more})
        assert answer.is_success, answer.text

    async def verify(self, opened: IdentityVerification, outcome: str = "validate", **more: Any) -> None:
        """Somebody goes through an identity verification."""
        id = await self.one(f"SELECT provider_id FROM identity_check WHERE id = {opened.id}")  # noqa: S608
        answer = await self.control("POST", f"/identity-verifications/{id}", {"outcome": outcome, **more})
        assert answer.is_success, answer.text

    async def confirm(self, account: RegisteredBankAccount, outcome: Outcome = Outcome.SUCCEEDED) -> bool:
        """The representative confirms a bank account, or does not."""
        return await self.authenticate(account.redirect_url, outcome)

    async def at_the_provider(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table of the sandbox."""

        def read(session: Any) -> list[dict[str, Any]]:
            return [dict(row) for row in session.rows(f"SELECT * FROM {table}")]  # noqa: S608 - a name from a test

        found: list[dict[str, Any]] = await self.at_provider(read)
        return found

    async def told(self, since: dt.timedelta = dt.timedelta(hours=1)) -> list[tuple[Subject, str]]:
        """What the provider's events of the last hour are about."""
        moment = clock.now() - since
        return [(hint.subject, hint.resource_id) async for hint in self.services.provider.events_since(moment)]

    async def follow(self) -> None:
        """Hear of everything that has happened."""
        for subject, id in await self.told():
            await provider_hints.follow(self.services, subject, id)

    # ---- what is there

    async def rows(self) -> KycRows:
        """What is kept of its identification."""
        async with self.services.db.sessions() as db:
            return await kyc_rows(db, self.partner)

    async def changes(self) -> list[dict[str, Any]]:
        """What the shop was told of its identification: the data of each event."""
        query = text("SELECT data FROM event WHERE type = 'partner.kyc_changed' ORDER BY id")
        return [row[0] for row in await self.services.db.rows(query)]

    async def execute(self, statement: str) -> None:
        """Change something behind the back of the program."""
        async with self.services.db.engine.begin() as connection:
            await connection.execute(text(statement))
