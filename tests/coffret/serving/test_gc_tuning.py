"""Looking for garbage must not hold up whoever is being served."""

import gc
from collections.abc import Iterator

import pytest

from coffret.commands.gc_tuning import freeze_loaded_objects


@pytest.fixture
def thawed() -> Iterator[None]:
    """As it was before."""
    yield
    gc.unfreeze()


def test_what_is_there_when_serving_begins_is_not_looked_through_again(thawed: None) -> None:
    there: list[object] = [[]]
    freeze_loaded_objects()
    since: list[object] = [[]]
    looked_through = {id(found) for found in gc.get_objects()}
    assert id(there) not in looked_through
    assert id(since) in looked_through
