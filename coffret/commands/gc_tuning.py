"""How often Python looks for garbage that counting references does not find."""

import gc

OBJECTS_BEFORE_A_COLLECTION = 100_000


def collect_seldom() -> None:
    """Look for cycles seldom, in each process from its beginning.

    Python's own 700 objects cost a quarter of the time to start, since hardly anything that is imported is ever garbage, and
    a tenth of the time to save a cart, whose note for the audit log lives until it is written.
    """
    gc.set_threshold(OBJECTS_BEFORE_A_COLLECTION)


def spare_what_is_there() -> None:
    """Never again look through what is there now: the program itself, which lives as long as the process.

    Looking through it takes a quarter of a second, in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
