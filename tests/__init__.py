"""The tests. Whatever is of this package, be it the tests or a program of theirs, imports thousands of objects that stay."""

from coffret.commands.gc_tuning import collect_rarely

collect_rarely()
