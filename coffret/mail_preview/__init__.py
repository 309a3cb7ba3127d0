"""Shows the mail of a development installation on a web page."""

from coffret.mail_preview.pages import routes

__all__ = ["routes"]
