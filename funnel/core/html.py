"""Renders HTML written by partners, as markup or as plain text."""

from markupsafe import Markup, escape

from schema.validation.html import clean_html


def rich(text: str) -> Markup:
    """The text as safe markup.

    Plain text becomes paragraphs with line breaks. HTML is cleaned again, although it was cleaned on input.
    """
    if "<" in text:
        return Markup(clean_html(text))  # noqa: S704 - cleaned
    paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
    lines = (
        Markup("<br>").join(escape(line) for line in paragraph.split("\n")) for paragraph in paragraphs if paragraph
    )
    return Markup().join(Markup("<p>{}</p>").format(line) for line in lines)
