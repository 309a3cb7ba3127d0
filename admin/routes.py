"""The routes of the back office."""

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from admin.bulk import page as bulk
from admin.core.handler import AdminSite
from admin.core.paths import (
    ACCOUNT_PATH,
    END_VIEW_PATH,
    FORGOT_PASSWORD_PATH,
    LOG_IN_CODE_PATH,
    LOG_IN_PATH,
    PASSKEY_PATH,
    PASSKEYS_PATH,
    RESET_PASSWORD_PATH,
    ROOT,
    SECOND_FACTOR_PATH,
)
from admin.core.request import AdminRequest
from admin.core.templates import STATIC_PREFIX, AdminTemplates
from admin.home import page as home
from admin.imports import page as imports
from admin.pages import actions, details, exports, lists, reports, saved_filters, search
from admin.pages.previews import page as previews
from admin.sales import customers, orders, refund_requests, refunds
from admin.sign_in import account, impersonation, log_in, passkeys, passwords
from funnel.core.page_handler import Handler
from schema.core.errors import NotFound
from store.core.settings import Settings

LIST = f"{ROOT}{{resource:str}}/"
OBJECT = f"{LIST}{{key:str}}/"
Pages = Sequence[tuple[str, Handler[AdminRequest], Handler[AdminRequest] | None]]
"""Addresses with what shows them, and what takes their form."""
DOORS: Pages = (
    (LOG_IN_PATH, log_in.show, log_in.log_in),
    (LOG_IN_CODE_PATH, log_in.show_code, log_in.enter_code),
    (PASSKEY_PATH, passkeys.show_options, passkeys.log_in),
    (FORGOT_PASSWORD_PATH, passwords.show_forgotten, passwords.send_link),
    (RESET_PASSWORD_PATH, passwords.show_choice, passwords.choose),
)
"""Pages for whoever has not logged in."""
STAFF_PAGES: Pages = (
    (ROOT, home.show, None),
    (ACCOUNT_PATH, account.show, None),
    (f"{ACCOUNT_PATH}tokens/{{id:str}}/", account.confirm_revocation, None),
    (f"{ROOT}search/", search.show, None),
    (LIST, lists.show, None),
    (f"{LIST}new/export/", exports.show, exports.submit),
    (f"{ROOT}exports/{{key:str}}/file/", exports.download, None),
    (f"{LIST}new/{{action:str}}/", actions.show, actions.submit),
    (f"{LIST}import/", imports.show, imports.submit),
    (f"{LIST}import/template/", imports.send_template, None),
    (f"{LIST}bulk/", bulk.lead_back, bulk.choose),
    (f"{LIST}bulk/{{action:str}}/", bulk.lead_back, bulk.submit),
    (f"{LIST}reports/{{report:str}}/", reports.show, None),
    (f"{OBJECT}reports/{{report:str}}/", reports.show, None),
    (f"{ROOT}orders/{{key:str}}/", orders.show, None),
    (f"{ROOT}customers/{{key:str}}/", customers.show, None),
    (OBJECT, details.show, None),
    (f"{ROOT}orders/{{key:str}}/refund-order/", refunds.show_order, refunds.submit_order),
    (f"{ROOT}payments/{{key:str}}/refund-payment/", refunds.show_payment, refunds.submit_payment),
    (f"{ROOT}refund-requests/{{key:str}}/{refund_requests.SLUG}/", refund_requests.show, refund_requests.submit),
    (f"{OBJECT}{previews.SLUG}/", previews.show, None),
    (f"{OBJECT}{previews.FRAME_SLUG}/", previews.show_page, previews.show_typed_page),
    (f"{OBJECT}{previews.DOCUMENT_SLUG}/", previews.show_document, None),
    (f"{OBJECT}{{action:str}}/", actions.show, actions.submit),
    (f"{OBJECT}{{child:str}}/{{child_key:str}}/{{action:str}}/", actions.show, actions.submit),
)
"""Pages for staff; the first address that fits is taken."""
STAFF_FORMS: Sequence[tuple[str, Handler[AdminRequest]]] = (
    (END_VIEW_PATH, impersonation.end),
    (f"{LIST}new/filter/", saved_filters.save),
    (f"{LIST}new/filter/delete/", saved_filters.delete),
    (f"{ACCOUNT_PATH}sessions/end/", account.end_session),
    (f"{ACCOUNT_PATH}sessions/end-others/", account.end_other_sessions),
    (SECOND_FACTOR_PATH, account.set_up),
    (f"{SECOND_FACTOR_PATH}confirm/", account.confirm),
    (f"{SECOND_FACTOR_PATH}codes/", account.renew_codes),
    (f"{SECOND_FACTOR_PATH}off/", account.disable),
    (f"{PASSKEYS_PATH}begin/", passkeys.begin),
    (PASSKEYS_PATH, passkeys.register),
    (f"{PASSKEYS_PATH}delete/", passkeys.delete),
)
"""Forms of staff on other pages."""


def routes(settings: Settings) -> Sequence[BaseRoute]:
    """The routes of the back office. Fixed paths come before those of resources."""
    pages = AdminTemplates(reload=settings.development)
    site = AdminSite(settings, pages)
    doors = [(path, site.page(show), submit and site.form(submit)) for path, show, submit in DOORS]
    staff = [(path, site.staff_page(show), submit and site.staff_form(submit)) for path, show, submit in STAFF_PAGES]
    return [
        Route(f"{STATIC_PREFIX}{{name}}", pages.assets.serve),
        Route(f"{ROOT}log-out/", site.form(log_in.log_out), methods=["POST"]),
        Route(f"{ROOT}language/", site.form(log_in.change_language), methods=["POST"]),
        *(Route(path, site.staff_form(handler), methods=["POST"]) for path, handler in STAFF_FORMS),
        *(Route(path, show, methods=["GET"]) for path, show, _ in (*doors, *staff)),
        *(Route(path, submit, methods=["POST"]) for path, _, submit in (*doors, *staff) if submit is not None),
        Route(ROOT.rstrip("/"), site.staff_page(_to_root)),
        Route(f"{ROOT}{{rest:path}}", site.staff_page(_not_found)),
    ]


async def _to_root(request: AdminRequest) -> Response:
    return request.redirect(ROOT)


async def _not_found(_request: AdminRequest) -> Response:
    """Any other path below the root."""
    raise NotFound(thing="page")
