"""The first page of a development installation: where everything is, and what to try it with."""

from coffret.start_page.page import routes

__all__ = ["routes"]
