// Comfort only: every page works without it.
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (event.submitter?.formTarget) return; // what a frame shows
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-once]")) delete form.dataset.sent;
});
addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
  const search = document.getElementById("q");
  if (!search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
const all = document.querySelector("#bulk [name=all]");
const picks = document.querySelectorAll("td.pick input");
all?.addEventListener("change", () => { for (const pick of picks) pick.checked = all.checked; });
for (const pick of picks) pick.addEventListener("change", () => { all.checked = [...picks].every((each) => each.checked); });
const results = [...document.querySelectorAll(".found a")];
addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const search = document.getElementById("q");
  const at = results.indexOf(document.activeElement);
  if (!step || !results.length || (at < 0 && document.activeElement !== search)) return;
  event.preventDefault();
  (results[at + step] ?? (step < 0 ? search : results[at])).focus();
});
const menu = document.getElementById("menu");
const wide = matchMedia("(min-width: 60rem)");
const fold = () => { if (menu) menu.open = wide.matches; };
wide.addEventListener("change", fold);
fold();
for (const open of document.querySelectorAll(".who")) {
  addEventListener("click", (event) => { if (!open.contains(event.target)) open.open = false; });
  addEventListener("keydown", (event) => { if (event.key === "Escape") open.open = false; });
}
const wrong = document.querySelector("[aria-invalid=true], [data-wrong]");
if (wrong) (wrong.matches("fieldset") ? wrong.querySelector("input:not([type=hidden]), select, textarea, button") : wrong)?.focus();
for (const back of document.querySelectorAll("[data-back]")) {
  back.hidden = history.length < 2;
  back.addEventListener("click", () => history.back());
}

// Passkeys: a form asks for what the browser needs, has it answer, and is sent with the answer.
const askBrowser = {
  async get(form) {
    const asked = await fetch(form.action);
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await asked.json());
    return navigator.credentials.get({ publicKey });
  },
  async create(form) {
    const asked = await fetch(`${form.action}begin/`, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const answer = await asked.json();
    if (!asked.ok) throw new Error(answer.problem);
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(answer) });
  },
};
for (const form of document.querySelectorAll("form[data-passkey]")) {
  // Browsers make passkeys for names of hosts only.
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON || /^[\d.]+$|:/.test(location.hostname)) {
    for (const told of document.querySelectorAll("[data-no-passkeys]")) told.hidden = false;
    continue;
  }
  form.hidden = false;
  const problem = form.querySelector("[data-problem]");
  const words = problem.textContent;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      const credential = await askBrowser[form.dataset.passkey](form);
      form.elements.credential.value = JSON.stringify(credential.toJSON());
      form.elements.password?.remove();
      form.submit();
    } catch (error) {
      problem.textContent = error.name === "Error" && error.message ? error.message : words;
      problem.hidden = false;
    }
  });
}
