"""Every operation is finished: a function with its permission, a line in the API, a route where it is documented, tests."""

import pathlib
from uuid import UUID

from resolvers.core.lists.listing import Lookup
from resolvers.core.operation import Call, operation
from resolvers.order.orders import orders
from resolvers.product import product
from rest_compat.routes import ROUTES
from schema.account.token import RevokeToken
from schema.cart.ecommerce_cart import EcommerceCart
from schema.core.permission import AccessRule, Permission
from schema.order.order import Order
from schema.root import Mutation, Query
from tests.contract.declarations import ROOT, Declared, Documented, Surface, declared, documented, published, report


def texts(folder: str) -> dict[str, str]:
    """What the modules of a folder say."""
    found = sorted((ROOT / folder).rglob("*.py"))
    return {str(path.relative_to(ROOT)): path.read_text() for path in found if pathlib.Path(__file__) != path}


def surface() -> Surface:
    """The program as it is."""
    return Surface(
        published(Query, Mutation),
        ROUTES,
        documented(),
        "\n".join([*texts("funnel").values(), *texts("admin").values()]),
        texts("tests"),
    )


def test_every_operation_is_finished() -> None:
    found = list(declared())
    assert {
        "account.tokens",
        "cart.carts",
        "checkout.steps",
        "coupon",
        "order.orders",
        "payment.checkout.payment",
        "product",
    } <= {it.module for it in found}
    forgotten = report(surface(), found)
    assert not forgotten, f"\n{forgotten}"


def test_every_field_of_the_api_is_an_operation_of_the_business() -> None:
    sources = [id(it.source) for it in declared()]
    assert len(sources) == len(set(sources))
    for field in published(Query, Mutation):
        assert field.sources, f"{field.name} is made by hand: use query_field or mutation_field."
        assert {id(source) for source in field.sources} <= set(sources), f"{field.name} is declared outside resolvers/."


def test_every_documented_field_that_exists_is_the_one_documented() -> None:
    """A documented name that the schema has is not something else, and takes the documented argument."""
    fields = {field.name: field for field in published(Query, Mutation)}
    for row in documented():
        name, _, argument = row.field.rstrip(")").partition("(")
        if name in fields and argument:
            assert argument in fields[name].arguments, f"{row.field} is documented: let {name} take {argument!r}."


# ---- what is told when something is forgotten


@operation(Permission.VIEW_ORDER)
async def find_parcel(call: Call, id: UUID) -> EcommerceCart:
    """A parcel by its id."""
    raise NotImplementedError


@operation(Permission.MANAGE_CATALOGUE)
async def lose_parcel(call: Call, input: RevokeToken) -> EcommerceCart:
    """lose it"""
    raise NotImplementedError


@operation(AccessRule.CUSTOMER)
async def track_parcel(call: Call) -> EcommerceCart:
    """Where the customer's parcel is."""
    raise NotImplementedError


parcel = Lookup(Order, "id", "parcel", Permission.VIEW_ORDER, "A parcel by its id.")
FIND = Declared("parcels", "find_parcel", find_parcel)
LOSE = Declared("parcels", "lose_parcel", lose_parcel)
TRACK = Declared("parcels", "track_parcel", track_parcel)
NOTHING = Surface([], [], [], "", {})


def test_what_has_no_line_in_the_api_is_told_with_the_line_to_add() -> None:
    (forgotten,) = Surface([], [], [], "", {"t.py": "parcels.find_parcel(context)"}).lacks(FIND)
    assert "Add to `class Query` in schema/root.py: find_parcel = query_field(parcels.find_parcel)" in forgotten
    (_, forgotten) = Surface([], [], [], "", {"t.py": "parcels.lose_parcel(context)"}).lacks(LOSE)
    assert "Add to `class Mutation` in schema/root.py: lose_parcel = mutation_field(parcels.lose_parcel)" in forgotten


def test_what_nobody_tests_is_told_with_the_file_to_make() -> None:
    told = "No test names it. Write tests of parcels.find_parcel in tests/resolvers/test_parcels.py."
    for text in ("", "find_parcels.find_parcel_again()", "the find_parcel"):
        assert told in Surface([], [], [], "", {"t.py": text}).lacks(FIND)
    for text in ("await parcels.find_parcel(context)", "from resolvers.parcels import find_parcel\n"):
        assert told not in Surface([], [], [], "", {"t.py": text}).lacks(FIND)


def test_what_is_documented_and_not_served_is_told_with_the_route() -> None:
    field = [f for f in published(Query) if any(source is product for source in f.sources)]
    row = Documented("get_product", "GET", "/api/products/{id}/", "product", "view_order")
    other = Documented("get_product_by_code", "GET", "/api/products_by_code/{code}/", "product(code)", "view_catalogue")
    surface = Surface(field, [], [row, other], "", {"t.py": "product.product"})
    (wrong, forgotten) = surface.lacks(Declared("product", "product", product))
    assert "documented as get_product with the permission view_order, and asks for view_catalogue" in wrong
    assert "resolvers/product.py and rest_compat/operations.csv" in wrong
    assert 'rest_compat/routes.py: RestRoute("GET", "/api/products/{id}/", product, …)' in forgotten
    assert "and its words to rest_compat/operations.toml as [get_product]." in forgotten


def test_a_customers_operation_needs_no_api_but_a_step() -> None:
    tested = {"t.py": "parcels.track_parcel"}
    (forgotten,) = Surface([], [], [], "", tested).lacks(TRACK)
    assert "Call it in funnel/: parcels.track_parcel(…)." in forgotten
    assert Surface([], [], [], "await track_parcel(context)", tested).lacks(TRACK) == []


def test_a_description_is_a_sentence() -> None:
    assert "'lose it'" in NOTHING.lacks(LOSE)[0]
    assert not any("sentence" in lack for lack in NOTHING.lacks(FIND))


def test_the_report_names_each_operation_and_the_page_that_helps() -> None:
    text = report(NOTHING, [FIND, TRACK])
    first, *_ = text.splitlines()
    assert first == "`parcels.find_parcel` in resolvers/parcels.py is not finished:"
    assert "`parcels.track_parcel`" in text
    assert text.endswith("docs/contributing/adding-an-operation.md shows one from the beginning to the end.")
    assert report(NOTHING, []) == ""


def test_lists_and_look_ups_are_found_where_they_are_declared() -> None:
    where = {id(it.source): it.where for it in declared()}
    assert where[id(orders)] == "orders.orders"
    assert where[id(product)] == "product.product"
    assert id(parcel) not in where
