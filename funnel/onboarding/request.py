"""One request of a partner's legal representative."""

from dataclasses import dataclass, field
from functools import cached_property

from starlette.responses import Response

from funnel.core.flash import Flash, Flashes
from funnel.core.page_request import FieldError
from funnel.core.public_pages import Holder
from funnel.onboarding.texts import error_text
from resolvers.core.context import Context
from schema.onboarding import Onboarding


@dataclass
class Representative(Holder):
    """A request of whoever holds a good link; `start` is the link itself."""

    context: Context = field(kw_only=True)
    """What operations are called with."""
    onboarding: Onboarding = field(kw_only=True)
    """Where it stands, as far as we knew when the request came."""

    @cached_property
    def _flashes(self) -> Flashes:
        partner_id = self.context.asking.partner_id
        assert partner_id is not None, "a representative is one of a partner"
        return Flashes(self.services.kv, partner_id)

    async def leave(self, place: str, flash: Flash) -> None:
        """Leave a message for this browser, at one of our pages."""
        await self._flashes.leave(self._place(place), flash)

    async def found(self, place: str) -> Flash:
        """The message that was left there, which is then forgotten."""
        return await self._flashes.take(self._place(place))

    def _place(self, place: str) -> str:
        return f"{self.session_id}:onboarding:{place}"

    def path(self, name: str) -> str:
        """Where one of our pages is: `return`, `leaving`."""
        return f"{self.start}{name}/"

    def to_start(self) -> Response:
        """Lead on to the page that the link leads to."""
        return self.redirect(self.start)

    async def led_nowhere(self, button: str, why: str) -> Response:
        """Lead back to the page that the link leads to, with why a button led nowhere."""
        await self.leave(button, Flash(((button, why),)))
        return self.to_start()

    def problem(self, place: str, code: str) -> FieldError:
        """What to say about a field that is wrong."""
        return FieldError(place, error_text(place, code), {})
