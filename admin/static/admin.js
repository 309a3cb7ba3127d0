// Comfort only: every page works without it.
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
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
const menu = document.getElementById("menu");
const wide = matchMedia("(min-width: 60rem)");
const fold = () => { if (menu) menu.open = wide.matches; };
wide.addEventListener("change", fold);
fold();
for (const open of document.querySelectorAll(".who")) {
  addEventListener("click", (event) => { if (!open.contains(event.target)) open.open = false; });
  addEventListener("keydown", (event) => { if (event.key === "Escape") open.open = false; });
}
const wrong = document.querySelector("[aria-invalid=true]");
if (wrong) wrong.focus();
