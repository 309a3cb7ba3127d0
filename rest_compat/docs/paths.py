"""The paths of the pages. Imports nothing of the pages themselves, which are imported at the first visit."""

import re


def group_path(name: str) -> str:
    """The URL path of the page of a group of operations."""
    return f"/docs/{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}/"
