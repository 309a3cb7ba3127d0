"""What stands in the cells of an export."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from resolvers.core.list_reader import CellKind, ListColumn
from schema.validation.languages import LANGUAGES
from store.audit.masking import mask
from store.export.files import ExportCell


@dataclass(frozen=True, slots=True)
class CellWriter:
    """Makes cells of the values of the API: times in a time zone, translated texts in a language, codes in part."""

    time_zone: ZoneInfo
    language: str
    """Of translated texts that have it; empty for the first that a text has."""
    include_codes: bool

    def cell(self, column: ListColumn, value: Any) -> ExportCell:
        """The cell of a value of a column."""
        if value is None:
            return None
        if column.is_many:
            return ", ".join(str(self._single(column, each)) for each in value if each is not None)
        return self._single(column, value)

    def _single(self, column: ListColumn, value: Any) -> ExportCell:
        if column.code_permission is not None and not self.include_codes:
            return None if column.is_address else str(mask(value, "code"))
        match column.kind:
            case CellKind.NUMBER:
                return value if isinstance(value, int) else Decimal(str(value))
            case CellKind.DECIMAL:
                return Decimal(value)
            case CellKind.BOOLEAN:
                return bool(value)
            case CellKind.DAY:
                return dt.date.fromisoformat(value)
            case CellKind.MOMENT:
                return dt.datetime.fromisoformat(value).astimezone(self.time_zone)
            case CellKind.MONEY:
                return f"{value['amount']} {value['currency']}"
            case CellKind.TRANSLATED:
                return self._translated(value)
            case CellKind.JSON:
                return orjson.dumps(mask(value)).decode()
        return str(value)

    def _translated(self, texts: Mapping[str, str | None]) -> str:
        return next((text for each in (self.language, *LANGUAGES) if (text := texts.get(each))), "")
