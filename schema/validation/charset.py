"""The encoding of what is sent."""


def is_utf8(options: str) -> bool:
    """Whether a text is in UTF-8 by what stands behind its media type, such as `charset=utf-8`; it is unless that says otherwise."""
    name, _, value = options.strip().partition("=")
    return name.strip().lower() != "charset" or value.strip().strip('"').lower() in {"utf-8", "utf8"}
