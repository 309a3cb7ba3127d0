// What makes the documentation quicker. Without it everything works: code is selected by hand, a search is a form.
"use strict";

for (const sample of document.querySelectorAll(".sample")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const code = sample.querySelector("pre");
  button.setAttribute("aria-label", `Copy: ${code.getAttribute("aria-label")}`);
  const told = document.createElement("span");
  told.className = "told";
  told.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      told.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      told.textContent = "Selected: copy it with your keyboard";
    }
    setTimeout(() => { told.textContent = ""; }, 4000);
  });
  sample.querySelector("figcaption").append(told, button);
}

const search = document.querySelector(".search input");
const found = document.getElementById("found");
if (found) {
  let last = 0;
  search.addEventListener("input", async () => {
    const number = ++last;
    await new Promise((resume) => setTimeout(resume, 150));
    if (number !== last) return;
    const url = new URL(search.form.action);
    if (search.value.trim()) url.searchParams.set("q", search.value);
    const answer = await fetch(url);
    if (number !== last || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["found", "total"]) {
      document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes);
    }
  });
}
