"""Onboarding: the pages where a partner's legal representative activates payments."""
