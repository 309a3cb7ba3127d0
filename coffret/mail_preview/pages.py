"""The pages below `/_mail/`: a list, each letter with its HTML in a sandbox, its text and its file."""

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

from store.core.settings import Settings

PREFIX = "/_mail/"
NAME = re.compile(r"\d{8}T\d{6}-[0-9a-f-]{36}")
SHEET = (files("coffret.mail_preview") / "page.css").read_bytes()
SHEET_PATH = f"{PREFIX}page.{hashlib.sha256(SHEET).hexdigest()[:12]}.css"
SHOWN = 100
"""Letters of the list; older ones are in the folder."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; frame-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
OF_A_LETTER = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' {ours}; frame-ancestors 'self'; form-action 'none'; "
    "sandbox allow-popups allow-popups-to-escape-sandbox"
)
"""A letter may show its own styles and our pictures, lead elsewhere in a new tab, and do nothing else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A letter of the folder."""

    name: str
    message: EmailMessage

    @property
    def kept_on(self) -> dt.datetime:
        """When it was kept."""
        return dt.datetime.strptime(self.name[:15], "%Y%m%dT%H%M%S").replace(tzinfo=dt.UTC)

    def header(self, name: str) -> str:
        """A header as people read it; empty when there is none."""
        return str(self.message.get(name, ""))

    @property
    def files(self) -> list[EmailMessage]:
        """What came with it."""
        return [part for part in self.message.iter_attachments() if isinstance(part, EmailMessage)]

    def part(self, kind: str) -> str:
        """The `html` or the `plain` part; empty when there is none."""
        found = self.message.get_body((kind,))
        return str(found.get_content()) if found is not None else ""


class Mailbox:
    """The pages of one folder."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / "mail"
        self._server = settings.mail_server
        self._letter_policy = OF_A_LETTER.format(ours=settings.public_url)
        self._templates = Environment(
            loader=PackageLoader("coffret.mail_preview", ""),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(sheet=SHEET_PATH, home=PREFIX)

    def routes(self) -> list[BaseRoute]:
        """What is served."""
        return [
            Route(PREFIX, self.show_list),
            Route(SHEET_PATH, self.style),
            Route(f"{PREFIX}{{name}}/", self.show),
            Route(f"{PREFIX}{{name}}/html", self.html),
            Route(f"{PREFIX}{{name}}/letter.eml", self.file),
            Route(f"{PREFIX}{{name}}/files/{{number:int}}", self.enclosure),
        ]

    def style(self, _request: Request) -> Response:
        """The style sheet."""
        headers = {"Cache-Control": "max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
        return Response(SHEET, headers=headers, media_type="text/css")

    def show_list(self, _request: Request) -> Response:
        """The newest letters."""
        return self._page("list.html", entries=self._entries(), folder=self._folder, server=self._server)

    def show(self, request: Request) -> Response:
        """A letter: headers, HTML, text."""
        entry = self._entry(request)
        shown = ("From", "To", "Reply-To", "Subject", "Date", "Message-ID", "Content-Language", "Auto-Submitted")
        return self._page("letter.html", entry=entry, headers=[(name, entry.header(name)) for name in shown])

    def html(self, request: Request) -> Response:
        """The HTML part, which may be anything: it is shown in a sandbox."""
        html = self._entry(request).part("html").replace("<head>", '<head><base target="_blank">', 1)
        headers = HEADERS | {"Content-Security-Policy": self._letter_policy}
        return HTMLResponse(html, headers=headers)

    def file(self, request: Request) -> Response:
        """The letter as it travels."""
        name = self._entry(request).name
        headers = {"Content-Disposition": f'attachment; filename="{name}.eml"', "X-Content-Type-Options": "nosniff"}
        return Response(self._path(name).read_bytes(), headers=headers, media_type="message/rfc822")

    def enclosure(self, request: Request) -> Response:
        """A file that came with a letter, to save: it is not shown on this page's origin."""
        files, number = self._entry(request).files, request.path_params["number"]
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

    def _entries(self) -> Sequence[Entry]:
        found = sorted((path for path in self._folder.glob("*.eml") if NAME.fullmatch(path.stem)), reverse=True)
        return [_read(path) for path in found[:SHOWN]]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.eml"

    def _entry(self, request: Request) -> Entry:
        name = str(request.path_params["name"])
        if not NAME.fullmatch(name) or not self._path(name).is_file():
            raise HTTPException(404)
        return _read(self._path(name))


def _read(path: Path) -> Entry:
    return Entry(path.stem, email.message_from_bytes(path.read_bytes(), _class=EmailMessage, policy=policy.default))


def routes(settings: Settings) -> list[BaseRoute]:
    """The pages in development; nothing in production, where nobody's mail is kept as files."""
    return Mailbox(settings).routes() if settings.development else []
