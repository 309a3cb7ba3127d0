"""What the placeholders of the provider's table stand for in a sandbox: each object is made when it is first named."""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.coffret.sandbox.mangopay_api import HOOK, PAYER, MangopayApi
from tests.store.providers.mangopay.wire.wire import BY_NAME, Json, WireCall, sample

KEY = "conformance-key-0001"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class WireObjects:
    """The objects of one sandbox by the names that the table gives them."""

    def __init__(self, api: MangopayApi) -> None:
        self.api = api
        self._ids: dict[str, str] = {"any": "id-1", "owner": "partner", "wallet": "wallet"}

    async def id_of(self, name: str) -> str:
        """The id of an object, which is made first if need be."""
        if name not in self._ids:
            makers: dict[str, Callable[[], Awaitable[str]]] = {
                maker.__name__.lstrip("_"): maker
                for maker in (
                    *(self._payer, self._payer_wallet, self._enrolled, self._key, self._hook),
                    *(self._identity, self._document, self._filled_document, self._recipient, self._active_recipient),
                    *(self._payin, self._paid, self._refund, self._refunded),
                    *(self._funded_wallet, self._transfer, self._transfer_refund),
                    *(self._paid_wallet, self._payout, self._returned_payout),
                    *(self._validated_identity, self._psc),
                    *(self._disputed, self._dispute, self._reopened_dispute, self._lost_dispute),
                    *(self._dispute_document, self._filled_dispute_document, self._submitted_dispute_document),
                    self._report,
                    *(self._repudiation, self._won_repudiation, self._lost_repudiation, self._settlement),
                )
            }
            self._ids[name] = await makers[name]()
        return self._ids[name]

    async def _report(self) -> str:
        id: str = (await self.create("create_report"))["Id"]
        return id

    async def fill(self, value: Any) -> Any:
        """A text, list or object with ids for its placeholders."""
        if isinstance(value, str):
            for name in _PLACEHOLDER.findall(value):
                value = value.replace(f"{{{name}}}", await self.id_of(name))
            return value
        if isinstance(value, list):
            return [await self.fill(each) for each in value]
        if isinstance(value, dict):
            return {name: await self.fill(each) for name, each in value.items()}
        return value

    async def prepared(self, call: WireCall) -> tuple[str, Json]:
        """A call's address and body, with all that they name."""
        for name in call.also_needed:
            await self.id_of(name)
        return await self.fill(call.path), await self.fill(call.body())

    async def send(self, call: WireCall, body: Json | None = None, path: str | None = None) -> httpx.Response:
        """Make a call of the table; a GET has its query, anything else a body."""
        address, whole = await self.prepared(call)
        address = address if path is None else await self.fill(path)
        if call.method == "GET":
            return await self.api.call("GET", address, params=dict(call.query))
        return await self.api.call(call.method, address, whole if body is None else await self.fill(body))

    async def create(self, name: str, **chosen: object) -> Json:
        """The answer to a call of the table that works."""
        answer = await self.send(BY_NAME[name], BY_NAME[name].body(chosen))
        assert answer.is_success, answer.text
        return dict(answer.json()) if answer.content else {}

    async def authenticate(self, redirect_url: str, outcome: str = "succeed") -> None:
        """Do what the person does at the page of strong authentication."""
        token = parse_qs(urlsplit(redirect_url).query)["token"][0]
        await self.api.control("POST", f"/sca/{token}", {"outcome": outcome})

    async def _payer(self) -> str:
        return await self.api.payer()

    async def _payer_wallet(self) -> str:
        return str((await self.create("create_wallet", Owners=["{payer}"]))["Id"])

    async def _enrolled(self) -> str:
        user = await self.create("create_legal_owner")
        await self.authenticate(user["PendingUserAction"]["RedirectUrl"])
        return str(user["Id"])

    async def _key(self) -> str:
        await self.api.create("/sca/users/natural", PAYER, key=KEY)
        return KEY

    async def _hook(self) -> str:
        return str((await self.create("create_hook", EventType="KYC_CREATED", Url=HOOK))["Id"])

    async def _identity(self) -> str:
        return str((await self.create("create_identity"))["Id"])

    async def _document(self) -> str:
        return str((await self.create("create_document"))["Id"])

    async def _filled_document(self) -> str:
        id = str((await self.create("create_document"))["Id"])
        answer = await self.api.call("POST", f"/users/partner/kyc/documents/{id}/pages", {"File": sample("base64")})
        assert answer.status_code == 204, answer.text
        return id

    async def _recipient(self) -> str:
        return str((await self.create("create_recipient"))["Id"])

    async def _active_recipient(self) -> str:
        recipient = await self.create("create_recipient")
        await self.authenticate(recipient["PendingUserAction"]["RedirectUrl"])
        return str(recipient["Id"])

    async def _payin(self) -> str:
        return str((await self.create("create_hosted_payin"))["Id"])

    async def _paid(self) -> str:
        payin = await self.create("create_hosted_payin")
        await self.api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
        return str(payin["Id"])

    async def _funded_wallet(self) -> str:
        wallet = await self.id_of("payer_wallet")
        payin = await self.create("create_hosted_payin", CreditedWalletId=wallet)
        await self.api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970107111111119"})
        return wallet

    async def _transfer(self) -> str:
        return str((await self.create("create_transfer"))["Id"])

    async def _transfer_refund(self) -> str:
        return str((await self.create("refund_part_of_transfer"))["Id"])

    async def _paid_wallet(self) -> str:
        await self.id_of("paid")
        return await self.id_of("wallet")

    async def _payout(self) -> str:
        return str((await self.create("create_payout"))["Id"])

    async def _returned_payout(self) -> str:
        payout = str((await self.create("create_payout"))["Id"])
        await self.api.control("POST", f"/payouts/{payout}", {"outcome": "succeed"})
        await self.api.control("POST", f"/payouts/{payout}/return", {})
        return payout

    async def _validated_identity(self) -> str:
        identity = await self.id_of("identity")
        owners = [{"first_name": "Ana", "last_name": "Puig"}, {"first_name": "Joan", "last_name": "Puig"}]
        await self.api.control("POST", f"/identity-verifications/{identity}", {"outcome": "validate", "owners": owners})
        return identity

    async def _psc(self) -> str:
        identity = await self.api.read(f"/identity-verifications/{await self.id_of('validated_identity')}")
        return str(identity["PSCs"][0]["Id"])

    async def _open_dispute(self) -> Json:
        payin = await self.create("create_hosted_payin")
        await self.api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970109000001500"})
        return dict(await self.api.control("POST", f"/payins/{payin['Id']}/dispute"))

    async def _decided_dispute(self, outcome: str) -> Json:
        dispute = await self._open_dispute()
        path = f"/disputes/{dispute['Id']}"
        await self.api.call("PUT", f"{path}/submit", {"ContestedFunds": dispute["DisputedFunds"]})
        return dict(await self.api.control("POST", path, {"outcome": outcome}))

    async def _dispute(self) -> str:
        dispute = await self._open_dispute()
        self._ids |= {"disputed": dispute["InitialTransactionId"], "repudiation": dispute["RepudiationId"]}
        return str(dispute["Id"])

    async def _disputed(self) -> str:
        await self.id_of("dispute")
        return self._ids["disputed"]

    async def _repudiation(self) -> str:
        await self.id_of("dispute")
        return self._ids["repudiation"]

    async def _reopened_dispute(self) -> str:
        return str((await self._decided_dispute("reopen"))["Id"])

    async def _lost_dispute(self) -> str:
        return str((await self._decided_dispute("lose"))["Id"])

    async def _won_repudiation(self) -> str:
        return str((await self._decided_dispute("win"))["RepudiationId"])

    async def _lost_repudiation(self) -> str:
        return str((await self._decided_dispute("lose"))["RepudiationId"])

    async def _settlement(self) -> str:
        return str((await self.create("create_settlement"))["Id"])

    async def _dispute_document(self) -> str:
        return str((await self.create("create_dispute_document"))["Id"])

    async def _filled_dispute_document(self) -> str:
        id = str((await self.create("create_dispute_document"))["Id"])
        path = f"/disputes/{await self.id_of('dispute')}/documents/{id}/pages"
        answer = await self.api.call("POST", path, {"File": sample("base64")})
        assert answer.status_code == 204, answer.text
        return id

    async def _submitted_dispute_document(self) -> str:
        return str((await self.create("submit_dispute_document"))["Id"])

    async def _refund(self) -> str:
        return str((await self.create("refund_part_of_payin"))["Id"])

    async def _refunded(self) -> str:
        await self.id_of("refund")
        return await self.id_of("paid")
