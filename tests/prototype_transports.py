"""Prototypes over REST and over GraphQL, in the words of REST: flat keys, documented values."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from schema.languages import LANGUAGES
from schema.voucher_prototype import VoucherPrototypeType
from tests.transports import Answer, OverGraphQL, OverRest, Transport

Sent = Mapping[str, Any]

PATH = "/api/voucher_prototypes/"
TEXTS = ("name", "description", "long_description", "rent_conditions", "how_to_book_html", "pdf_description")
PRICES = ("stay_price", "adults_price", "children_price", "baby_price")
RENAMED = {"universe": "universe_id", "environment": "environment_id", "images": "image_ids"}
IN_EACH = " ".join(LANGUAGES)
FIELDS = f"""id isActive isHighlight type priceScope maxCapacity minCapacity ranking coverImage lastActiveDay nbOrders nbNights
    universe {{ id }} environment {{ id }} partner {{ id uuid }} images {{ position media {{ id }} }} cover {{ id }}
    {" ".join(f"{_price} {{ amount currency }}" for _price in ("stayPrice", "adultsPrice", "childrenPrice", "babyPrice"))}
    name {{ {IN_EACH} }} description {{ {IN_EACH} }} longDescription {{ {IN_EACH} }} rentConditions {{ {IN_EACH} }}
    howToBookHtml {{ {IN_EACH} }} pdfDescription {{ {IN_EACH} }}"""


class Prototypes(ABC):
    """What can be asked of prototypes."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.tenants = transport.tenants

    @abstractmethod
    async def create(self, who: str, sent: Sent) -> Answer:
        """Make one."""

    @abstractmethod
    async def update(self, who: str, id: Any, sent: Sent) -> Answer:
        """Change one, or parts of it."""

    @abstractmethod
    async def get(self, who: str, id: Any) -> Answer:
        """Read one."""

    @abstractmethod
    async def listed(self, who: str) -> Answer:
        """The ids of the first page."""

    @abstractmethod
    async def options(self, who: str, id: Any) -> Answer:
        """Its options: id, count, included, the option's id."""


class PrototypesOverRest(Prototypes):
    """As older shops ask."""

    async def ask(self, method: str, path: str, who: str, sent: Sent | None = None) -> Answer:
        """Send a request."""
        assert isinstance(self.transport, OverRest)
        content = None if sent is None else json.dumps(sent)
        headers = self.transport.headers(who)
        response = await self.tenants.client.request(method, path, content=content, headers=headers)
        return self.transport.answered(response)

    async def create(self, who: str, sent: Sent) -> Answer:
        return await self.ask("POST", PATH, who, sent)

    async def update(self, who: str, id: Any, sent: Sent) -> Answer:
        return await self.ask("PATCH", f"{PATH}{id}/", who, sent)

    async def get(self, who: str, id: Any) -> Answer:
        return await self.ask("GET", f"{PATH}{id}/", who)

    async def listed(self, who: str) -> Answer:
        answer = await self.ask("GET", f"{PATH}?page_size=100", who)
        return Answer(200, [row["id"] for row in answer.result["results"]]) if answer.done else answer

    async def options(self, who: str, id: Any) -> Answer:
        answer = await self.ask("GET", f"{PATH}{id}/options/", who)
        if not answer.done:
            return answer
        return Answer(200, [(row["id"], row["count"], row["included"], row["option"]["id"]) for row in answer.result])


class PrototypesOverGraphQL(Prototypes):
    """As new clients ask."""

    async def _change(self, name: str, who: str, sent: Sent) -> Answer:
        assert isinstance(self.transport, OverGraphQL)
        kind, _, _ = name.partition("(")
        query = f"""mutation ($input: {kind[:1].upper()}{kind[1:]}Input!) {{ {name} {{
            voucherPrototype {{ {FIELDS} }} userErrors {{ field code message }} }} }}"""
        answer = await self.transport.changed(query, who, as_input(sent))
        result = flat(answer.result) if answer.done else None
        wrong = {_key(place): message for place, message in answer.wrong.items()}
        return Answer(answer.status, result, answer.code, wrong, answer.replayed, answer.message)

    async def create(self, who: str, sent: Sent) -> Answer:
        return await self._change("createVoucherPrototype(input: $input)", who, sent)

    async def update(self, who: str, id: Any, sent: Sent) -> Answer:
        return await self._change("updateVoucherPrototype(input: $input)", who, {**sent, "id": id})

    async def get(self, who: str, id: Any) -> Answer:
        return await self._one(who, id, FIELDS, flat)

    async def options(self, who: str, id: Any) -> Answer:
        def written(found: Any) -> Any:
            return [(o["id"], o["count"], o["included"], o["option"]["id"]) for o in found["optionLinks"]]

        return await self._one(who, id, "optionLinks { id count included option { id } }", written)

    async def _one(self, who: str, id: Any, fields: str, written: Any) -> Answer:
        assert isinstance(self.transport, OverGraphQL)
        query = f"query ($id: Int!) {{ voucherPrototype(id: $id) {{ {fields} }} }}"
        answer = await self.transport.asked(query, who, {"id": id})
        if not answer.done:
            return answer
        return Answer(404) if answer.result is None else Answer(200, written(answer.result))

    async def listed(self, who: str) -> Answer:
        assert isinstance(self.transport, OverGraphQL)
        query = "{ voucherPrototypes(first: 100) { edges { node { id } } } }"
        answer = await self.transport.asked(query, who, {})
        if not answer.done:
            return answer
        return Answer(200, [edge["node"]["id"] for edge in answer.result["edges"]])


def prototypes_over(transport: Transport) -> Prototypes:
    """Prototypes, by a way to ask."""
    return PrototypesOverRest(transport) if isinstance(transport, OverRest) else PrototypesOverGraphQL(transport)


def as_input(sent: Sent) -> dict[str, Any]:
    """What is sent to REST, as GraphQL takes it."""
    kinds = {member.value: member.name for member in VoucherPrototypeType}
    made: dict[str, Any] = {}
    for key, value in sent.items():
        text, _, language = key.rpartition("_")
        if text in TEXTS and language in LANGUAGES:
            made.setdefault(_camel(text), {})[language] = value
        elif key == "type":
            made[key] = kinds.get(value, value)
        else:
            made[_camel(RENAMED.get(key, key))] = value
    return made


def flat(answered: Mapping[str, Any]) -> dict[str, Any]:
    """What GraphQL answers, in the words of REST."""
    made = {_snake(name): value for name, value in answered.items()}
    for text in TEXTS:
        made |= {f"{text}_{at}": told or "" for at, told in made.pop(text).items()}
    for price in PRICES:
        made[price] = None if made[price] is None else float(made[price]["amount"])
    made["type"] = VoucherPrototypeType[made["type"]].value
    made["universe"] = made["universe"]["id"]
    made["environment"] = made["environment"] and made["environment"]["id"]
    made["partner_uuid"], made["partner"] = made["partner"]["uuid"], made["partner"]["id"]
    assert [image["position"] for image in made["images"]] == list(range(1, len(made["images"]) + 1))
    made["images"] = [image["media"]["id"] for image in made["images"]]
    cover = made.pop("cover")
    at = made["cover_image"] - 1
    assert (cover and cover["id"]) == (made["images"][at] if at < len(made["images"]) else None)
    del made["nb_nights"]
    return made


def _key(place: str) -> str:
    """The key of REST for a place in an input of GraphQL, in snake case."""
    field, _, rest = place.partition(".")
    if field in TEXTS:
        return f"{field}_{rest or LANGUAGES[0]}"
    named = {ours: key for key, ours in RENAMED.items()}.get(field, field)
    return f"{named}.{rest}" if rest else named


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
