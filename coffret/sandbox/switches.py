"""What the provider has agreed with the platform, and which of its rules are in force: set at the control plane."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from coffret.sandbox.database import Session


class Switches(BaseModel):
    """`kyc_policy`: who has to be identified to be paid. With `payout_only` money comes in for everybody and leaves for
    REGULAR users only; with `eea_2026` it doesn't come in for others either. `identity_verification`: whether hosted
    identity verification is activated for the platform."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kyc_policy: Literal["payout_only", "eea_2026"] = "payout_only"
    identity_verification: bool = True


def read(session: Session) -> Switches:
    """How the switches stand."""
    return Switches.model_validate_json(session.kept("switches", "{}"))


def turn(session: Session, changes: Switches) -> Switches:
    """Turn those that were named; the others stay."""
    turned = read(session).model_copy(update=changes.model_dump(exclude_unset=True))
    session.keep("switches", turned.model_dump_json())
    return turned
