"""The request of a partner's legal representative."""

from dataclasses import dataclass, field

from funnel.core.page_request import FieldError
from funnel.core.public_pages import LinkRequest
from funnel.onboarding.texts import error_text
from schema.onboarding import Onboarding


@dataclass
class OnboardingRequest(LinkRequest):
    """The request of a link holder."""

    onboarding: Onboarding = field(kw_only=True)
    """The onboarding state when the request arrived."""
    flash_area = "onboarding"

    def field_error(self, place: str, code: str) -> FieldError:
        return FieldError(place, error_text(place, code), {})
