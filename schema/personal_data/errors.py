"""What keeps the data of a person from being erased."""

from schema.core.errors import Conflict


class PersonalDataInUse(Conflict):
    """These data are still needed, and nothing was erased: {reasons}. Try again when that is over."""

    meaning = "The data of this person are still needed, for the reasons in the message; nothing was erased."
