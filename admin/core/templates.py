"""The templates of the back office, with its own texts and style sheets."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment

from admin.graph.labels import label_of, translated_label
from funnel.core.languages import NAMES
from funnel.core.pages import PageTemplates
from funnel.core.static_files import Assets
from store.core.localization.formats import colon_in
from store.core.localization.translations import Texts

FOLDER = Path(__file__).parents[1]
STATIC_PREFIX = "/static/admin/"


class AdminTemplates(PageTemplates):
    """The Jinja environments of the back office, one per language."""

    package = "admin"
    names: Mapping[str, Any] = {"label_of": label_of, "language_names": NAMES}
    texts = Texts(FOLDER / "translations")

    def environment(self, language: str) -> Environment:
        """The environment of a language. `message` is a text that may be one of the API: it is escaped, and no format."""
        environment = super().environment(language)
        texts = self.texts.translations(language)
        colon = colon_in(language)
        labels = partial(translated_label, texts.gettext, colon=colon)
        environment.globals.update(_labels=labels, message=texts.gettext, colon=colon)
        return environment

    def load_assets(self) -> Assets:
        return Assets(sorted((FOLDER / "static").iterdir()), STATIC_PREFIX)
