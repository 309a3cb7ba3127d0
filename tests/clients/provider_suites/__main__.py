"""`python -m tests.clients.provider_suites {python|node|php} FOLDER [--write]`: run a suite that lies in a folder.

Prints how many of its tests pass and how that differs from the stored list; `--write` stores the new list.
"""

import pathlib
import sys

from tests.clients.provider_suites.served_sandbox import served_sandbox
from tests.clients.provider_suites.suites import RUNNERS, expected


def main() -> int:
    """Run the suite. Returns 1 if a test that is on the list does not pass."""
    suite, folder, *more = sys.argv[1:]
    with served_sandbox() as origin:
        found = RUNNERS[suite](pathlib.Path(folder).resolve(), origin)
    if "--write" in more:
        path = pathlib.Path(__file__).with_name(f"{suite}.txt")
        path.write_text("".join(f"{id}\n" for id in sorted(found.passed)))
    listed = expected(suite)
    for word, ids in (("no longer passes", listed - found.passed), ("passes now", found.passed - listed)):
        for id in sorted(ids):
            sys.stdout.write(f"{word}: {id}\n")
    sys.stdout.write(f"{len(found.passed)} of {len(found.run)} pass, {len(listed)} are on the list\n")
    return int(bool(listed - found.passed))


if __name__ == "__main__":
    sys.exit(main())
