"""The request of a partner's legal representative."""

from dataclasses import dataclass, field
from functools import cached_property

from starlette.responses import Response

from funnel.core.flash import Flash, Flashes
from funnel.core.page_request import FieldError
from funnel.core.public_pages import PublicRequest
from funnel.onboarding.texts import error_text
from resolvers.core.context import Context
from schema.onboarding import Onboarding


@dataclass
class OnboardingRequest(PublicRequest):
    """The request of a link holder. `start` is the link's path."""

    context: Context = field(kw_only=True)
    onboarding: Onboarding = field(kw_only=True)
    """The onboarding state when the request arrived."""

    @cached_property
    def _flashes(self) -> Flashes:
        partner_id = self.context.required_caller.partner_id
        assert partner_id is not None, "a representative is one of a partner"
        return Flashes(self.services.kv, partner_id)

    async def put_flash(self, place: str, flash: Flash) -> None:
        """Store a message for this browser's next view of a page."""
        await self._flashes.put(self._flash_key(place), flash)

    async def take_flash(self, place: str) -> Flash:
        """Return and delete the message; an empty one if there is none."""
        return await self._flashes.take(self._flash_key(place))

    def _flash_key(self, place: str) -> str:
        return f"{self.session_id}:onboarding:{place}"

    def path(self, name: str) -> str:
        """The path of a subpage: `return`, `leaving`."""
        return f"{self.start}{name}/"

    def redirect_to_start(self) -> Response:
        """Redirect to the linked page."""
        return self.redirect(self.start)

    async def redirect_with_error(self, button: str, why: str) -> Response:
        """Redirect to the linked page, which shows why the button failed."""
        await self.put_flash(button, Flash(((button, why),)))
        return self.redirect_to_start()

    def field_error(self, place: str, code: str) -> FieldError:
        return FieldError(place, error_text(place, code), {})
