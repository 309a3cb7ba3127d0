"""The mail of a development installation, on a page: what would have been sent, as people would have read it."""

from coffret.mail_preview.pages import routes

__all__ = ["routes"]
