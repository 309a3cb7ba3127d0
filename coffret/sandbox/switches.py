"""The provider's agreement with the platform and the rules in force, changed at the control plane."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from coffret.sandbox.database import SandboxSession


class Switches(BaseModel):
    """`kyc_policy`: with `payout_only` everybody may receive money, and only REGULAR users may be paid out; with
    `eea_2026` only REGULAR users may receive money either. `identity_verification`: whether hosted identity
    verification is activated for the platform. `reports_are_made`: whether requested reports are ever made.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kyc_policy: Literal["payout_only", "eea_2026"] = "payout_only"
    identity_verification: bool = True
    reports_are_made: bool = True


def read(session: SandboxSession) -> Switches:
    return Switches.model_validate_json(session.get_value("switches", "{}"))


def turn(session: SandboxSession, changes: Switches) -> Switches:
    """Change the switches that are set in `changes`. Others are unchanged."""
    turned = read(session).model_copy(update=changes.model_dump(exclude_unset=True))
    session.set_value("switches", turned.model_dump_json())
    return turned
