"""The payment provider's sandbox: its wire protocol, hosted pages and notifications, without any money."""

from store.providers.sandbox.app import SandboxRefused, close, run_background, sandbox_app, tick
from store.providers.sandbox.settings import Deliver, SandboxSettings

__all__ = ["Deliver", "SandboxRefused", "SandboxSettings", "close", "run_background", "sandbox_app", "tick"]
