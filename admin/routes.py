"""The routes of the back office."""

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from admin.core.handler import AdminSite
from admin.core.paths import (
    ACCOUNT_PATH,
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
from admin.pages import actions, customers, details, home, lists, orders, refunds, reports, search
from admin.sign_in import account, log_in, passkeys, passwords
from funnel.core.page_handler import Handler, PageEndpoint
from schema.core.errors import NotFound
from store.core.settings import Settings

LIST = f"{ROOT}{{resource:str}}/"
OBJECT = f"{LIST}{{key:str}}/"


def routes(settings: Settings) -> Sequence[BaseRoute]:
    """The routes of the back office. Fixed paths come before those of resources."""
    pages = AdminTemplates(reload=settings.development)
    site = AdminSite(settings, pages)
    change = site.staff_page(actions.show), site.staff_form(actions.submit)
    table: Sequence[tuple[str, PageEndpoint, PageEndpoint | None]] = (
        (ROOT, site.staff_page(home.show), None),
        (LOG_IN_PATH, site.page(log_in.show), site.form(log_in.log_in)),
        (LOG_IN_CODE_PATH, site.page(log_in.show_code), site.form(log_in.enter_code)),
        (PASSKEY_PATH, site.page(passkeys.show_options), site.form(passkeys.log_in)),
        (FORGOT_PASSWORD_PATH, site.page(passwords.show_forgotten), site.form(passwords.send_link)),
        (RESET_PASSWORD_PATH, site.page(passwords.show_choice), site.form(passwords.choose)),
        (ACCOUNT_PATH, site.staff_page(account.show), None),
        (f"{ROOT}search/", site.staff_page(search.show), None),
        (LIST, site.staff_page(lists.show), None),
        (f"{LIST}new/{{action:str}}/", *change),
        (f"{LIST}reports/{{report:str}}/", site.staff_page(reports.show), None),
        (f"{OBJECT}reports/{{report:str}}/", site.staff_page(reports.show), None),
        *_own_pages(site),
        (OBJECT, site.staff_page(details.show), None),
        (f"{OBJECT}{{action:str}}/", *change),
        (f"{OBJECT}{{child:str}}/{{child_key:str}}/{{action:str}}/", *change),
    )
    return [
        Route(f"{STATIC_PREFIX}{{name}}", pages.assets.serve),
        Route(f"{ROOT}log-out/", site.form(log_in.log_out), methods=["POST"]),
        Route(f"{ROOT}language/", site.form(log_in.change_language), methods=["POST"]),
        *(Route(path, site.staff_form(handler), methods=["POST"]) for path, handler in _account_forms()),
        *(Route(path, show, methods=["GET"]) for path, show, _ in table),
        *(Route(path, submit, methods=["POST"]) for path, _, submit in table if submit is not None),
        Route(ROOT.rstrip("/"), site.staff_page(_to_root)),
        Route(f"{ROOT}{{rest:path}}", site.staff_page(_not_found)),
    ]


def _own_pages(site: AdminSite) -> Sequence[tuple[str, PageEndpoint, PageEndpoint | None]]:
    """The pages and forms of objects that are not like those of others."""
    key = "{key:str}"
    return (
        (f"{ROOT}orders/{key}/", site.staff_page(orders.show), None),
        (f"{ROOT}customers/{key}/", site.staff_page(customers.show), None),
        (
            f"{ROOT}orders/{key}/refund-order/",
            site.staff_page(refunds.show_order),
            site.staff_form(refunds.submit_order),
        ),
        (
            f"{ROOT}payments/{key}/refund-payment/",
            site.staff_page(refunds.show_payment),
            site.staff_form(refunds.submit_payment),
        ),
    )


def _account_forms() -> Sequence[tuple[str, Handler[AdminRequest]]]:
    """The forms of the account page."""
    return (
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


async def _to_root(request: AdminRequest) -> Response:
    return request.redirect(ROOT)


async def _not_found(_request: AdminRequest) -> Response:
    """Any other path below the root."""
    raise NotFound(thing="page")
