// Apple Pay and Google Pay by the browser's own interfaces. Without them the buttons stay hidden, and the page is as it is.

const root = document.querySelector("[data-wallets]");
const { form } = root.querySelector("button");
const failed = root.querySelector("[data-failed]");
let busy = false;
let sending = false;

/** Sends fields with the form's own, which say what the customer has seen. */
async function send(url, fields) {
  const body = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const answer = await fetch(url, { method: "POST", body });
  if (!answer.ok) throw Object.assign(new Error(`${url} answered ${answer.status}`), { refused: answer.status < 500 });
  return answer.json();
}

/** Sends a token once, and ends the sheet with what became of it. The payment's own page follows, unless nothing was begun. */
async function pay(method, token, complete) {
  const browser = {
    language: navigator.language,
    colorDepth: screen.colorDepth,
    screenHeight: screen.height,
    screenWidth: screen.width,
    timeZoneOffset: new Date().getTimezoneOffset(),
  };
  sending = true;
  let told = { result: "fail" };
  let refused = false;
  try {
    told = await send(root.dataset.tokenUrl, { method, token: JSON.stringify(token), browser: JSON.stringify(browser) });
  } catch (error) {
    refused = Boolean(error.refused);
  }
  try {
    await complete(told.result);
  } catch {
    // the sheet has timed out meanwhile
  }
  sending = false;
  const next = told.url ?? root.dataset.outcomeUrl; // without an answer it may be paid all the same
  if (refused) tellFailure();
  else if (next) location.assign(next);
  else location.reload();
}

function rest() {
  if (sending) return; // Safari's sheet can be closed, and the token is on its way all the same
  busy = false;
  for (const button of root.querySelectorAll("button")) button.removeAttribute("aria-disabled");
}

function tellFailure() {
  rest();
  failed.textContent = failed.dataset.failed;
}

const sheets = {
  apple_pay: {
    canPay: () => Boolean(globalThis.ApplePaySession?.supportsVersion(3) && ApplePaySession.canMakePayments()),
    open(asked) {
      const session = new ApplePaySession(3, asked);
      session.onvalidatemerchant = async (event) => {
        try {
          session.completeMerchantValidation(await send(root.dataset.appleUrl, { url: event.validationURL }));
        } catch {
          session.abort();
          tellFailure();
        }
      };
      session.oncancel = rest;
      session.onpaymentauthorized = async ({ payment: { token } }) => {
        const { paymentData, paymentMethod, transactionIdentifier } = token;
        const data = { data: JSON.stringify(paymentData), network: paymentMethod.network, transactionId: transactionIdentifier };
        await pay("apple_pay", data, (result) => {
          session.completePayment({ status: result === "fail" ? ApplePaySession.STATUS_FAILURE : ApplePaySession.STATUS_SUCCESS });
        });
      };
      session.begin();
    },
  },
  google_pay: {
    async canPay(asked) {
      if (!globalThis.PaymentRequest) return false;
      return new PaymentRequest(asked.methods, asked.details).canMakePayment().catch(() => false);
    },
    async open(asked) {
      let response;
      try {
        response = await new PaymentRequest(asked.methods, asked.details).show();
      } catch (error) {
        return error.name === "AbortError" ? rest() : tellFailure();
      }
      const data = { data: response.details.paymentMethodData.tokenizationData.token };
      await pay("google_pay", data, (result) => response.complete(result));
    },
  },
};

async function show(button) {
  const sheet = sheets[button.dataset.wallet];
  const asked = JSON.parse(button.dataset.asked);
  try {
    if (!(await sheet.canPay(asked))) return;
  } catch {
    return; // the browser refuses to tell, so it cannot pay either
  }
  button.addEventListener("click", () => {
    if (busy) return;
    busy = true;
    failed.textContent = "";
    for (const each of root.querySelectorAll("button")) each.setAttribute("aria-disabled", "true");
    try {
      sheet.open(asked);
    } catch {
      tellFailure();
    }
  });
  button.hidden = root.hidden = false;
}

root.querySelectorAll("button").forEach(show);
addEventListener("pageshow", rest);
