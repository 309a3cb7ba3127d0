"""Every job of staff is walked in a browser and has its row in the documentation, and every picture there is used."""

import pathlib
import re

from PIL import Image

from tests.browser.jobs.job_list import JOBS
from tests.browser.jobs.peers import PEERS
from tests.browser.jobs.pictures import FOLDER
from tests.browser.jobs.table import PAGE
from tests.documents import PAGES, ROOT

WALKS = ROOT / "tests" / "browser" / "jobs"
PICTURE = re.compile(r"!\[(.*?)\]\(((?:\.\./)*pictures/\S+?)\)")
LARGEST = 60_000
SHORTEST_TEXT = 30


def names_in(call: str) -> list[str]:
    """What the walks name in calls of a function."""
    return [name for file in sorted(WALKS.glob("test_*.py")) for name in re.findall(call, file.read_text())]


def pictures() -> list[tuple[pathlib.Path, str, pathlib.Path]]:
    """The pictures in the documentation: page, alternative text, file."""
    return [
        (page, text, (page.parent / file).resolve())
        for page in PAGES
        for text, file in PICTURE.findall(page.read_text())
    ]


def test_every_job_is_walked_once() -> None:
    assert len(JOBS) >= 20
    assert sorted(names_in(r'agrees\("(.+?)"')) == sorted(JOBS)


def test_every_job_has_a_row_in_this_order() -> None:
    assert re.findall(r'^\| <a id="(.+?)"></a>', PAGE.read_text(), re.MULTILINE) == list(JOBS)


def test_every_job_of_others_is_compared() -> None:
    assert PEERS.keys() <= JOBS.keys()


def test_every_picture_is_used_and_taken_by_a_walk() -> None:
    files = {file for _, _, file in pictures()}
    assert files == set(FOLDER.iterdir())
    assert sorted(file.stem for file in files) == sorted(names_in(r'illustrate\(.+?, "(.+?)"\)'))


def test_pictures_are_small_and_have_alternative_texts() -> None:
    for page, text, file in pictures():
        assert len(text) >= SHORTEST_TEXT, f"{page.name}: {file.name} needs a text that says what it shows."
        assert file.stat().st_size <= LARGEST, file.name
        with Image.open(file) as picture:
            assert (picture.format, picture.mode, picture.size) == ("PNG", "P", (1280, 844)), file.name
