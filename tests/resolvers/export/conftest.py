"""What every test of exports may ask for."""

import pytest

from tests.fixtures.tenants import Tenants
from tests.resolvers.export.exported import Exports


@pytest.fixture
def exporting(tenants: Tenants) -> Exports:
    """The exports of the tenants."""
    return Exports(tenants)
