"""Onboarding: the pages on which a partner's legal representative activates payments."""
