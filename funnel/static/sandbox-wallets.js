// Stands in for Apple Pay and Google Pay where the sandbox takes the payments: a sheet that charges no card.

const simulated = (method) => document.querySelector(`[data-wallet="${method}"][data-simulated]`);

/** Shows the sheet; resolves to the number of a test card, or to nothing. */
function choose(sum) {
  const sheet = document.getElementById("sandbox-wallet").content.firstElementChild.cloneNode(true);
  sheet.querySelector(".sandbox-sum").textContent = sum;
  document.body.append(sheet);
  sheet.showModal();
  return new Promise((resolve) => {
    const close = (card) => {
      sheet.remove();
      resolve(card);
    };
    sheet.addEventListener("cancel", () => close());
    sheet.querySelector("[value=cancel]").addEventListener("click", () => close());
    sheet.querySelector("[value=pay]").addEventListener("click", () => close(sheet.querySelector("select").value));
  });
}

if (simulated("apple_pay")) {
  globalThis.ApplePaySession = class {
    static STATUS_SUCCESS = 0;
    static STATUS_FAILURE = 1;
    static supportsVersion = () => true;
    static canMakePayments = () => true;

    constructor(version, asked) {
      this.asked = asked;
    }

    async begin() {
      const sandboxCard = await choose(`${this.asked.total.amount} ${this.asked.currencyCode}`);
      if (!sandboxCard) return this.oncancel();
      const token = { paymentData: { sandboxCard }, paymentMethod: { network: "Visa" }, transactionIdentifier: "sandbox" };
      this.onpaymentauthorized({ payment: { token } });
    }

    abort() {}
    completeMerchantValidation() {}
    completePayment() {}
  };
}

if (simulated("google_pay")) {
  globalThis.PaymentRequest = class {
    constructor(methods, details) {
      this.details = details;
    }

    canMakePayment = async () => true;

    async show() {
      const { currency, value } = this.details.total.amount;
      const sandboxCard = await choose(`${value} ${currency}`);
      if (!sandboxCard) throw new DOMException("The sheet was closed.", "AbortError");
      const token = JSON.stringify({ sandboxCard });
      return { details: { paymentMethodData: { tokenizationData: { token } } }, complete: async () => {} };
    }
  };
}
