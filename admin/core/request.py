"""The request of a member of staff in the back office."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from admin.core.menu import menu_of
from admin.core.paths import ACCOUNT_PATH, ROOT
from admin.core.values import Reader
from admin.graph import execution
from admin.graph.execution import GraphAnswer
from admin.graph.messages import wording
from admin.graph.schema_types import input_of
from funnel.core.flash import Flashes
from funnel.core.page_request import FieldError, PageRequest
from resolvers.account.impersonation import PartnerView
from resolvers.core.caller import Caller, Role, Transport
from resolvers.core.context import Context
from schema.core.errors import AppError
from schema.core.permission import AccessRule, RequiredAccess
from store.core.localization.formats import Formats

LONGEST_NEXT = 2000


@dataclass
class AdminRequest(PageRequest):
    """A request in the back office, logged in or not."""

    caller: Caller | None = field(kw_only=True)
    """The logged-in user, or as whom the user looks; None without a valid log-in."""
    own_caller: Caller | None = field(kw_only=True)
    """The logged-in user itself."""
    view: PartnerView | None = field(kw_only=True)
    """The look as a partner that is going on; None normally."""
    had_cookie: bool = field(kw_only=True)
    """True if the browser sent a log-in cookie, valid or not."""
    files: Mapping[str, UploadFile] = field(default_factory=dict, kw_only=True)
    """The files of the submitted form."""
    uploads: FormData | None = field(default=None, kw_only=True)
    """The submitted form if it can have files. It is closed after the request."""
    name: str = field(default="", kw_only=True)
    """The display name of the user."""
    tenant_name: str = field(default="", kw_only=True)
    """The name of the partner or the marketplace that the user works for; empty for the platform."""
    brand_sheet = ""
    language_path = f"{ROOT}language/"

    @cached_property
    def context(self) -> Context:
        return self._new_context()

    def _new_context(self) -> Context:
        return Context(
            self.services,
            self.caller,
            self.http_request.state.request_id,
            self.client_ip,
            Transport.BACK_OFFICE,
            user_agent=self.http_request.headers.get("user-agent", ""),
            wording=wording(self.templates.texts.translations(self.language), Formats(self.language)),
        )

    @property
    def own_context(self) -> Context:
        """The request as the user itself, also of one who looks as a partner."""
        return replace(self.context, caller=self.own_caller)

    @property
    def required_caller(self) -> Caller:
        """The logged-in user."""
        assert self.caller is not None
        return self.caller

    @property
    def is_partner(self) -> bool:
        """Whether the user works for one partner."""
        return self.required_caller.role is Role.PARTNER

    @property
    def origin(self) -> str:
        """Scheme and host of the back office, as browsers see them."""
        scheme = urlsplit(self.services.settings.public_url).scheme
        return f"{scheme}://{self.http_request.headers.get('host', '')}"

    @property
    def has_passkeys(self) -> bool:
        """Whether passkeys work at this host: they are bound to that of the service's own address."""
        host = urlsplit(self.services.settings.public_url).netloc
        return self.http_request.headers.get("host", "").lower() == host.lower()

    @property
    def path(self) -> str:
        """The path of this page with its query."""
        url = self.http_request.url
        return url.path + (f"?{url.query}" if url.query else "")

    @property
    def next_url(self) -> str:
        """The page to return to after a change of language or a log-in."""
        if self.http_request.method not in {"GET", "HEAD"}:
            path = self.http_request.url.path
            return ROOT if self.caller is None else ACCOUNT_PATH if path.startswith(ACCOUNT_PATH) else path
        return self.path[:LONGEST_NEXT]

    @property
    def next_query(self) -> str:
        """The query of the log-in form that leads back to this page."""
        return urlencode({"next": self.next_url})

    @cached_property
    def reader(self) -> Reader:
        """The language and the time zone of the values on the page."""
        zone = self.caller.time_zone if self.caller is not None else "UTC"
        is_partner = self.caller is not None and self.is_partner
        return Reader(Formats(self.language), zone, self.translate, is_partner, self.services.clock.now().year)

    def translate(self, text: str) -> str:
        """A text of the back office in the reader's language."""
        return self.templates.texts.translations(self.language).gettext(text) if text else ""

    def may(self, access: RequiredAccess) -> bool:
        """Whether the user may run an operation that requires this."""
        if access in (AccessRule.CUSTOMER, AccessRule.REPRESENTATIVE):
            return False
        try:
            self.context.require(access)
        except AppError:
            return False
        return True

    def may_change(self, access: RequiredAccess) -> bool:
        """Whether the user may run a change that requires this, which nobody may who looks as a partner."""
        return self.view is None and self.may(access)

    async def run(
        self, document: str, variables: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> GraphAnswer:
        """Run a GraphQL document as the user. With a `key` a mutation runs once."""
        context = self.context if key is None else self._new_context()  # which ends with the key's response
        return await execution.run(context, document, variables, key=key)

    async def try_out(self, document: str, variables: Mapping[str, Any]) -> GraphAnswer:
        """What a mutation would answer. It has no effect."""
        return await execution.run(self._new_context(), document, variables, dry_run=True)

    async def change(self, mutation: str, input: Mapping[str, Any], selection: str) -> Mapping[str, Any]:
        """Run a mutation; returns its payload with the `userErrors`. Raises the errors of the whole request."""
        document = (
            f"mutation($input: {input_of(mutation).name}!) "
            f"{{ {mutation}(input: $input) {{ {selection} userErrors {{ field code message }} }} }}"
        )
        answer = await self.run(document, {"input": input})
        payload: Mapping[str, Any] = answer.only(mutation)
        return payload

    @cached_property
    def flashes(self) -> Flashes:
        """The messages for the user's next page."""
        return Flashes(self.services.kv, 0)

    def field_error(self, place: str, code: str) -> FieldError:
        return FieldError(place, code, {})

    def render(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a page with the menu of the user."""
        menu = menu_of(self.may) if self.caller is not None else ()
        return super().render(template, status, **{"menu": menu, "here": "", "notice": ""} | values)
