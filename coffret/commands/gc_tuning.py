"""Tunes Python's cyclic garbage collector."""

import gc

COLLECTION_THRESHOLD = 100_000


def collect_rarely() -> None:
    """Raise the collection threshold. Called at the start of each process.

    Python's default of 700 objects costs a quarter of the start time, since few imported objects become garbage. It
    costs a tenth of the time to save a cart, whose audit entry stays in memory until it is written.
    """
    gc.set_threshold(COLLECTION_THRESHOLD)


def freeze_loaded_objects() -> None:
    """Exclude all loaded objects from future collections. They live as long as the process.

    Traversing them takes a quarter of a second, during which no request is served.
    """
    gc.collect()
    gc.freeze()
