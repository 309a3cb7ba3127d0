"""What a job costs whoever does it at a desktop computer."""

from dataclasses import dataclass

THINK, POINT, PRESS, KEY, HANDS = 1.35, 1.1, 0.2, 0.28, 0.8
"""Seconds of an average person by the keystroke-level model (Card, Moran and Newell, 1980): to decide, to point at
something, to press and release the button, to press a key, to move the hands to the keyboard and back."""


@dataclass(frozen=True)
class Effort:
    """Clicks and typed texts."""

    clicks: int
    texts: int
    keys: int
    """The characters of all texts."""

    @property
    def seconds(self) -> int:
        """What a person takes, who knows the way; the answers of the program come on top."""
        click = THINK + POINT + PRESS
        return round(self.clicks * click + self.texts * (click + HANDS) + self.keys * KEY)

    def __str__(self) -> str:
        return f"{self.clicks} / {self.texts} / {self.seconds} s"
