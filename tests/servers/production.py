"""A production installation, as its settings and its hosts are: names that are not `*.localhost`, and https."""

from typing import Any

from store.core.settings import DeploymentEnvironment, Settings
from store.core.settings.provider import ProviderName

SERVICE_HOST = "pay.example-network.com"
SERVICE_URL = f"https://{SERVICE_HOST}"
SHOP_HOST = "shop.example-resort.com"
SHOP_URL = f"https://{SHOP_HOST}"
OTHER_HOST = "boutique.example-lodge.org"
OTHER_URL = f"https://{OTHER_HOST}"
NOBODYS_HOST = "www.example-nobody.net"
NOBODYS_URL = f"https://{NOBODYS_HOST}"


def production_settings(**changes: Any) -> Settings:
    """The settings of such an installation."""
    given = {
        "environment": DeploymentEnvironment.PRODUCTION,
        "secret": "0123456789abcdef0123456789abcdef",
        "provider": ProviderName.MANGOPAY,
        "mangopay_client_id": "shop",
        "mangopay_api_key": "key",
        "base_url": SERVICE_URL,
        "smtp_url": "smtp://127.0.0.1:1",
        "mail_from": "shop@example-resort.com",
    }
    return Settings(**(given | changes))
