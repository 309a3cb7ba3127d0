// The README's story, told with the types that openapi-typescript makes of the description. Its argument is the service's address.
import createClient from "openapi-fetch";
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import type { components, paths } from "./described.js";

const address = process.argv[2];
ok(address !== undefined);
const client = createClient<paths>({ baseUrl: address });

async function logIn(username: string): Promise<string> {
  const { data, error } = await client.POST("/api-token-auth/", { body: { username, password: "coffret-demo" } });
  ok(data !== undefined, JSON.stringify(error));
  strictEqual(data.user.username, username);
  return data.token;
}

function as(token: string) {
  return createClient<paths>({ baseUrl: address!, headers: { Authorization: `Bearer ${token}` } });
}

const shop = as(await logIn("partner@demo.localhost"));

// A cart is handed over, read and replaced.
const lines: components["schemas"]["CartItemBody"][] = [
  { product_id: 7, quantity: 2, variant_id: 4 },
  { product_id: 6, quantity: 1, attribute_values: {} },
];
const made = await shop.POST("/api/v2/ecommerce/cart/", {
  body: { items: lines },
  params: { header: { "Idempotency-Key": "first version" } },
});
strictEqual(made.response.status, 201);
const cart: components["schemas"]["Cart"] | undefined = made.data;
ok(cart !== undefined);
ok(cart.funnel_url.endsWith(cart.id));
const read = await shop.GET("/api/v2/ecommerce/cart/{id}/", { params: { path: { id: cart.id } } });
deepStrictEqual(read.data, cart);
const replaced = await shop.POST("/api/v2/ecommerce/cart/", {
  body: { id: cart.id, items: [{ product_id: 6, quantity: 3 }], return_url: "https://shop.example/thanks" },
});
strictEqual(replaced.response.status, 200);
strictEqual(replaced.data?.items[0]?.variant_id, null);

// What is wrong is told at its key.
const wrong = await shop.POST("/api/v2/ecommerce/cart/", { body: { items: [{ product_id: 6, quantity: -1 }] } });
strictEqual(wrong.response.status, 400);
deepStrictEqual(wrong.error, { items: [{ quantity: ["Send 0 or more."] }] });
const nobody = await client.GET("/api/permissions/");
strictEqual(nobody.response.status, 401);
ok(nobody.error !== undefined && "detail" in nobody.error);

// Lists, and what is in them: what may be empty is a text that may be "".
const vouchers = (await shop.GET("/api/vouchers/", { params: { query: { page_size: 100, ordering: "-creation_date" } } })).data;
ok(vouchers !== undefined && vouchers.results.length === vouchers.count);
ok(vouchers.results.some((voucher) => voucher.usage_date === "") && vouchers.results.some((voucher) => voucher.usage_date !== ""));
for (const { code } of vouchers.results) {
  const one = await shop.GET("/api/vouchers/{code}/", { params: { path: { code } } });
  strictEqual(one.data?.code, code);
}
const cards = (await shop.GET("/api/giftcards/", { params: { query: { ordering: "-expires_on" } } })).data;
ok(cards !== undefined && cards.results.length > 0);
for (const { id } of cards.results) {
  const one = await shop.GET("/api/giftcards/{id}/", { params: { path: { id } } });
  strictEqual(one.data?.id, id);
}
const prototypes = (await shop.GET("/api/voucher_prototypes/")).data;
const price: number | undefined = prototypes?.results[0]?.stay_price;
ok(price !== undefined && price > 0);

// A partner is made, read and changed.
const market = as(await logIn("marketplace@demo.localhost"));
const partner = (
  await market.POST("/api/payment_hub/partner/create/", {
    body: {
      status: "a",
      commercial_name: "La Tisane",
      short_name: "Tisane",
      legal_representative_email: "ada@tisane.example",
      agency_email: "bonjour@tisane.example",
    },
  })
).data;
ok(partner !== undefined);
strictEqual(partner.legal_representative_birthday, "");
const path = { partner_uuid: partner.uuid };
const changed = await market.PATCH("/api/payment_hub/partner/{partner_uuid}/", {
  params: { path },
  body: { legal_representative_birthday: "1980-04-12" },
});
strictEqual(changed.data?.legal_representative_birthday, "1980-04-12T00:00:00.000000Z");
const found = await market.GET("/api/payment_hub/partner/{partner_uuid}/", { params: { path } });
strictEqual(found.data?.commercial_name, "La Tisane");

console.log(`told: ${vouchers.count} vouchers, ${cards.count} gift cards, partner ${partner.id}`);
