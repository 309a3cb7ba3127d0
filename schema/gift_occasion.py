"""What a gift is given for."""

from schema.core.columns import DescribedEnum, graphql_enum


@graphql_enum
class GiftOccasion(DescribedEnum):
    """What a gift is given for."""

    BIRTHDAY = "birthday", "A birthday."
    CHRISTMAS = "christmas", "Christmas and the new year."
    WEDDING = "wedding", "A wedding."
    ANNIVERSARY = "anniversary", "A wedding anniversary."
    BIRTH = "birth", "The birth of a child."
    VALENTINES_DAY = "valentines_day", "Valentine's Day."
    MOTHERS_DAY = "mothers_day", "Mother's Day."
    FATHERS_DAY = "fathers_day", "Father's Day."
    THANK_YOU = "thank_you", "Thanks."
    CONGRATULATIONS = "congratulations", "Congratulations: an exam, a new job, a retirement."
