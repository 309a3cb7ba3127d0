"""The names of legal texts, in links of pages and mails."""

from collections.abc import Mapping

from schema.core.text import Text
from schema.legal.legal_document import LegalDocumentKind

LEGAL_NAMES: Mapping[LegalDocumentKind, Text] = {
    LegalDocumentKind.TERMS: Text(
        en="Terms of sale",
        fr="Conditions générales de vente",
        es="Condiciones de venta",
        it="Condizioni di vendita",
        de="AGB",
        nl="Verkoopvoorwaarden",
        ca="Condicions de venda",
        pt="Condições de venda",
    ),
    LegalDocumentKind.PRIVACY: Text(
        en="Privacy",
        fr="Données personnelles",
        es="Privacidad",
        it="Privacy",
        de="Datenschutz",
        nl="Privacy",
        ca="Privacitat",
        pt="Privacidade",
    ),
    LegalDocumentKind.WITHDRAWAL: Text(
        en="Right of withdrawal",
        fr="Droit de rétractation",
        es="Derecho de desistimiento",
        it="Diritto di recesso",
        de="Widerrufsbelehrung",
        nl="Herroepingsrecht",
        ca="Dret de desistiment",
        pt="Direito de livre resolução",
    ),
    LegalDocumentKind.IMPRINT: Text(
        en="Legal notice",
        fr="Mentions légales",
        es="Aviso legal",
        it="Note legali",
        de="Impressum",
        nl="Colofon",
        ca="Avís legal",
        pt="Aviso legal",
    ),
}
"""As the shops of each language call them."""
