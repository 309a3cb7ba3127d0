"""The page handler of the back office: finds the logged-in user, reads forms with files, renders errors as pages."""

from dataclasses import dataclass

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from admin.core.paths import LOG_IN_PATH, ROOT
from admin.core.request import AdminRequest
from admin.core.templates import AdminTemplates
from funnel.core.forms import Form, read_form
from funnel.core.messages import N_, ErrorPage
from funnel.core.page_handler import ERROR_PAGE_BY_STATUS, Handler, PageEndpoint, Site
from resolvers.account.impersonation import find_partner_view
from resolvers.account.staff import BACK_OFFICE, authenticate_staff, display_name_of, tenant_name_of
from resolvers.core.caller import Caller
from resolvers.core.services import Services
from schema.core.errors import AppError, MalformedBody, ReadOnlySession, Unauthenticated
from store.core.request_body import MULTIPART, UPLOAD_LIMIT, RequestBody, UnreadableBody
from store.core.settings import Settings

LOG_IN_COOKIE = "admin"
"""The cookie with the token of the logged-in user."""
MOST_FIELDS = 10_000
MOST_FILES = 20


@dataclass(frozen=True, slots=True)
class AdminError:
    """The heading and the text of an error page."""

    heading: str
    text: str


ERRORS = {
    ErrorPage.CSRF_FAILED: AdminError(
        N_("This form is too old"), N_("Open the page again, and send the form from there.")
    ),
    ErrorPage.NOT_FOUND: AdminError(N_("Not found"), N_("It does not exist, or you may not see it.")),
    ErrorPage.TOO_LARGE: AdminError(N_("Too large"), N_("A form with its file may have at most 10 MiB.")),
    ErrorPage.TOO_MANY: AdminError(N_("Too many requests"), N_("Wait a moment, then try again.")),
    ErrorPage.INTERNAL_ERROR: AdminError(
        N_("Something went wrong"), N_("It has been recorded. Try again, or ask support.")
    ),
    ErrorPage.UNAVAILABLE: AdminError(
        N_("Not available now"), N_("A part of the service does not respond. Try again soon.")
    ),
}
READ_ONLY = AdminError(
    N_("Nothing was changed"), N_("You look as a partner, and change nothing. End it at the top of the page first.")
)
FORBIDDEN = AdminError(N_("Not allowed"), N_("This needs a permission that you do not have."))


class AdminSite(Site[AdminRequest]):
    """Creates endpoints from handlers of staff requests."""

    def __init__(self, settings: Settings, pages: AdminTemplates) -> None:
        super().__init__(settings, pages, secure=settings.public_url.startswith("https://"))

    async def build_request(self, request: Request) -> AdminRequest:
        """The request of a browser, with its user if it is logged in."""
        services: Services = request.app.state.container.services
        secret = self.cookies.read(request, LOG_IN_COOKIE)
        own = await _find_caller(services, secret)
        view = await find_partner_view(services, own) if own is not None else None
        return self.new_request(
            AdminRequest,
            request,
            self.language(request),
            None,
            caller=own if view is None else view.caller,
            own_caller=own,
            view=view,
            had_cookie=bool(secret),
            name=await display_name_of(services, own) if own is not None else "",
            tenant_name=await tenant_name_of(services, own if view is None else view.caller) if own is not None else "",
        )

    def staff_page(self, handler: Handler[AdminRequest]) -> PageEndpoint:
        """An endpoint for GET that requires a log-in; otherwise it redirects to the log-in form."""
        return self.page(_require_login(handler))

    def staff_form(self, handler: Handler[AdminRequest]) -> PageEndpoint:
        """An endpoint for a form that requires a log-in; otherwise it redirects to the log-in form."""
        return self.form(_require_login(handler))

    async def read_form(self, page_request: AdminRequest) -> Form:
        """The fields of a form; its files are in `files`."""
        body = RequestBody(page_request.http_request)
        if body.media_type != MULTIPART:
            return await read_form(page_request.http_request)
        try:
            form = await body.parse_form(await body.read(UPLOAD_LIMIT), max_files=MOST_FILES, max_fields=MOST_FIELDS)
        except UnreadableBody as error:
            raise MalformedBody(reason=str(error)) from error
        page_request.uploads = form
        page_request.files = {
            name: value for name, value in form.items() if isinstance(value, UploadFile) and value.filename
        }
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        if any("\x00" in text for field in fields.items() for text in field):  # PostgreSQL refuses it
            raise MalformedBody(reason="it has characters that are none")
        return fields

    async def _run_handler(
        self, page_request: AdminRequest, handler: Handler[AdminRequest], *, posted: bool
    ) -> Response:
        try:
            return await super()._run_handler(page_request, handler, posted=posted)
        finally:
            if page_request.uploads is not None:
                await page_request.uploads.close()

    async def handle_error(self, page_request: AdminRequest, error: AppError) -> Response:
        """The response for an error that no handler has caught."""
        if isinstance(error, Unauthenticated) or error.status == 401:
            return redirect_to_login(page_request)
        if isinstance(error, ReadOnlySession):
            return self._render(page_request, READ_ONLY, 403)
        if error.status == 403 and error.code() != "CSRF_FAILED":
            return self._render(page_request, FORBIDDEN, 403)
        return await super().handle_error(page_request, error)

    def render_error(self, page_request: AdminRequest, ending: ErrorPage, status: int) -> Response:
        return self._render(page_request, ERRORS.get(ending, ERRORS[ErrorPage.INTERNAL_ERROR]), status)

    def render_early_error(self, request: Request, status: int) -> Response:
        """An error page before the user is known."""
        shown_error = ERRORS.get(
            ERROR_PAGE_BY_STATUS.get(status, ErrorPage.INTERNAL_ERROR), ERRORS[ErrorPage.INTERNAL_ERROR]
        )
        return self.templates.render(
            request,
            self.language(request),
            "error.html",
            status,
            error_page=shown_error,
            request=None,
            menu=(),
            here="",
            notice="",
        )

    def _render(self, page_request: AdminRequest, shown_error: AdminError, status: int) -> Response:
        return page_request.render("error.html", status, error_page=shown_error)


def redirect_to_login(request: AdminRequest) -> Response:
    """Redirect to the log-in form, which then leads back to this page."""
    return request.redirect(f"{LOG_IN_PATH}?{request.next_query}" if request.next_url != ROOT else LOG_IN_PATH)


def _require_login(handler: Handler[AdminRequest]) -> Handler[AdminRequest]:
    async def handle_logged_in(request: AdminRequest) -> Response:
        return redirect_to_login(request) if request.caller is None else await handler(request)

    return handle_logged_in


async def _find_caller(services: Services, secret: str) -> Caller | None:
    if not secret:
        return None
    try:
        return await authenticate_staff(services, secret, BACK_OFFICE)
    except Unauthenticated:
        return None
