"""The page about events shows what the program tells."""

import re

import orjson
import pytest

from schema.event import EVENT_DATA_KEYS, EVENT_EXAMPLES, EventType
from tests.documents import ROOT

PAGE = (ROOT / "docs" / "events.md").read_text()
DOCUMENTED = [kind for kind in EventType if kind is not EventType.WEBHOOK_TEST]


@pytest.mark.parametrize("kind", DOCUMENTED)
def test_each_type_has_its_keys_and_an_example(kind: EventType) -> None:
    (part,) = re.findall(rf"^### {re.escape(kind.value)}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", part, re.MULTILINE)) == EVENT_DATA_KEYS[kind]
    (example,) = re.findall(r"```json\n(.*?)```", part, re.DOTALL)
    assert orjson.loads(example) == EVENT_EXAMPLES[kind]
