"""The addresses of passes over GraphQL: beside those of documents, for whoever sees these."""

import pathlib

import pytest

from coffret.development.wallet_keys import write_test_keys
from schema.gift_card.gift_card import GiftCardStatus
from store.document.wallet.keys import UnusableWalletKey, WalletKeys
from tests.fixtures.gift_card import gift_card
from tests.fixtures.network import network_card
from tests.fixtures.network_voucher import network_voucher, offered_box
from tests.fixtures.tenants import Tenants

URLS = "documentUrl appleWalletUrl googleWalletUrl"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("wallet")
    write_test_keys(made)
    return made


async def test_they_are_there_with_a_key_and_a_document(tenants: Tenants, folder: pathlib.Path) -> None:
    card, cancelled = await gift_card(tenants), await gift_card(tenants, status=GiftCardStatus.CANCELLED)
    of_network, boxed = await network_card(tenants), await network_voucher(tenants, await offered_box(tenants))
    queries = {
        ("a1", "giftCard", card.id): "gift-cards",
        ("market a", "networkGiftCard", of_network.id): "gift-cards",
        ("market a", "networkVoucher", boxed.id): "network-vouchers",
    }

    async def urls(who: str, name: str, id: int) -> dict[str, str | None]:
        answer = await tenants.graphql(who, f"query ($id: Int!) {{ found: {name}(id: $id) {{ {URLS} }} }}", id=id)
        found: dict[str, str | None] = answer["data"]["found"]
        return found

    for who, name, id in queries:
        found = await urls(who, name, id)
        assert (found["appleWalletUrl"], found["googleWalletUrl"]) == (None, None), "there is no key"
    object.__setattr__(tenants.services, "wallet_keys", WalletKeys(folder))
    for (who, name, id), kind in queries.items():
        found = await urls(who, name, id)
        document = str(found["documentUrl"]).removesuffix(".pdf")
        assert f"/documents/{kind}/" in document
        assert found["appleWalletUrl"] == f"{document}.pkpass"
        assert found["googleWalletUrl"] == f"{document}/google-wallet"
    assert set((await urls("a1", "giftCard", cancelled.id)).values()) == {None}


def test_a_file_that_cannot_be_used_is_named(tmp_path: pathlib.Path, folder: pathlib.Path) -> None:
    apple = (folder / "apple.pem").read_text()
    key, *certificates = apple.partition("-----BEGIN CERTIFICATE-----")
    own = "".join(certificates).partition("-----END CERTIFICATE-----\n")
    for name, content, why in (
        ("apple.pem", "no key", "cannot be read"),
        ("apple.pem", key, "cannot be read"),
        ("apple.pem", key + own[0] + own[1], "lacks Apple's intermediate certificate"),
        ("apple.pem", key + own[2], "has no certificate of its key"),
        ("google.json", "{}", "is not the JSON key of a service account"),
        ("google.json", (folder / "google.json").read_text().replace("3388", "x"), "the issuer_id is a number"),
    ):
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        place.mkdir()
        (place / name).write_text(content)
        with pytest.raises(UnusableWalletKey, match=why) as caught:
            WalletKeys(place)
        assert str(place / name) in str(caught.value)
    (tmp_path / "partners" / "seven").mkdir(parents=True)
    with pytest.raises(UnusableWalletKey, match="is not named after an id"):
        WalletKeys(tmp_path)
