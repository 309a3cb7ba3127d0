"""Partners over REST and over GraphQL, in the words of REST: flat keys, documented values."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from schema.partner_parts import CompanyType, PayoutFrequency
from schema.tenancy import PartnerStatus
from tests.transports import Answer, OverGraphQL, OverRest, Transport

Sent = Mapping[str, Any]

PATHS = {
    "siret_number": "registration.siretNumber",
    "rcs": "registration.rcs",
    "ape": "registration.ape",
    "vat_id": "registration.vatId",
    "legal_representative_first_name": "legalRepresentative.firstName",
    "legal_representative_last_name": "legalRepresentative.lastName",
    "legal_representative_birthday": "legalRepresentative.birthday",
    "legal_representative_email": "legalRepresentative.email",
    "legal_representative_nationality": "legalRepresentative.nationality",
    "legal_representative_country_of_residence": "legalRepresentative.countryOfResidence",
    "hq_address_line_1": "headOffice.addressLine1",
    "hq_address_line_2": "headOffice.addressLine2",
    "hq_postal_code": "headOffice.postalCode",
    "hq_city": "headOffice.city",
    "hq_region": "headOffice.region",
    "hq_country": "headOffice.country",
    "payout_frequency": "payoutSettings.frequency",
    "auto_validate_payout": "payoutSettings.autoValidate",
    "freeze_payout": "payoutSettings.mayFreeze",
    "block_payout_validation": "payoutSettings.blockValidation",
    "iban": "bankAccount.iban",
    "bic": "bankAccount.bic",
    "link_to_nv_settings": "networkLinks.vouchers",
    "link_to_ngc_settings": "networkLinks.giftCards",
}
"""Where GraphQL has what REST has under a key of its own."""
FIELDS = """id uuid sourceId status name commercialName shortName companyType agencyEmail agencyPhone website
    hideFromStats thirdPartySalesOnly referrer tags registration { siretNumber rcs ape vatId }
    legalRepresentative { firstName lastName birthday email nationality countryOfResidence }
    headOffice { addressLine1 addressLine2 postalCode city country }
    payoutSettings { frequency autoValidate mayFreeze blockValidation } bankAccount { iban bic }
    networkLinks { vouchers giftCards }"""
SETS = {"status": PartnerStatus, "company_type": CompanyType, "payout_frequency": PayoutFrequency}


class Partners(ABC):
    """What can be asked of partners. `status` of an answer is 200 for a success."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.tenants = transport.tenants

    @abstractmethod
    async def create(self, who: str, sent: Sent, key: str | None = None) -> Answer:
        """Make one."""

    @abstractmethod
    async def update(self, who: str, uuid: str, sent: Sent) -> Answer:
        """Change one."""

    @abstractmethod
    async def get(self, who: str, uuid: str) -> Answer:
        """Read one."""

    @abstractmethod
    async def list_in_network(self, who: str, sent: Sent) -> Answer:
        """Make one that its network lists."""

    @abstractmethod
    async def update_in_network(self, who: str, sent: Sent) -> Answer:
        """Change one, found by its source id or company number."""

    @abstractmethod
    async def check(self, who: str, **named: str) -> Answer:
        """The id of the one that is named so."""


class PartnersOverRest(Partners):
    """As older shops ask."""

    async def _send(self, method: str, path: str, who: str, sent: Sent, key: str | None = None) -> Answer:
        assert isinstance(self.transport, OverRest)
        headers = self.transport.headers(who, key)
        response = await self.tenants.client.request(
            method, f"/api/payment_hub/{path}/", content=json.dumps(sent), headers=headers
        )
        if response.is_success:
            assert response.status_code == (201 if path.endswith("create") else 200)
        return self.transport.answered(response)

    async def create(self, who: str, sent: Sent, key: str | None = None) -> Answer:
        return await self._send("POST", "partner/create", who, sent, key)

    async def update(self, who: str, uuid: str, sent: Sent) -> Answer:
        return await self._send("PATCH", f"partner/{uuid}", who, sent)

    async def get(self, who: str, uuid: str) -> Answer:
        assert isinstance(self.transport, OverRest)
        headers = self.transport.headers(who)
        return self.transport.answered(
            await self.tenants.client.get(f"/api/payment_hub/partner/{uuid}/", headers=headers)
        )

    async def list_in_network(self, who: str, sent: Sent) -> Answer:
        return await self._send("POST", "network_partner/create", who, sent)

    async def update_in_network(self, who: str, sent: Sent) -> Answer:
        return await self._send("PUT", "network_partner/update", who, sent)

    async def check(self, who: str, **named: str) -> Answer:
        assert isinstance(self.transport, OverRest)
        headers = self.transport.headers(who)
        return self.transport.answered(
            await self.tenants.client.get("/api/payment_hub/partner/check/", params=named, headers=headers)
        )


class PartnersOverGraphQL(Partners):
    """As new clients ask."""

    async def _change(self, name: str, who: str, sent: Sent, key: str | None = None) -> Answer:
        assert isinstance(self.transport, OverGraphQL)
        kind = f"{name[:1].upper()}{name[1:]}Input"
        query = f"""mutation ($input: {kind}!) {{ {name}(input: $input) {{
            partner {{ {FIELDS} }} userErrors {{ field code message }} }} }}"""
        answer = await self.transport.changed(query, who, grouped(sent), key)
        wrong = {_key(place): message for place, message in answer.wrong.items()}
        result = flat(answer.result) if answer.done else None
        return Answer(answer.status, result, answer.code, wrong, answer.replayed, answer.message)

    async def create(self, who: str, sent: Sent, key: str | None = None) -> Answer:
        return await self._change("createPartner", who, sent, key)

    async def update(self, who: str, uuid: str, sent: Sent) -> Answer:
        return await self._change("updatePartner", who, {**sent, "uuid": uuid})

    async def list_in_network(self, who: str, sent: Sent) -> Answer:
        tags = [tag["tag"] for tag in sent.get("partner_tags", [])]
        rest = {key: value for key, value in sent.items() if key != "partner_tags"}
        return await self._change("createNetworkPartner", who, {**rest, "tags": tags})

    async def update_in_network(self, who: str, sent: Sent) -> Answer:
        named = {_camel(key): sent[key] for key in ("source_id", "siret_number") if key in sent}
        rest = {key: value for key, value in sent.items() if key not in {"source_id", "siret_number"}}
        assert isinstance(self.transport, OverGraphQL)
        query = f"""mutation ($input: UpdateNetworkPartnerInput!) {{ updateNetworkPartner(input: $input) {{
            partner {{ {FIELDS} }} userErrors {{ field code message }} }} }}"""
        answer = await self.transport.changed(query, who, {**grouped(rest), **named})
        return Answer(answer.status, flat(answer.result) if answer.done else None, answer.code, answer.wrong)

    async def get(self, who: str, uuid: str) -> Answer:
        return await self._one(f"query ($uuid: UUID!) {{ partner(uuid: $uuid) {{ {FIELDS} }} }}", who, {"uuid": uuid})

    async def check(self, who: str, **named: str) -> Answer:
        query = """query ($siretNumber: String, $commercialName: String) {
            partnerByCompanyNumber(siretNumber: $siretNumber, commercialName: $commercialName) { id } }"""
        return await self._one(query, who, {_camel(name): value for name, value in named.items()})

    async def _one(self, query: str, who: str, variables: Sent) -> Answer:
        assert isinstance(self.transport, OverGraphQL)
        answer = await self.transport.asked(query, who, variables)
        if not answer.done:
            return answer
        return Answer(404) if answer.result is None else Answer(200, flat(answer.result))


def partners_over(transport: Transport) -> Partners:
    """Partners, by a way to ask."""
    return PartnersOverRest(transport) if isinstance(transport, OverRest) else PartnersOverGraphQL(transport)


def grouped(sent: Sent) -> dict[str, Any]:
    """What is sent to REST, as GraphQL takes it."""
    made: dict[str, Any] = {}
    for key, value in sent.items():
        group, _, name = PATHS.get(key, f".{_camel(key)}").rpartition(".")
        of = made.setdefault(group.strip("."), {}) if group else made
        of[name] = _name(key, value)
    return made


def flat(answered: Sent) -> dict[str, Any]:
    """What GraphQL answers, in the words of REST."""
    keys = {path: key for key, path in PATHS.items()}
    made: dict[str, Any] = {}
    for name, value in answered.items():
        if isinstance(value, Mapping):
            made |= {keys[f"{name}.{inner}"]: held for inner, held in value.items()}
        else:
            made[_snake(name)] = value
    for key, kind in SETS.items():
        if key in made:
            made[key] = "" if made[key] is None else kind[made[key]].value
    if "legal_representative_birthday" in made:
        born = made["legal_representative_birthday"]
        made["legal_representative_birthday"] = f"{born}T00:00:00.000000Z" if born else ""
    if "tags" in made:
        made["partner_tags"] = made.pop("tags")
    return made


def _name(key: str, value: Any) -> Any:
    """A member of a closed set by its published name."""
    kind = SETS.get(key)
    values = {} if kind is None else {member.value: member.name for member in kind}
    return values.get(value, value) if isinstance(value, str) else value


def _key(place: str) -> str:
    """The key of REST for a place in an input of GraphQL, in snake case."""
    keys = {"".join(f"_{c.lower()}" if c.isupper() else c for c in path): key for key, path in PATHS.items()}
    return keys.get(place, place)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else f"_{c}" if c.isdigit() else c for c in name)
