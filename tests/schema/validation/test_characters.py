"""What may stand in texts: nobody is called by what cannot be seen, and what joins letters stays where there are letters."""

import pytest

from schema.validation.characters import clean_line, clean_text

UNSEEN = "\u200b\u200d\u2060\ufeff\u00ad\u202e\u3164\u2800\ufe0f\u115f\u034f\x1b\x07\U000e0041"


@pytest.mark.parametrize("text", ["", " ", "\u00a0\t", "\r\n\u2028", UNSEEN, *UNSEEN, f" {UNSEEN}\n{UNSEEN} "])
def test_what_nobody_sees_is_empty(text: str) -> None:
    assert (clean_text(text), clean_line(text)) == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Zoë O’Connor-Núñez",
            "می\u200cخواهم",
            "👩\u200d👩\u200d👧 ❤\ufe0f",
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        ),
        *(
            "שלום\u200f!",
            "Wochen\u00adende",
            "क्\u200dष",
            "e\u0301",
            "東京",
            "葛\U000e0100城",
            "\U0001fa77",
            "12\u202f€",
        ),
    ],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert (clean_text(text), clean_line(text)) == (text, text)
    assert clean_text(f"{text}\r\n\t{text}\n") == f"{text}\r\n\t{text}\n"


def test_controls_go_and_breaks_become_blanks() -> None:
    assert clean_line("葛\U000e0100\U000e0101a\U000e0100 \U000e0100") == "葛\U000e0100a"
    assert clean_line(" A\x1b[31mda\u200b\r\n\tLove\u202elace\x00 \x85") == "A[31mda Lovelace"
    assert clean_text("Dear\x1b Ada,\r\n\r\n\u2028see\u2066 you\x0bsoon") == "Dear Ada,\r\n\r\n\nsee you\nsoon"
