"""Users with a second factor, and the codes that their app shows."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

import pyotp

from resolvers.account import second_factor
from store.core.clock import clock
from tests.changes import Direct
from tests.fixtures.tenants import PASSWORD, Tenants


@dataclass
class App:
    """An authenticator app that was set up, and the recovery codes that came with it."""

    secret: str
    recovery_codes: list[str]

    def code(self, steps: int = 0) -> str:
        """What it shows now, or so many steps of half a minute later."""
        return pyotp.TOTP(self.secret).at(clock.now(), counter_offset=steps)

    def wrong_code(self) -> str:
        """Six digits that it does not show anywhere near now."""
        shown = {self.code(steps) for steps in range(-3, 4)}
        return next(code for code in map("{:06}".format, range(10)) if code not in shown)


async def with_second_factor(tenants: Tenants, who: str = "a1") -> App:
    """Set up and confirm a second factor."""
    await tenants.with_password(who, PASSWORD)
    ask = Direct(tenants)
    setup: Any = (await ask.change(who, second_factor.set_up_second_factor, password=PASSWORD)).result
    app = App(setup.secret, [])
    confirmed: Any = (await ask.change(who, second_factor.confirm_second_factor, otp=app.code())).result
    app.recovery_codes = confirmed.codes
    next_step()
    return app


def next_step() -> None:
    """Wait until the app shows another code."""
    clock.advance(dt.timedelta(seconds=30))
