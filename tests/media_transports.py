"""Pictures over REST and over GraphQL, in the words of REST."""

import io
import json
from abc import ABC, abstractmethod
from typing import Any
from uuid import UUID

import httpx
from PIL import Image

from tests.tenants import Tenants
from tests.transports import Answer, OverGraphQL, OverRest, Transport

PATH = "/api/medias/"
FIELDS = "id uuid name createdOn archivedOn"


def drawn(width: int = 60, height: int = 40, kind: str = "PNG", colour: str = "teal") -> bytes:
    """A picture's file."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, kind)
    return file.getvalue()


class Medias(ABC):
    """What can be asked of pictures."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.tenants = transport.tenants

    @abstractmethod
    async def create(self, who: str, content: bytes | None, name: str | None = "Terrace", **more: Any) -> Answer:
        """Upload one. `key`: of the request; `partner_uuid`: for whom; `file_name`, `kind`: what its part says of it."""

    @abstractmethod
    async def update(self, who: str, id: int, name: Any) -> Answer:
        """Rename one."""

    @abstractmethod
    async def get(self, who: str, id: int) -> Answer:
        """Read one."""

    @abstractmethod
    async def listed(self, who: str) -> Answer:
        """The ids of all, in order."""

    def headers(self, who: str, key: str | None = None) -> dict[str, str]:
        """Without a content type, which the client writes for forms."""
        return {name: value for name, value in self.transport.headers(who, key).items() if name != "Content-Type"}


def _part(content: bytes, more: dict[str, Any]) -> tuple[str, bytes, str]:
    return more.get("file_name", "terrace.png"), content, more.get("kind", "image/png")


class MediasOverRest(Medias):
    """As older shops ask."""

    async def create(self, who: str, content: bytes | None, name: str | None = "Terrace", **more: Any) -> Answer:
        fields = {"name": name, "partner_uuid": more.get("partner_uuid")}
        parts: dict[str, Any] = {key: (None, str(value)) for key, value in fields.items() if value is not None}
        if content is not None:
            parts["file"] = _part(content, more)
        headers = self.headers(who, more.get("key"))
        response = await self.tenants.client.post(PATH, files=parts, headers=headers)
        assert not response.is_success or response.status_code == httpx.codes.CREATED
        return self._answered(response)

    async def update(self, who: str, id: int, name: Any) -> Answer:
        answers = []
        for method in ("PATCH", "PUT"):
            headers = self.transport.headers(who)
            sent = json.dumps({"name": name})
            answers.append(
                self._answered(await self.tenants.client.request(method, f"{PATH}{id}/", content=sent, headers=headers))
            )
        assert answers[0] == answers[1]
        return answers[0]

    async def get(self, who: str, id: int) -> Answer:
        return self._answered(await self.tenants.client.get(f"{PATH}{id}/", headers=self.transport.headers(who)))

    async def listed(self, who: str) -> Answer:
        answer = self._answered(await self.tenants.client.get(PATH, headers=self.transport.headers(who)))
        return Answer(200, [entry["id"] for entry in answer.result]) if answer.done else answer

    def _answered(self, response: httpx.Response) -> Answer:
        assert isinstance(self.transport, OverRest)
        return self.transport.answered(response)


class MediasOverGraphQL(Medias):
    """As new clients ask."""

    @property
    def graphql(self) -> OverGraphQL:
        """The way to ask."""
        assert isinstance(self.transport, OverGraphQL)
        return self.transport

    async def create(self, who: str, content: bytes | None, name: str | None = "Terrace", **more: Any) -> Answer:
        sent = {"name": name, "partnerUuid": more.get("partner_uuid")}
        given: dict[str, Any] = {key: value for key, value in sent.items() if value is not None}
        query = _mutation("createMedia")
        if content is None:
            return await self.graphql.changed(query, who, given)
        said = {"query": query, "variables": {"input": {**given, "file": None}}}
        response = await self.tenants.client.post(
            "/graphql/",
            data={"operations": json.dumps(said, default=str), "map": json.dumps({"0": ["variables.input.file"]})},
            files={"0": _part(content, more)},
            headers={**self.headers(who, more.get("key")), "Accept": "application/json"},
        )
        return _rest(self.graphql.payload(self.graphql.answered(response)))

    async def update(self, who: str, id: int, name: Any) -> Answer:
        return _rest(await self.graphql.changed(_mutation("updateMedia"), who, {"id": id, "name": name}))

    async def get(self, who: str, id: int) -> Answer:
        answer = await self.graphql.asked(f"query ($id: Int!) {{ mediaById(id: $id) {{ {FIELDS} }} }}", who, {"id": id})
        return Answer(404, message="No such media.") if answer.done and answer.result is None else _rest(answer)

    async def listed(self, who: str) -> Answer:
        answer = await self.graphql.asked("{ media(first: 100) { nodes { id } } }", who, {})
        return Answer(200, [entry["id"] for entry in answer.result["nodes"]]) if answer.done else answer


def _mutation(name: str) -> str:
    of = f"{name[0].upper()}{name[1:]}"
    return f"mutation ($input: {of}Input!) {{ {name}(input: $input) {{ media {{ {FIELDS} }} userErrors {{ field code message }} }} }}"


def _rest(answer: Answer) -> Answer:
    """The same with the keys of REST; GraphQL writes times with fewer digits."""
    if not answer.done:
        return answer
    found = dict(answer.result)
    named = {"created_on": found.pop("createdOn"), "archived_on": found.pop("archivedOn")}
    return Answer(200, {**found, **named}, replayed=answer.replayed)


def medias_over(transport: Transport) -> Medias:
    """The pictures, by a way to ask."""
    return MediasOverRest(transport) if isinstance(transport, OverRest) else MediasOverGraphQL(transport)


async def files_of(tenants: Tenants, uuid: UUID | str | None = None) -> set[str]:
    """The files of one picture, or of all, that are in the store."""
    folder = "media" if uuid is None else f"media/{uuid}"
    return {file.key async for file in tenants.services.files.kept(folder)}
