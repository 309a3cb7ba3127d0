import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { setNonce } from "get-nonce";
import { GraphiQL } from "graphiql";
import "graphiql/style.css";
import "./main.css";
import { createRoot } from "react-dom/client";

const query = `# Welcome to Coffret's GraphQL API.
#
# Your token goes into the Headers tab below.
# Ctrl-Space completes, Ctrl-Enter runs.
# The book on the left shows all there is.

query Welcome {
  me {
    user {
      firstName
      username
    }
    permissions
  }
}
`;

// Until a token is put behind "Token", requests go without one: a bad token would be refused, the schema with it.
function fetchWithToken(url, { headers, ...options }) {
  const sent = new Headers(headers);
  if (/^(token|bearer)?\s*$/i.test(sent.get("authorization") ?? "")) sent.delete("authorization");
  return fetch(url, { ...options, headers: sent });
}

// The dialogs add a style of their own, which the page's policy allows by this.
setNonce(document.querySelector("script[nonce]").nonce);

createRoot(document.getElementById("graphiql")).render(
  <GraphiQL
    fetcher={createGraphiQLFetcher({ url: location.pathname, fetch: fetchWithToken })}
    defaultQuery={query}
    defaultHeaders={'{\n  "Authorization": "Token "\n}'}
    defaultEditorToolsVisibility="headers"
    shouldPersistHeaders={false}
  />,
);
