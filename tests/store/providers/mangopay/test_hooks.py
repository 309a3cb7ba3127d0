"""Notifications, their registration, and the events that make up for lost ones."""

import datetime as dt
import json
from typing import Any

import httpx
import pytest
import respx
import structlog

from store.providers.base import EventHint, InboundWebhook, Subject, WebhookRejected
from store.providers.errors import InvalidRequest, TransientError
from store.providers.mangopay.hooks import EVENT_TYPES
from tests.store.providers.mangopay.account import CREATED, SECRET, Account, notification, ok, refusal

GENUINE = {"EventType": "PAYIN_NORMAL_SUCCEEDED", "RessourceId": "payin_m_1", "Date": str(CREATED)}
HOOKS = "https://shop.example/hooks/mangopay"
URL = f"{HOOKS}/{SECRET}"


@pytest.mark.parametrize(
    ("type", "subject"),
    [
        ("PAYIN_NORMAL_CREATED", Subject.PAYIN),
        ("PAYIN_NORMAL_SUCCEEDED", Subject.PAYIN),
        ("PAYIN_NORMAL_FAILED", Subject.PAYIN),
        ("PAYIN_REFUND_SUCCEEDED", Subject.REFUND),
        ("PAYIN_REFUND_FAILED", Subject.REFUND),
        ("PAYOUT_NORMAL_FAILED", Subject.PAYOUT),
        ("PAYOUT_REFUND_SUCCEEDED", Subject.REFUND),
        ("USER_ACCOUNT_ACTIVATED", Subject.ACCOUNT),
        ("SCA_ENROLLMENT_FAILED", Subject.ACCOUNT),
        ("USER_KYC_LIGHT", Subject.ACCOUNT),
        ("USER_OUTFLOWS_UNBLOCKED", Subject.ACCOUNT),
        ("IDENTITY_VERIFICATION_INCONCLUSIVE", Subject.IDENTITY_CHECK),
        ("KYC_OUTDATED", Subject.DOCUMENT),
        ("RECIPIENT_CANCELED", Subject.DESTINATION),
    ],
)
async def test_a_notification_says_what_to_read_again(account: Account, type: str, subject: Subject) -> None:
    hints = account.adapter.read_webhook(notification(**GENUINE | {"EventType": type}))
    assert hints == [
        EventHint(
            dedupe_id=f"{type}:payin_m_1:{CREATED}",
            type=type,
            subject=subject,
            resource_id="payin_m_1",
            occurred_at=dt.datetime.fromtimestamp(CREATED, dt.UTC),
        )
    ]


async def test_what_concerns_nothing_here_is_fine_and_says_nothing(account: Account) -> None:
    assert account.adapter.read_webhook(notification(**GENUINE | {"EventType": "MANDATE_CREATED"})) == []


@pytest.mark.parametrize(
    "path", [f"/hooks/{SECRET}", f"/hooks/{SECRET}/", f"/{SECRET}", f"/a/b/c/{SECRET.replace('s', '%73')}"]
)
async def test_the_secret_is_the_last_segment(account: Account, path: str) -> None:
    assert account.adapter.read_webhook(notification(path, **GENUINE))


@pytest.mark.parametrize(
    "path",
    [
        "/hooks/",
        "/hooks",
        "",
        "/hooks/guess",
        f"/hooks/{SECRET}x",
        f"/hooks/{SECRET[:-1]}",
        f"/hooks/{SECRET}/more",
        f"/hooks/{SECRET.upper()}",
        "/hooks/gu\u00e9ss",
    ],
)
async def test_a_forged_notification_is_refused(account: Account, path: str) -> None:
    with pytest.raises(WebhookRejected, match="secret"):
        account.adapter.read_webhook(notification(path, **GENUINE))


async def test_a_secret_in_the_query_is_no_secret(account: Account) -> None:
    with pytest.raises(WebhookRejected, match="secret"):
        account.adapter.read_webhook(notification("/hooks", **GENUINE, secret=SECRET))


@pytest.mark.parametrize("method", ["POST", "HEAD", "PUT"])
async def test_the_provider_notifies_by_get(account: Account, method: str) -> None:
    with pytest.raises(WebhookRejected, match=method):
        account.adapter.read_webhook(notification(method=method, **GENUINE))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=payin_m_1",
        f"EventType=PAYIN_NORMAL_SUCCEEDED&ResourceId=payin_m_1&Date={CREATED}",
        f"EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=&Date={CREATED}",
        f"EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=a&RessourceId=b&Date={CREATED}",
        f"EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId={'x' * 129}&Date={CREATED}",
        f"EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=a%0ab&Date={CREATED}",
        "EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=payin_m_1&Date=yesterday",
        "EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=payin_m_1&Date=-1",
        "EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=payin_m_1&Date=1760000000.5",
        "EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=payin_m_1&Date=999999999999",
        "EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=payin_m_1&Date=%D9%A1",
        f"EventType=&RessourceId=payin_m_1&Date={CREATED}",
    ],
)
async def test_a_malformed_notification_is_refused(account: Account, query: str) -> None:
    with pytest.raises(WebhookRejected, match="notification"):
        account.adapter.read_webhook(InboundWebhook("GET", f"/hooks/{SECRET}", query))


async def test_the_same_event_is_known_again_by_whichever_way_it_comes(account: Account) -> None:
    event = {"ResourceId": "payin_m_1", "EventType": "PAYIN_NORMAL_SUCCEEDED", "Date": CREATED}
    listing(account, {"PAYIN_NORMAL_SUCCEEDED": [event]})
    [notified] = account.adapter.read_webhook(notification(**GENUINE))
    [listed] = await events(account, account.clock.now())
    assert notified == listed


# The list of events


def listing(account: Account, of_type: dict[str, list[dict[str, Any]]]) -> list[respx.Route]:
    """One page of events for each type."""
    return [account.on("GET", "/events", ok(of_type.get(type, [])), EventType=type) for type in EVENT_TYPES]


async def events(account: Account, since: dt.datetime) -> list[EventHint]:
    """Everything since a moment."""
    return [hint async for hint in account.adapter.events_since(since)]


async def test_events_are_asked_for_type_by_type_oldest_first(account: Account) -> None:
    routes = listing(
        account,
        {
            "PAYIN_NORMAL_SUCCEEDED": [
                {"ResourceId": "payin_m_1", "EventType": "PAYIN_NORMAL_SUCCEEDED", "Date": CREATED},
                {"ResourceId": "payin_m_2", "EventType": "PAYIN_NORMAL_SUCCEEDED", "Date": CREATED + 1},
            ],
            "PAYIN_REFUND_FAILED": [
                {"ResourceId": "refund_m_1", "EventType": "PAYIN_REFUND_FAILED", "Date": CREATED + 2}
            ],
        },
    )
    since = account.clock.now() - dt.timedelta(days=1)
    found = await events(account, since)
    assert [(hint.subject, hint.resource_id) for hint in found] == [
        (Subject.PAYIN, "payin_m_1"),
        (Subject.PAYIN, "payin_m_2"),
        (Subject.REFUND, "refund_m_1"),
    ]
    for type, route in zip(EVENT_TYPES, routes, strict=True):
        assert dict(route.calls.last.request.url.params) == {
            "EventType": type,
            "AfterDate": str(int(since.timestamp()) - 1),
            "Sort": "Date:ASC",
            "page": "1",
            "per_page": "100",
        }


async def test_events_are_read_page_after_page(account: Account) -> None:
    for page in (1, 2, 3):
        event = {"ResourceId": f"payin_m_{page}", "EventType": "PAYIN_NORMAL_FAILED", "Date": CREATED + page}
        answer = ok([event], X_Number_Of_Pages="3")
        account.on("GET", "/events", answer, EventType="PAYIN_NORMAL_FAILED", page=str(page))
    listing(account, {})
    assert [hint.resource_id for hint in await events(account, account.clock.now())] == [
        "payin_m_1",
        "payin_m_2",
        "payin_m_3",
    ]


async def test_further_back_than_the_provider_remembers_is_as_far_as_it_goes(account: Account) -> None:
    routes = listing(account, {})
    await events(account, account.clock.now() - dt.timedelta(days=400))
    after = int(routes[0].calls.last.request.url.params["AfterDate"])
    age = account.clock.timestamp() - after
    assert dt.timedelta(days=44) < dt.timedelta(seconds=age) < dt.timedelta(days=45)


async def test_events_that_cannot_be_had_are_not_taken_for_none(account: Account) -> None:
    account.on("GET", "/events", refusal(503))
    with pytest.raises(TransientError):
        await events(account, account.clock.now())


async def test_a_type_that_is_refused_is_told_after_all_others_were_read(account: Account) -> None:
    last = list(EVENT_TYPES)[-1]
    listing(account, {last: [{"ResourceId": "rec_1", "EventType": last, "Date": CREATED}]})
    account.on("GET", "/events", refusal(400, "param_error"), EventType="PAYIN_NORMAL_CREATED")
    hints = account.adapter.events_since(account.clock.now())
    assert (await anext(hints)).resource_id == "rec_1"
    with pytest.raises(InvalidRequest):
        await anext(hints)


async def test_a_sweep_of_all_events_stays_far_below_what_the_provider_allows(account: Account) -> None:
    routes = listing(account, {})
    await events(account, account.clock.now())
    assert sum(route.call_count for route in routes) == len(EVENT_TYPES) < 2_300 / 20


# Registration


class Hooks:
    """The provider's hooks: one per type of event, invalid until enabled again."""

    def __init__(self, account: Account, *registered: dict[str, str]) -> None:
        self.hooks = {hook["Id"]: hook for hook in registered}
        self.posts: list[dict[str, str]] = []
        self.puts: list[tuple[str, dict[str, str]]] = []
        account.on("GET", "/hooks", lambda _: ok(list(self.hooks.values()), X_Number_Of_Pages="1"))
        account.on("POST", "/hooks", self.register)
        for id in self.hooks:
            account.on("PUT", f"/hooks/{id}", self._change)

    def register(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.posts.append(body)
        if any(hook["EventType"] == body["EventType"] for hook in self.hooks.values()):
            return refusal(400, "param_error", errors={"EventType": "already registered"})
        return ok(self.add(body["EventType"], body["Url"]))

    def add(self, type: str, url: str = URL) -> dict[str, str]:
        """Register one."""
        made = hook(type, url)
        self.hooks[made["Id"]] = made
        return made

    def _change(self, request: httpx.Request) -> httpx.Response:
        id, body = request.url.path.rpartition("/")[2], json.loads(request.content)
        self.puts.append((id, body))
        found = self.hooks[id]
        if found["Status"] == "DISABLED" and body.get("Status") == "ENABLED":
            found["Validity"] = "UNKNOWN"
        found.update(body)
        return ok(found)

    @property
    def healthy(self) -> bool:
        """Whether every type is notified to where we want it."""
        wanted = {"Url": URL, "Status": "ENABLED"}
        working = [hook["EventType"] for hook in self.hooks.values() if hook.items() >= wanted.items()]
        return set(working) == set(EVENT_TYPES) and all(hook["Validity"] != "INVALID" for hook in self.hooks.values())


def hook(type: str, url: str = URL, status: str = "ENABLED", validity: str = "VALID") -> dict[str, str]:
    """A hook, named after its type."""
    return {"Id": f"hook_{type}", "EventType": type, "Url": url, "Status": status, "Validity": validity}


def all_but(*types: str) -> list[dict[str, str]]:
    """Hooks of the other types."""
    return [hook(type) for type in EVENT_TYPES if type not in types]


@pytest.mark.parametrize("base_url", [HOOKS, f"{HOOKS}/"])
async def test_every_type_of_event_is_registered_once(account: Account, base_url: str) -> None:
    hooks = Hooks(account)
    await account.adapter.ensure_webhooks(base_url)
    assert hooks.posts == [{"EventType": type, "Url": URL} for type in EVENT_TYPES]
    await account.adapter.ensure_webhooks(base_url)
    assert (len(hooks.posts), hooks.puts, hooks.healthy) == (len(EVENT_TYPES), [], True)


@pytest.mark.parametrize("validity", ["VALID", "UNKNOWN"])
async def test_what_works_is_left_alone(account: Account, validity: str) -> None:
    other = hook("MANDATE_CREATED", "https://elsewhere.example", "DISABLED", "INVALID")
    hooks = Hooks(account, *(hook(type, validity=validity) for type in EVENT_TYPES), other)
    await account.adapter.ensure_webhooks(HOOKS)
    assert (hooks.posts, hooks.puts) == ([], [])


@pytest.mark.parametrize(
    ("wrong", "changes"),
    [
        ({"url": "https://old.example/hooks"}, [{"Url": URL, "Status": "ENABLED"}]),
        ({"status": "DISABLED"}, [{"Url": URL, "Status": "ENABLED"}]),
        ({"validity": "INVALID"}, [{"Status": "DISABLED"}, {"Url": URL, "Status": "ENABLED"}]),
        ({"validity": "INVALID", "status": "DISABLED"}, [{"Url": URL, "Status": "ENABLED"}]),
    ],
)
async def test_a_broken_hook_is_mended(account: Account, wrong: dict[str, str], changes: list[dict[str, str]]) -> None:
    broken = hook("PAYIN_NORMAL_FAILED", **wrong)
    hooks = Hooks(account, *all_but("PAYIN_NORMAL_FAILED"), broken)
    assert not hooks.healthy
    await account.adapter.ensure_webhooks(HOOKS)
    assert hooks.puts == [("hook_PAYIN_NORMAL_FAILED", change) for change in changes]
    assert (hooks.posts, hooks.healthy) == ([], True)


async def test_another_process_may_register_at_the_same_time(account: Account) -> None:
    hooks = Hooks(account, *all_but("PAYIN_NORMAL_FAILED"))
    listed = list(hooks.hooks.values())
    hooks.add("PAYIN_NORMAL_FAILED")
    account.on("GET", "/hooks", ok(listed), lambda _: ok(list(hooks.hooks.values())))
    await account.adapter.ensure_webhooks(HOOKS)
    assert (len(hooks.posts), hooks.puts, hooks.healthy) == (1, [], True)


async def test_an_address_the_provider_refuses_is_told(account: Account) -> None:
    account.on("GET", "/hooks", ok([]))
    account.on("POST", "/hooks", refusal(400, "param_error", errors={"Url": "too long"}))
    with pytest.raises(InvalidRequest) as told:
        await account.adapter.ensure_webhooks(HOOKS)
    assert told.value.fields == {"Url": "too long"}


@pytest.mark.parametrize("status", [400, 403])
async def test_a_type_that_is_refused_does_not_keep_the_others_from_being_registered(
    account: Account, status: int
) -> None:
    hooks = Hooks(account)
    register = hooks.register

    def refuse(request: httpx.Request) -> httpx.Response:
        identity = "IDENTITY_VERIFICATION" in json.loads(request.content)["EventType"]
        return refusal(status, "some_error", errors={"EventType": "not yours"}) if identity else register(request)

    account.on("POST", "/hooks", refuse)
    with structlog.testing.capture_logs() as lines:
        await account.adapter.ensure_webhooks(HOOKS)
    registered = {hook["EventType"] for hook in hooks.hooks.values()}
    missing = set(EVENT_TYPES) - registered
    assert "PAYIN_NORMAL_SUCCEEDED" in registered
    assert missing == {
        type for type, subject in EVENT_TYPES.items() if subject in {Subject.IDENTITY_CHECK, Subject.OWNER_CHECK}
    }
    refused = [line for line in lines if line["event"] == "the provider refused to register a notification"]
    assert {line["event_type"] for line in refused} == missing
    assert {line["log_level"] for line in refused} == {"error"}
    told = {"EventType": "not yours"} if status == 400 else {}
    assert all(line["fields"] == told and line["error"] == "About some_error" for line in refused)


async def test_somebody_is_told_when_notifications_fail() -> None:
    account = Account(alert_email="duty@shop.example")
    hooks = Hooks(account)
    await account.adapter.ensure_webhooks(HOOKS)
    assert {post["Email"] for post in hooks.posts} == {"duty@shop.example"}
    assert len(hooks.posts) == len(EVENT_TYPES)
    await account.adapter.aclose()


async def test_a_secret_of_any_letters_comes_back_as_it_was() -> None:
    account = Account(hook_secret="a/b c%ü")
    hooks = Hooks(account)
    await account.adapter.ensure_webhooks(HOOKS)
    path = httpx.URL(hooks.posts[0]["Url"]).raw_path.decode()
    assert account.adapter.read_webhook(notification(path, **GENUINE))
    await account.adapter.aclose()
