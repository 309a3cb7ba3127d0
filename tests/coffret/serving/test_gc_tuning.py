"""Looking for garbage must not hold up whoever is being served."""

import gc
import sys
from collections.abc import Iterator

import pytest

from coffret.commands.gc_tuning import COLLECTION_THRESHOLD, freeze_loaded_objects
from coffret.commands.serve import build_application


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


@pytest.fixture
def untuned() -> Iterator[None]:
    """As a process begins."""
    before = gc.get_threshold()
    gc.set_threshold(700)
    yield
    gc.set_threshold(*before)


def test_a_worker_collects_rarely_from_before_it_imports_the_application(
    untuned: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "coffret.app", None)  # ends the start at that import
    with pytest.raises(ImportError):
        build_application()
    assert gc.get_threshold()[0] == COLLECTION_THRESHOLD
