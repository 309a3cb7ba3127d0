"""What gets into the logs, and what never does."""

import io
import json
import logging
import time
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import structlog

from store.core.return_paths import provider_return_url
from store.core.settings import Settings
from store.core.telemetry.logs import mask_secrets, set_up_logging
from store.document.addresses import DocumentKind, document_path
from store.onboarding.links import onboarding_path_for
from store.partner.partners import PartnerRow
from store.personal_data.files import PREFIX


@pytest.fixture(autouse=True)
def undone() -> Iterator[None]:
    """Logging is global; leave it as it was found."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers, root.level = before
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def log_output() -> io.StringIO:
    stream = io.StringIO()
    set_up_logging(Settings(log_json=True), stream)
    return stream


def test_a_line_is_json_with_the_request_it_belongs_to(log_output: io.StringIO) -> None:
    structlog.contextvars.bind_contextvars(request_id="r-1")
    structlog.get_logger("coffret.test").info("cart created", lines=2)
    (line,) = lines(log_output)
    assert line.pop("timestamp")
    assert line == {
        "message": "cart created",
        "level": "info",
        "logger": "coffret.test",
        "request_id": "r-1",
        "lines": 2,
    }


def test_libraries_write_the_same_lines(log_output: io.StringIO) -> None:
    structlog.contextvars.bind_contextvars(request_id="r-2")
    logging.getLogger("some.library").warning("seen %d times", 3)
    (line,) = lines(log_output)
    assert (line["message"], line["level"], line["request_id"]) == ("seen 3 times", "warning", "r-2")


def test_requests_are_told_without_their_query(log_output: io.StringIO) -> None:
    arguments = ("127.0.0.1:5", "GET", "/balance/?code=ABCD-EFGH", "1.1", 200)
    logging.getLogger("uvicorn.access").info('%s - "%s %s HTTP/%s" %d', *arguments)
    (line,) = lines(log_output)
    assert (line["message"], line["method"], line["path"], line["status"]) == ("request", "GET", "/balance/", 200)
    assert "ABCD" not in log_output.getvalue()


def test_probes_are_told_only_when_they_fail(log_output: io.StringIO) -> None:
    for path, status in (("/healthz", 200), ("/readyz", 503), ("/metrics", 200)):
        logging.getLogger("uvicorn.access").info('%s - "%s %s HTTP/%s" %d', "127.0.0.1:5", "GET", path, "1.1", status)
    assert [(line["path"], line["status"]) for line in lines(log_output)] == [("/readyz", 503)]


@pytest.mark.parametrize(
    "name", ["password", "new_password", "token", "access_token", "code", "gift_code", "codes", "api_key", "apiKey",
             "Authorization", "cookie", "pin", "client_secret", "iban"],
)  # fmt: skip
def test_values_named_like_secrets_are_hidden_at_any_depth(log_output: io.StringIO, name: str) -> None:
    structlog.get_logger().info("seen", **{name: "hush-hush"}, within={"deeper": [{name: "hush-hush"}]})
    assert "hush" not in log_output.getvalue()
    assert log_output.getvalue().count("***") == 2


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Token cof_hushhushhush",
        "bearer hushhushhush was refused",
        "BASIC hushhushhush",
        "PASSWORD=hushhush",
        "ApiKey: hushhush",
        "API_KEY: hushhush",
        "my_secret='hushhush'",
        "Pin = hushhush",
        "postgresql://coffret:hushhush@db/coffret",
        "redis://:hushhush@redis:6379/0",
        "/x/?code=hushhush&lang=fr",
        "{'password': 'hushhush'}",
        '{"token":"hushhush"}',
        f"{'x' * 100}password=hushhush",
        "[parameters: ('hushhush',",
        "INSERT failed\n[SQL: INSERT INTO x VALUES ($1)]\n[parameters: ('hush]hush', 1)]\n(Background on this error",
    ],
)
def test_secrets_in_texts_are_hidden(log_output: io.StringIO, text: str) -> None:
    logging.getLogger("some.library").error(text)
    assert "hush" not in log_output.getvalue()
    assert "***" in log_output.getvalue()


def test_whoever_reads_the_log_cannot_open_an_onboarding_page(log_output: io.StringIO) -> None:
    named: dict[str, Any] = {
        "source_id": "1",
        "commercial_name": "Ada",
        "short_name": "ada",
        "site_domain": "ada.localhost",
    }
    path = onboarding_path_for(Settings(), PartnerRow(marketplace_id=1, **named, uuid=uuid.uuid4()))
    token = path.split("/")[2]
    arguments = ("127.0.0.1:5", "POST", f"{path}provider/", "1.1", 303)
    logging.getLogger("uvicorn.access").info('%s - "%s %s HTTP/%s" %d', *arguments)
    structlog.get_logger().warning(
        "refused", url=f"https://provider.example/sca?returnUrl={quote(path, safe='')}return%2F"
    )
    assert token not in log_output.getvalue()
    assert lines(log_output)[0]["path"] == "/onboarding/***/provider/"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/provider/hooks/s3cr3t-of-notifications", "/provider/hooks/***"),
        ("/provider/hooks/s3cr3t-of-notifications/", "/provider/hooks/***/"),
        (provider_return_url(Settings(), "a1B2c3D4").removeprefix(Settings().public_url), "/k/***"),
        ("/k/a1B2c3D4/", "/k/***/"),
        (document_path(DocumentKind.GIFT_CARD, "a1B2c3D4_-" * 4), "/documents/gift-cards/***.pdf"),
        (f"{PREFIX}{'a1B2c3D4_-' * 4}.json", "/documents/personal-data/***.json"),
        ("/k/k/a1B2c3D4x", "/k/k/a1B2c3D4x"),
    ],
)
def test_whoever_reads_the_log_can_neither_forge_notifications_nor_come_back_for_others(
    log_output: io.StringIO, path: str, shown: str
) -> None:
    arguments = ("127.0.0.1:5", "GET", path, "1.1", 200)
    logging.getLogger("uvicorn.access").info('%s - "%s %s HTTP/%s" %d', *arguments)
    structlog.get_logger().warning("refused", url=f"https://provider.example/idv?returnUrl={quote(path, safe='')}")
    first, second = lines(log_output)
    assert first["path"] == shown
    if "***" in shown and path.startswith("/k/"):
        assert "a1B2c3D4" not in str(second)


CODE = "7Q4C-KX9M-2H8R-TDWE"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (f"/api/vouchers/{CODE}/", "/api/vouchers/***/"),
        (f"/api/vouchers/{CODE.lower()}", "/api/vouchers/***"),
        ("/api/vouchers/OLD 17/", "/api/vouchers/***/"),
        (f"/api/giftcards_by_code/{CODE}/", "/api/giftcards_by_code/***/"),
        (f"/api/networkgiftcards_by_code/{CODE}/use/", "/api/networkgiftcards_by_code/***/use/"),
        (f"/redeem/{CODE}/", "/redeem/***/"),
        (f"/redeem/?code={CODE}", "/redeem/"),
        ("/api/vouchers/", "/api/vouchers/"),
        ("/api/voucher_options/17/", "/api/voucher_options/17/"),
    ],
)
def test_whoever_reads_the_log_learns_no_code(log_output: io.StringIO, path: str, shown: str) -> None:
    arguments = ("127.0.0.1:5", "GET", quote(path, safe="/?="), "1.1", 200)
    logging.getLogger("uvicorn.access").info('%s - "%s %s HTTP/%s" %d', *arguments)
    asked = quote(path, safe="/?=")
    structlog.get_logger().warning("refused", url=f"https://shop.example{asked}", next=quote(path, safe=""))
    first, second = lines(log_output)
    assert first["path"] == shown
    for told in (CODE, CODE.lower(), "OLD"):
        assert told not in str(second)


def test_what_is_no_secret_stays(log_output: io.StringIO) -> None:
    structlog.get_logger().info(
        "http://127.0.0.1:8000/x is slow: 12:30", status_code=404, country_code="FR", error_code="X"
    )
    (line,) = lines(log_output)
    assert line["message"] == "http://127.0.0.1:8000/x is slow: 12:30"
    assert (line["status_code"], line["country_code"], line["error_code"]) == (404, "FR", "X")


def fail(password: str) -> None:
    raise RuntimeError(f"cannot go on with code={password}")


@pytest.mark.parametrize("as_json", [True, False])
def test_failures_are_told_without_the_values_around_them(*, as_json: bool) -> None:
    stream = io.StringIO()
    set_up_logging(Settings(log_json=as_json), stream)
    password = "hush" * 2
    try:
        fail(password)
    except RuntimeError:
        structlog.get_logger().exception("it broke")
    assert "cannot go on" in stream.getvalue()
    assert "in fail" in stream.getvalue() or '"name":"fail"' in stream.getvalue()
    assert "hush" not in stream.getvalue()


def test_text_for_people_in_development_and_json_in_production() -> None:
    stream = io.StringIO()
    set_up_logging(Settings(), stream)
    structlog.get_logger().info("hello", who="you")
    assert "hello" in stream.getvalue()
    assert "who=you" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    stream = io.StringIO()
    production = Settings.model_construct(**{**Settings().model_dump(), "environment": "production"})
    set_up_logging(production, stream)
    structlog.get_logger().info("hello")
    assert lines(stream)[0]["message"] == "hello"


def test_the_level_is_a_setting() -> None:
    stream = io.StringIO()
    set_up_logging(Settings(log_json=True, log_level="warning"), stream)
    structlog.get_logger().info("not this")
    structlog.get_logger().warning("this")
    assert [line["message"] for line in lines(stream)] == ["this"]


@pytest.mark.parametrize(
    "part",
    [
        "password",
        "password-",
        "a-",
        "token ",
        "redeem" + 60 * "a",
        "[parameters: ",
        "a://x:",
        "AB12 ",
        "code: ",
        "documents/a",
    ],
)
def test_the_time_to_mask_a_text_grows_with_its_length(part: str) -> None:
    begun = time.process_time()
    mask_secrets("redeem onboarding " + part * (300_000 // len(part)))
    assert time.process_time() - begun < 4
