"""The pages below `/_mail/`: a list of messages, and each message with its HTML, text and attachments."""

import datetime as dt
import email
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from store.core.compiled_templates import compiled_templates
from store.core.settings import Settings

PREFIX = "/_mail/"
MESSAGE_NAME = re.compile(r"\d{8}T\d{6}-[0-9a-f-]{36}")
STYLESHEET = (files("coffret.mail_preview") / "page.css").read_bytes()
STYLESHEET_PATH = f"{PREFIX}page.{hashlib.sha256(STYLESHEET).hexdigest()[:12]}.css"
MAX_LISTED = 100
"""Messages in the list; older ones are only in the folder."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
MESSAGE_CSP = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' {ours}; frame-ancestors 'self'; form-action 'none'; "
    "sandbox allow-popups allow-popups-to-escape-sandbox"
)
"""A message may apply its own styles, show our pictures and open links in a new tab."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in the folder."""

    name: str
    message: EmailMessage

    @property
    def stored_on(self) -> dt.datetime:
        return dt.datetime.strptime(self.name[:15], "%Y%m%dT%H%M%S").replace(tzinfo=dt.UTC)

    def header(self, name: str) -> str:
        """Empty if absent."""
        return str(self.message.get(name, ""))

    @property
    def attachments(self) -> list[EmailMessage]:
        return [part for part in self.message.iter_attachments() if isinstance(part, EmailMessage)]

    @property
    def pictures(self) -> dict[str, EmailMessage]:
        """The enclosed pictures, by their ids in angle brackets."""
        parts = (part for part in self.message.walk() if part.get_content_maintype() == "image")
        return {
            str(part["Content-ID"]): part for part in parts if isinstance(part, EmailMessage) and part["Content-ID"]
        }

    def part(self, kind: str) -> str:
        """The `html` or the `plain` part; empty if absent."""
        found = self.message.get_body((kind,))
        return str(found.get_content()) if found is not None else ""


class MailboxPages:
    """The pages of one mail folder."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / "mail"
        self._server = settings.mail_server
        self._message_policy = MESSAGE_CSP.format(ours=settings.public_url)
        self._templates = Environment(
            loader=PackageLoader("coffret.mail_preview", ""),
            autoescape=True,
            bytecode_cache=compiled_templates,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(sheet=STYLESHEET_PATH, home=PREFIX)

    def routes(self) -> list[BaseRoute]:
        return [
            Route(PREFIX, self.show_list),
            Route(STYLESHEET_PATH, self.style),
            Route(f"{PREFIX}{{name}}/", self.show),
            Route(f"{PREFIX}{{name}}/html", self.html),
            Route(f"{PREFIX}{{name}}/pictures/{{id}}", self.picture),
            Route(f"{PREFIX}{{name}}/letter.eml", self.file),
            Route(f"{PREFIX}{{name}}/files/{{number:int}}", self.attachment),
        ]

    def style(self, _request: Request) -> Response:
        headers = {"Cache-Control": "max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
        return Response(STYLESHEET, headers=headers, media_type="text/css")

    def show_list(self, _request: Request) -> Response:
        return self._page("list.html", entries=self._messages(), folder=self._folder, server=self._server)

    def show(self, request: Request) -> Response:
        entry = self._find_message(request)
        shown = ("From", "To", "Reply-To", "Subject", "Date", "Message-ID", "Content-Language", "Auto-Submitted")
        return self._page("message.html", entry=entry, headers=[(name, entry.header(name)) for name in shown])

    def html(self, request: Request) -> Response:
        """The HTML part, with the addresses of its enclosed pictures. It is untrusted, so it is displayed in a sandbox."""
        html = self._find_message(request).part("html").replace("<head>", '<head><base target="_blank">', 1)
        html = html.replace(' src="cid:', ' src="pictures/')
        headers = HEADERS | {"Content-Security-Policy": self._message_policy}
        return HTMLResponse(html, headers=headers)

    def picture(self, request: Request) -> Response:
        """A picture that is enclosed in the HTML part."""
        picture = self._find_message(request).pictures.get(f"<{request.path_params['id']}>")
        if picture is None:
            raise HTTPException(404)
        headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}
        return Response(picture.get_payload(decode=True), headers=headers, media_type=picture.get_content_type())

    def file(self, request: Request) -> Response:
        """The message as an `.eml` file."""
        name = self._find_message(request).name
        headers = {"Content-Disposition": f'attachment; filename="{name}.eml"', "X-Content-Type-Options": "nosniff"}
        return Response(self._path(name).read_bytes(), headers=headers, media_type="message/rfc822")

    def attachment(self, request: Request) -> Response:
        """Download an attachment. It is never displayed on this page's origin."""
        files, number = self._find_message(request).attachments, request.path_params["number"]
        if number >= len(files):
            raise HTTPException(404)
        name = quote(files[number].get_filename() or "file", safe="")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "X-Content-Type-Options": "nosniff",
        }
        content = files[number].get_payload(decode=True)
        return Response(content, headers=headers, media_type=files[number].get_content_type())

    def _page(self, template: str, **values: object) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(values), headers=HEADERS)

    def _messages(self) -> Sequence[StoredMessage]:
        found = sorted((path for path in self._folder.glob("*.eml") if MESSAGE_NAME.fullmatch(path.stem)), reverse=True)
        return [_read_message(path) for path in found[:MAX_LISTED]]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.eml"

    def _find_message(self, request: Request) -> StoredMessage:
        name = str(request.path_params["name"])
        if not MESSAGE_NAME.fullmatch(name) or not self._path(name).is_file():
            raise HTTPException(404)
        return _read_message(self._path(name))


def _read_message(path: Path) -> StoredMessage:
    return StoredMessage(
        path.stem, email.message_from_bytes(path.read_bytes(), _class=EmailMessage, policy=policy.default)
    )


def routes(settings: Settings) -> list[BaseRoute]:
    """The pages in development; none in production, where mail is not stored as files."""
    return MailboxPages(settings).routes() if settings.development else []
