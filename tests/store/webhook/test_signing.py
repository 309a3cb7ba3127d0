"""What is sent, as the official library reads it."""

import base64
import datetime as dt
from uuid import UUID

import orjson
import pytest
from pydantic import SecretStr
from standardwebhooks import Webhook, WebhookVerificationError

from store.core.clock import clock
from store.order.signing_secrets import SALT_BYTES, new_salt
from store.webhook.rows import WebhookEndpointRow
from store.webhook.signing import WEBHOOK_SECRET, signed_headers, webhook_body

INSTALLATION = SecretStr("an installation's own secret, long enough")
BODY = webhook_body(
    key="evt_1",
    type="order.paid",
    occurred_on=dt.datetime(2026, 1, 2, 3, 4, 5, 600000, tzinfo=dt.UTC),
    subject="7",
    data={"id": 7, "name": {"fr": "Bougie d'été"}},
    partner=(3, UUID(int=5)),
)


def test_a_secret_is_what_the_specification_wants_and_made_of_both_halves() -> None:
    salt = new_salt()
    secret = WEBHOOK_SECRET.secret_of(INSTALLATION, salt)
    assert len(salt) == SALT_BYTES
    assert secret.startswith("whsec_")
    assert 24 <= len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) <= 64
    assert secret == WEBHOOK_SECRET.secret_of(INSTALLATION, salt)
    assert secret != WEBHOOK_SECRET.secret_of(SecretStr("another installation's secret, long enough"), salt)
    assert secret != WEBHOOK_SECRET.secret_of(INSTALLATION, new_salt())
    assert base64.b64encode(salt).decode() not in secret


def test_the_official_library_verifies_a_message() -> None:
    secret = WEBHOOK_SECRET.secret_of(INSTALLATION, new_salt())
    headers = signed_headers("msg_1", BODY, clock.now(), [secret])
    assert Webhook(secret).verify(BODY, headers) == orjson.loads(BODY)
    for changed in ({"webhook-id": "msg_2"}, {"webhook-timestamp": str(int(clock.timestamp()) + 1)}):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(BODY, {**headers, **changed})
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(BODY + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(WEBHOOK_SECRET.secret_of(INSTALLATION, new_salt())).verify(BODY, headers)


def test_a_moved_clock_makes_no_message_look_old_or_early() -> None:
    secret = WEBHOOK_SECRET.secret_of(INSTALLATION, new_salt())
    clock.advance(dt.timedelta(days=2))
    Webhook(secret).verify(BODY, signed_headers("msg_1", BODY, clock.now(), [secret]))


def test_while_a_secret_is_replaced_either_verifies() -> None:
    now = clock.now()
    row = WebhookEndpointRow(
        url="https://shop.example/", host="shop.example", marketplace_id=1, secret_salt=new_salt(),
        previous_secret_salt=new_salt(), previous_secret_until=now,
    )  # fmt: skip
    new, old = WEBHOOK_SECRET.secrets_of(INSTALLATION, row, now - dt.timedelta(seconds=1))
    headers = signed_headers("msg_1", BODY, now, [new, old])
    assert headers["webhook-signature"].count("v1,") == 2
    for secret in (new, old):
        Webhook(secret).verify(BODY, headers)
    assert WEBHOOK_SECRET.secrets_of(INSTALLATION, row, now) == [new]


def test_a_body_tells_type_time_and_data() -> None:
    assert orjson.loads(BODY) == {
        "type": "order.paid",
        "timestamp": "2026-01-02T03:04:05.600000Z",
        "id": "evt_1",
        "partner": {"id": 3, "uuid": str(UUID(int=5))},
        "subject": "7",
        "data": {"id": 7, "name": {"fr": "Bougie d'été"}},
    }
