"""Texts of the onboarding pages: errors, requirements and results."""

from funnel.core.messages import ERRORS, N_, PageMessage, Tone
from schema.activation import ActivationFailureReason
from schema.kyc.capability import RequirementCode
from schema.onboarding import OnboardingField

MAIN = "main"
"""The place of errors in data that the page does not ask for."""
REFUSED = "REFUSED"
"""The error code of a field that the provider refused."""

REQUIRED = {
    OnboardingField.LEGAL_REPRESENTATIVE_FIRST_NAME: N_("Enter your first name."),
    OnboardingField.LEGAL_REPRESENTATIVE_LAST_NAME: N_("Enter your last name."),
    OnboardingField.LEGAL_REPRESENTATIVE_EMAIL: N_("Enter your e-mail address."),
    OnboardingField.LEGAL_REPRESENTATIVE_BIRTHDAY: N_("Enter your date of birth."),
    OnboardingField.LEGAL_REPRESENTATIVE_NATIONALITY: N_("Choose your nationality."),
    OnboardingField.LEGAL_REPRESENTATIVE_COUNTRY_OF_RESIDENCE: N_("Choose the country you live in."),
    OnboardingField.COMPANY_TYPE: N_("Choose what fits best."),
    OnboardingField.NAME: N_("Enter the legal name."),
    OnboardingField.SIRET_NUMBER: N_("Enter the company number."),
    OnboardingField.AGENCY_EMAIL: N_("Enter an e-mail address of the company."),
    OnboardingField.HQ_ADDRESS_LINE_1: N_("Enter a street and number."),
    OnboardingField.HQ_POSTAL_CODE: N_("Enter a postal code."),
    OnboardingField.HQ_CITY: N_("Enter a town or city."),
    OnboardingField.HQ_REGION: N_("Enter a state or province."),
    OnboardingField.HQ_COUNTRY: N_("Choose a country."),
}
"""Errors of missing fields, in the order of the page."""

UNREADABLE = {
    OnboardingField.LEGAL_REPRESENTATIVE_EMAIL: ERRORS["INVALID_EMAIL"],
    OnboardingField.LEGAL_REPRESENTATIVE_BIRTHDAY: N_(
        "Enter the day, the month and the year in which you were born, in figures: for example 27, 3 and 1985. A legal "
        "representative is at least 18 years old."
    ),
    OnboardingField.LEGAL_REPRESENTATIVE_NATIONALITY: REQUIRED[OnboardingField.LEGAL_REPRESENTATIVE_NATIONALITY],
    OnboardingField.LEGAL_REPRESENTATIVE_COUNTRY_OF_RESIDENCE: REQUIRED[
        OnboardingField.LEGAL_REPRESENTATIVE_COUNTRY_OF_RESIDENCE
    ],
    OnboardingField.COMPANY_TYPE: REQUIRED[OnboardingField.COMPANY_TYPE],
    OnboardingField.SIRET_NUMBER: N_("Check this number, digit by digit: in France the SIRET has 14 of them."),
    OnboardingField.AGENCY_EMAIL: ERRORS["INVALID_EMAIL"],
    OnboardingField.HQ_COUNTRY: REQUIRED[OnboardingField.HQ_COUNTRY],
}
"""Errors of invalid fields. Other fields use `ERRORS["INVALID"]`."""


BANK_ACCOUNT = {
    "iban": N_("Check the IBAN: compare it with the papers of your bank."),
    "bic": N_("Check the BIC: it has 8 or 11 characters, and is the one of the bank that has the account."),
}
"""Errors of an invalid bank account."""


def error_text(place: str, code: str) -> str:
    if place in BANK_ACCOUNT:
        return N_("Enter the IBAN.") if code == "REQUIRED" else BANK_ACCOUNT[place]
    if place == MAIN:
        return N_(
            "This does not fit what is known of your company. The platform that your shop sells on can correct that."
        )
    field = OnboardingField(place)
    if code == REFUSED:
        return N_("The payment provider did not accept this. Please correct it.")
    if code == "REQUIRED":
        return REQUIRED[field]
    return UNREADABLE.get(field, ERRORS["INVALID"])


INTERRUPTED = PageMessage(
    N_("You have not finished yet"),
    N_("The time at the provider ran out, or you left before the end. Nothing is lost: go on whenever you are ready."),
    Tone.INFO,
    "clock",
)
PROVIDER_UNAVAILABLE = PageMessage(
    N_("The payment provider does not answer"), N_("Nothing is lost. Please try again in a few minutes.")
)
BANK_REFUSED = PageMessage(
    N_("The payment provider did not accept the bank account"),
    N_("The platform that your shop sells on can find out why, and correct it."),
)
ASK = N_("Ask the platform that your shop sells on, and tell it the number below.")

FAILURES = {
    ActivationFailureReason.DATA_REFUSED: PageMessage(
        N_("The payment provider did not accept a detail"),
        N_("The platform that your shop sells on can correct it. Tell it the number below."),
    ),
    ActivationFailureReason.NOT_AUTHENTICATED: PageMessage(
        N_("You could not be authenticated"),
        N_(
            "The payment provider could not be sure that it was you. Nothing is lost: start again with the button below."
        ),
    ),
    ActivationFailureReason.ACCOUNT_BLOCKED: PageMessage(N_("The payment provider has blocked the account"), ASK),
    ActivationFailureReason.ACCOUNT_CLOSED: PageMessage(
        N_("The account at the payment provider was closed"), N_("With the button below you can open another one.")
    ),
    ActivationFailureReason.KIND_CHANGED: PageMessage(
        N_("The kind of company has changed"),
        N_("So another account has to be opened at the payment provider: with the button below."),
    ),
    ActivationFailureReason.OUTCOME_UNKNOWN: PageMessage(
        N_("It is not certain that the account was opened"),
        N_(
            "The connection to the payment provider broke off. So that you do not get two accounts, we try nothing "
            "blindly. Ask the platform that your shop sells on, and tell it the number below."
        ),
    ),
}
"""Why an activation failed. If the representative can restart it, the page shows the button."""

ACTIVE = PageMessage(
    N_("Payments are active"),
    N_("%(shop)s can be paid by card from now on. There is nothing left to do: you can close this page."),
    Tone.GOOD,
    "check",
)
ACTIVE_WITH_NEEDS = PageMessage(
    ACTIVE.title,
    N_("%(shop)s can be paid by card. So that the money can be paid out to you, something is left to do."),
    Tone.GOOD,
    "check",
)

REQUIREMENTS = {
    RequirementCode.MISSING_DATA: PageMessage(
        N_("A detail is missing"),
        N_("The platform that your shop sells on can tell you which, and enter it."),
        Tone.INFO,
    ),
    RequirementCode.DATA_REFUSED: PageMessage(
        N_("The payment provider did not accept a detail"),
        N_("The platform that your shop sells on can tell you which, and correct it."),
    ),
    RequirementCode.AUTHENTICATION: PageMessage(
        N_("The payment provider wants to be sure that it is you"),
        N_("You will be asked to authenticate, as you were the first time."),
        Tone.INFO,
    ),
    RequirementCode.REPRESENTATIVE_CHANGED: PageMessage(
        N_("Your e-mail address has changed"),
        N_("The payment provider has to know you by the new one. Payments go on meanwhile."),
        Tone.INFO,
    ),
    RequirementCode.ACTIVATION_FAILED: PageMessage(
        N_("The last attempt came to nothing"), N_("Ask the platform that your shop sells on to start again.")
    ),
    RequirementCode.IDENTITY_NOT_VERIFIED: PageMessage(
        N_("Your identity has to be verified"),
        N_("Before money can be paid out to you, you show an identity document, and the papers of your company."),
        Tone.INFO,
    ),
    RequirementCode.IDENTITY_RENEWAL: PageMessage(
        N_("Your identity has to be verified again"),
        N_(
            "The payment provider asks for this at regular intervals. Without it, no more money can be paid out to you."
        ),
        Tone.INFO,
    ),
    RequirementCode.OWNER_NOT_VERIFIED: PageMessage(
        N_("An owner of your company has to verify their identity"),
        N_("Each owner does this on a page of their own. Pass the link on to the person who is still missing."),
        Tone.INFO,
    ),
    RequirementCode.DOCUMENT_REFUSED: PageMessage(
        N_("A document was refused"), N_("It may have been blurred, incomplete or out of date. Hand it in again.")
    ),
    RequirementCode.DOCUMENT_OUTDATED: PageMessage(
        N_("A document is out of date"), N_("It was accepted once, and has to be renewed. Hand in the new one.")
    ),
    RequirementCode.BANK_ACCOUNT_MISSING: PageMessage(
        N_("A bank account is missing"),
        N_("Enter the IBAN of the account that your money goes to. You confirm it at the payment provider afterwards."),
        Tone.INFO,
    ),
    RequirementCode.BANK_ACCOUNT_AUTHENTICATION: PageMessage(
        N_("Your bank account has to be confirmed"),
        N_("The payment provider asks you to authenticate once for each new bank account."),
        Tone.INFO,
    ),
    RequirementCode.PAYEE_MISMATCH: PageMessage(
        N_("The bank knows your account under another name"),
        N_(
            "Payouts to it may come back. Tell the platform that your shop sells on the exact name of the account holder, or "
            "another IBAN."
        ),
    ),
    RequirementCode.INFLOWS_BLOCKED: PageMessage(
        N_("You cannot receive payments at the moment"),
        N_("The payment provider has stopped them. The platform that your shop sells on can find out why."),
    ),
    RequirementCode.OUTFLOWS_BLOCKED: PageMessage(
        N_("Nothing can be paid out to you at the moment"),
        N_("The payment provider has stopped it. The platform that your shop sells on can find out why."),
    ),
}
SUBMIT_DOCUMENTS = N_("The platform that your shop sells on takes your documents, or sends you a link for it.")
"""The hint for requirements with documents, shown if no URL is known where to submit them."""
DOCUMENT_REQUIREMENTS = frozenset(
    {RequirementCode.IDENTITY_NOT_VERIFIED, RequirementCode.DOCUMENT_REFUSED, RequirementCode.DOCUMENT_OUTDATED}
)
