// Makes the checkout quicker where scripts run; every page works without it.

const WAIT = 300;

/** Tells of errors that are mended, as the server sees it. Nothing moves: a message that is gone leaves its place. */
function settle(form, page) {
  for (const told of form.querySelectorAll("p.wrong[id]")) {
    const fresh = page.getElementById(told.id);
    told.classList.toggle("mended", !fresh);
    if (fresh) told.innerHTML = fresh.innerHTML;
  }
  const box = document.getElementById("errors");
  if (!box) return;
  const links = [...box.querySelectorAll("li a")];
  for (const link of links) {
    link.parentElement.classList.toggle("mended", !page.querySelector(`#errors a[href="${link.getAttribute("href")}"]`));
  }
  const good = links.every((link) => link.parentElement.matches(".mended"));
  const title = box.querySelector("h2");
  box.dataset.title ??= title.textContent;
  box.classList.toggle("good", good);
  box.classList.toggle("warning", !good);
  const text = good ? box.dataset.mended : box.dataset.title;
  if (title.textContent !== text) title.textContent = text;
}

/** Recomputes prices and errors while a form is being changed, and puts the changed pieces of the page in place. */
function preview(form) {
  const unsaved = "unsaved" in form.dataset; // what is typed is nowhere else: it must not be lost to a reload
  let timer;
  let running;

  const put = (page) => {
    for (const piece of document.querySelectorAll("[data-live]")) {
      const fresh = page.querySelector(`[data-live="${piece.dataset.live}"]`);
      if (fresh && fresh.innerHTML !== piece.innerHTML) piece.innerHTML = fresh.innerHTML;
    }
    for (const choice of form.querySelectorAll(".choice[id]")) choice.hidden = page.getElementById(choice.id)?.hidden ?? choice.hidden;
    settle(form, page);
    for (const field of form.querySelectorAll("input[id], select[id], textarea[id]")) {
      const fresh = page.getElementById(field.id);
      if (fresh && field.type === "radio") {
        field.disabled = fresh.disabled;
        if (fresh.disabled) field.checked = false;
      }
      for (const name of fresh ? ["aria-invalid", "aria-describedby"] : []) {
        if (fresh.hasAttribute(name)) field.setAttribute(name, fresh.getAttribute(name));
        else field.removeAttribute(name);
      }
    }
  };

  const ask = async () => {
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    form.setAttribute("aria-busy", "true");
    try {
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.dataset.preview, { method: "POST", body, signal });
      if (!answer.ok || answer.redirected) return unsaved || location.reload();
      put(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      if (running?.signal === signal) form.removeAttribute("aria-busy");
    }
  };

  const soon = (wait) => {
    clearTimeout(timer);
    timer = setTimeout(ask, wait);
  };

  form.addEventListener("change", () => soon(0));
  form.addEventListener("input", (event) => event.target.matches(unsaved ? "[aria-invalid]" : "input") && soon(WAIT));
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches(".deliveries [type=radio]")) return;
    const onward = [...form.querySelectorAll("[value=continue]")].find((button) => button.getClientRects().length);
    if (!onward) return;
    event.preventDefault();
    onward.click();
  });
  form.addEventListener("submit", () => {
    clearTimeout(timer);
    running?.abort();
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-step]");
    if (!button) return;
    event.preventDefault();
    const field = button.parentElement.querySelector("input");
    const quantity = (Number.parseInt(field.value, 10) || 0) + Number(button.dataset.step);
    field.value = Math.min(Math.max(quantity, 0), 9999);
    soon(WAIT);
  });
}

/** Sends a form once, however often its button is pressed; the server makes sure of it anyway. */
function once(form) {
  const buttons = [...form.elements].filter((element) => element.matches("button:not([type=button])"));
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) return event.preventDefault();
    sent = true;
    for (const button of buttons) button.setAttribute("aria-disabled", "true");
  });
  addEventListener("pageshow", () => {
    sent = false;
    for (const button of buttons) button.removeAttribute("aria-disabled");
  });
}

/** Puts a button beside a code that copies it, where the browser can. */
function copies(code) {
  if (!navigator.clipboard) return;
  const value = code.textContent;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "link", textContent: code.dataset.copy });
  button.setAttribute("aria-label", `${code.dataset.copy} ${value}`);
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      return getSelection().selectAllChildren(code);
    }
    told.textContent = code.dataset.copied;
    setTimeout(() => (told.textContent = ""), 3000);
  });
  code.after(button, told);
}

/** Lets keys leave and turn the picture that is shown in full size: its links work without them. */
function turnsPictures(event) {
  const link = { Escape: ".close", ArrowLeft: ".before", ArrowRight: ".after" }[event.key];
  if (link) document.querySelector(`.lightbox:target ${link}`)?.click();
}

document.querySelectorAll("form[data-preview]").forEach(preview);
document.querySelectorAll("form[data-once]").forEach(once);
document.querySelectorAll("[data-copy]").forEach(copies);
if (document.querySelector(".lightbox")) addEventListener("keydown", turnsPictures);
