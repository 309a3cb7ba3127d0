"""Options, their categories and links over REST and over GraphQL, in the words of REST: flat keys, documented values."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from schema.languages import LANGUAGES
from tests.transports import Answer, OverGraphQL, OverRest, Transport

Sent = Mapping[str, Any]
IN_EACH = " ".join(LANGUAGES)
TEXTS = ("name", "description")
SAID = " ".join(f"{text} {{ {IN_EACH} }}" for text in TEXTS)
OPTION = f"""id {SAID} sellingPrice {{ amount }} isActive countable isGlobal ranking partner {{ id uuid }}
    prototypeLinks {{ voucherPrototypeId }} categoryId"""
FIELDS = {
    "voucherOption": OPTION,
    "voucherOptionLink": f"id count included option {{ {OPTION} }}",
    "voucherOptionCategory": f"id {SAID} isActive ranking minNumberOptions maxNumberOptions partner {{ id uuid }}",
}
PATHS = {
    "voucherOption": "/api/voucher_options/",
    "voucherOptionLink": "/api/voucher_option_links/",
    "voucherOptionCategory": "/api/voucher_option_categories/",
}


class Options(ABC):
    """What can be asked of options, links and categories, each named as the field of GraphQL that looks one up."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.tenants = transport.tenants

    @abstractmethod
    async def create(self, kind: str, who: str, sent: Sent) -> Answer:
        """Make one."""

    @abstractmethod
    async def update(self, kind: str, who: str, id: int, sent: Sent) -> Answer:
        """Change parts of one."""

    @abstractmethod
    async def get(self, kind: str, who: str, id: int) -> Answer:
        """Read one."""

    @abstractmethod
    async def listed(self, kind: str, who: str) -> Answer:
        """All of the first page."""


class OptionsOverRest(Options):
    """As older shops ask."""

    async def ask(self, method: str, path: str, who: str, sent: Sent | None = None) -> Answer:
        """Send a request."""
        assert isinstance(self.transport, OverRest)
        content = None if sent is None else json.dumps(sent)
        headers = self.transport.headers(who)
        response = await self.tenants.client.request(method, path, content=content, headers=headers)
        assert not response.is_success or response.status_code == (201 if method == "POST" else 200)
        return self.transport.answered(response)

    async def create(self, kind: str, who: str, sent: Sent) -> Answer:
        return await self.ask("POST", PATHS[kind], who, sent)

    async def update(self, kind: str, who: str, id: int, sent: Sent) -> Answer:
        return await self.ask("PATCH", f"{PATHS[kind]}{id}/", who, sent)

    async def get(self, kind: str, who: str, id: int) -> Answer:
        return await self.ask("GET", f"{PATHS[kind]}{id}/", who)

    async def listed(self, kind: str, who: str) -> Answer:
        answer = await self.ask("GET", f"{PATHS[kind]}?page_size=100", who)
        paged = answer.done and isinstance(answer.result, dict)
        return Answer(200, answer.result["results"]) if paged else answer


class OptionsOverGraphQL(Options):
    """As new clients ask."""

    async def change(self, name: str, kind: str, who: str, sent: Sent) -> Answer:
        """Run a mutation."""
        assert isinstance(self.transport, OverGraphQL)
        query = f"""mutation ($input: {_capital(name)}Input!) {{ {name}(input: $input) {{
            {kind} {{ {FIELDS[kind]} }} userErrors {{ field code message }} }} }}"""
        answer = await self.transport.changed(query, who, as_input(sent))
        result = flat(answer.result) if answer.done else None
        wrong = {_key(place): message for place, message in answer.wrong.items()}
        return Answer(answer.status, result, answer.code, wrong, answer.replayed, answer.message)

    async def create(self, kind: str, who: str, sent: Sent) -> Answer:
        return await self.change(f"create{_capital(kind)}", kind, who, sent)

    async def update(self, kind: str, who: str, id: int, sent: Sent) -> Answer:
        return await self.change(f"update{_capital(kind)}", kind, who, {**sent, "id": id})

    async def get(self, kind: str, who: str, id: int) -> Answer:
        assert isinstance(self.transport, OverGraphQL)
        query = f"query ($id: Int!) {{ {kind}(id: $id) {{ {FIELDS[kind]} }} }}"
        answer = await self.transport.asked(query, who, {"id": id})
        if not answer.done:
            return answer
        return Answer(404) if answer.result is None else Answer(200, flat(answer.result))

    async def listed(self, kind: str, who: str) -> Answer:
        assert isinstance(self.transport, OverGraphQL)
        many = {"voucherOption": "voucherOptions", "voucherOptionCategory": "voucherOptionCategories"}[kind]
        query = f"{{ {many}(first: 100) {{ nodes {{ {FIELDS[kind]} }} }} }}"
        answer = await self.transport.asked(query, who, {})
        return Answer(200, [flat(row) for row in answer.result["nodes"]]) if answer.done else answer


def options_over(transport: Transport) -> Options:
    """Options, by a way to ask."""
    return OptionsOverRest(transport) if isinstance(transport, OverRest) else OptionsOverGraphQL(transport)


def as_input(sent: Sent) -> dict[str, Any]:
    """What is sent to REST, as GraphQL takes it."""
    made: dict[str, Any] = {}
    for key, value in sent.items():
        text, _, language = key.rpartition("_")
        if text in TEXTS and language in LANGUAGES:
            made.setdefault(text, {})[language] = value
        elif key == "option" and isinstance(value, Mapping):
            made[key] = as_input(value)
        else:
            made["voucherPrototypeIds" if key == "voucher_prototypes_ids" else _camel(key)] = value
    return made


def flat(answered: Sent) -> dict[str, Any]:
    """What GraphQL answers, in the words of REST."""
    made = {_snake(name): value for name, value in answered.items()}
    if "option" in made:
        return {**made, "option": flat(made["option"])}
    for text in TEXTS:
        made |= {f"{text}_{at}": told or "" for at, told in made.pop(text).items()}
    made["partner_uuid"], made["partner"] = made["partner"]["uuid"], made["partner"]["id"]
    if "selling_price" in made:
        made["selling_price"] = float(made["selling_price"]["amount"])
        made["voucher_prototypes_ids"] = [link["voucherPrototypeId"] for link in made.pop("prototype_links")]
    return made


def _key(place: str) -> str:
    """The key of REST for a place in an input of GraphQL, in snake case."""
    first, _, rest = place.partition(".")
    if first == "option":
        return f"option.{_key(rest)}" if rest else first
    if first in TEXTS:
        return f"{first}_{rest or LANGUAGES[0]}"
    named = "voucher_prototypes_ids" if first == "voucher_prototype_ids" else first
    return f"{named}.{rest}" if rest else named


def in_each(said: Mapping[str, str], languages: Sequence[str] = LANGUAGES) -> dict[str, str]:
    """Texts in all languages: `name_en`, `name_fr`, …."""
    return {f"{text}_{at}": f"{words} {at}" for text, words in said.items() for at in languages}


def _capital(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
