"""What a call with a registered card tells of the buyer's browser, which 3-D Secure needs."""

from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox.wire.bodies import Body, Flag, Text, Url


class BrowserInfo(Body):
    """The browser of the buyer."""

    accept_header: Text
    java_enabled: Flag
    javascript_enabled: Flag
    language: Text
    color_depth: int
    screen_height: int
    screen_width: int
    time_zone_offset: str | int
    user_agent: Text


class BrowserFields(Body):
    """The fields of every call with a registered card. The buyer returns to `SecureModeReturnURL` from the bank."""

    secure_mode_return_url: Annotated[Url, Field(alias="SecureModeReturnURL")]
    secure_mode: Literal["DEFAULT", "FORCE", "NO_CHOICE"] = "DEFAULT"
    ip_address: Text
    browser_info: BrowserInfo
    payment_category: Literal["ECommerce", "TelephoneOrder"] = "ECommerce"
    preferred_card_network: Text | None = None
