"""Names of gift cards, shops and reception modes in every language, for pages, for mail and for storage with orders."""

from collections.abc import Mapping

from schema.checkout.checkout import ShopKind
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.validation.languages import LANGUAGES

GIFT_CARD_NAME = Text(
    en="Gift card",
    fr="Carte cadeau",
    es="Tarjeta regalo",
    it="Carta regalo",
    de="Geschenkkarte",
    nl="Cadeaukaart",
    ca="Targeta regal",
    pt="Cartão-presente",
)

SHOP_KIND_NAMES: Mapping[ShopKind, Text] = {
    ShopKind.PRODUCTS: Text(
        en="Products",
        fr="Produits",
        es="Productos",
        it="Prodotti",
        de="Produkte",
        nl="Producten",
        ca="Productes",
        pt="Produtos",
    ),
    ShopKind.VOUCHERS: Text(
        en="Vouchers",
        fr="Bons cadeaux",
        es="Bonos regalo",
        it="Buoni regalo",
        de="Erlebnisgutscheine",
        nl="Belevenisbonnen",
        ca="Vals regal",
        pt="Vales-presente",
    ),
    ShopKind.GIFT_CARDS: Text(
        en="Gift cards",
        fr="Cartes cadeaux",
        es="Tarjetas regalo",
        it="Carte regalo",
        de="Geschenkkarten",
        nl="Cadeaukaarten",
        ca="Targetes regal",
        pt="Cartões-presente",
    ),
    ShopKind.MIXED: Text(
        en="Items",
        fr="Articles",
        es="Artículos",
        it="Articoli",
        de="Artikel",
        nl="Artikelen",
        ca="Articles",
        pt="Itens",
    ),
    ShopKind.NETWORK: Text(
        en="Gifts",
        fr="Cadeaux",
        es="Regalos",
        it="Regali",
        de="Geschenke",
        nl="Cadeaus",
        ca="Regals",
        pt="Presentes",
    ),
}
"""The heading of the list of what is ordered."""

DETAILS = " · "
"""Between the details of a line."""
BY_EMAIL_NAME = Text(
    en="By e-mail",
    fr="Par e-mail",
    es="Por correo electrónico",
    it="Per e-mail",
    de="Per E-Mail",
    nl="Per e-mail",
    ca="Per correu electrònic",
    pt="Por e-mail",
)

RECEPTION_NAMES: Mapping[ReceptionMode, Text] = {
    ReceptionMode.PRINT_AT_HOME: Text(
        en="By e-mail, to print at home",
        fr="Par e-mail, à imprimer chez vous",
        es="Por correo electrónico, para imprimir en casa",
        it="Per e-mail, da stampare a casa",
        de="Per E-Mail, zum Ausdrucken",
        nl="Per e-mail, om thuis af te drukken",
        ca="Per correu electrònic, per imprimir a casa",
        pt="Por e-mail, para imprimir em casa",
    ),
    ReceptionMode.GIFTEE_EMAIL: Text(
        en="By e-mail to the recipient",
        fr="Par e-mail au bénéficiaire",
        es="Por correo electrónico al destinatario",
        it="Per e-mail al destinatario",
        de="Per E-Mail an die beschenkte Person",
        nl="Per e-mail naar de ontvanger",
        ca="Per correu electrònic al destinatari",
        pt="Por e-mail ao destinatário",
    ),
    ReceptionMode.EXPEDITION: Text(
        en="By post to you",
        fr="Par courrier chez vous",
        es="Por correo postal a su domicilio",
        it="Per posta a casa Sua",
        de="Per Post zu Ihnen",
        nl="Per post naar u",
        ca="Per correu postal a casa seva",
        pt="Por correio para si",
    ),
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY: Text(
        en="By post to the recipient",
        fr="Par courrier au bénéficiaire",
        es="Por correo postal al destinatario",
        it="Per posta al destinatario",
        de="Per Post an die beschenkte Person",
        nl="Per post naar de ontvanger",
        ca="Per correu postal al destinatari",
        pt="Por correio ao destinatário",
    ),
    ReceptionMode.ON_SITE: Text(
        en="Collected on site",
        fr="À retirer sur place",
        es="Recogida en el establecimiento",
        it="Ritiro in sede",
        de="Abholung vor Ort",
        nl="Ter plaatse afhalen",
        ca="Recollida a l'establiment",
        pt="Levantamento no local",
    ),
}

COUNT_NOUNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "adults": {
        "en": ("adult", "adults"),
        "fr": ("adulte", "adultes"),
        "es": ("adulto", "adultos"),
        "it": ("adulto", "adulti"),
        "de": ("Erwachsener", "Erwachsene"),
        "nl": ("volwassene", "volwassenen"),
        "ca": ("adult", "adults"),
        "pt": ("adulto", "adultos"),
    },
    "children": {
        "en": ("child", "children"),
        "fr": ("enfant", "enfants"),
        "es": ("niño", "niños"),
        "it": ("bambino", "bambini"),
        "de": ("Kind", "Kinder"),
        "nl": ("kind", "kinderen"),
        "ca": ("infant", "infants"),
        "pt": ("criança", "crianças"),
    },
    "babies": {
        "en": ("baby", "babies"),
        "fr": ("bébé", "bébés"),
        "es": ("bebé", "bebés"),
        "it": ("neonato", "neonati"),
        "de": ("Baby", "Babys"),
        "nl": ("baby", "baby's"),
        "ca": ("nadó", "nadons"),
        "pt": ("bebé", "bebés"),
    },
    "nights": {
        "en": ("night", "nights"),
        "fr": ("nuit", "nuits"),
        "es": ("noche", "noches"),
        "it": ("notte", "notti"),
        "de": ("Nacht", "Nächte"),
        "nl": ("nacht", "nachten"),
        "ca": ("nit", "nits"),
        "pt": ("noite", "noites"),
    },
}
"""Singular and plural of what a voucher counts."""


def voucher_details(counts: Mapping[str, int], options: Mapping[int, tuple[Text, int]]) -> Text:
    """Guests, nights and options of a voucher in each language: adults, children, babies, nights, then the added
    options.
    """
    return Text(**{language: DETAILS.join(_details_in(language, counts, options)) for language in LANGUAGES})


def _details_in(language: str, counts: Mapping[str, int], options: Mapping[int, tuple[Text, int]]) -> list[str]:
    counted = [f"{count} {COUNT_NOUNS[name][language][count > 1]}" for name, count in counts.items() if count]
    added = [
        f"{name.in_language(language)} × {count}" if count > 1 else name.in_language(language)
        for name, count in options.values()
    ]
    return [*counted, *added]
