// Comfort only: every form works without it.
for (const search of document.querySelectorAll("[name^='_search.']")) {
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    search.closest(".search-row").querySelector("button").click();
  });
}
if (!CSS.supports("field-sizing", "content")) {
  const grow = (area) => {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  };
  for (const area of document.querySelectorAll(".change textarea")) {
    area.addEventListener("input", () => grow(area));
    grow(area);
  }
}
for (const chooser of document.querySelectorAll("input[data-text]")) {
  const text = document.getElementById(chooser.dataset.text);
  const show = () => { chooser.value = /^#[0-9a-f]{6}$/i.test(text.value) ? text.value.toLowerCase() : "#ffffff"; };
  show();
  chooser.hidden = false;
  text.addEventListener("input", show);
  chooser.addEventListener("input", () => { text.value = chooser.value; });
}
const refresh = document.querySelector("[data-preview]");
if (refresh) {
  const form = refresh.form;
  const frame = form.querySelector("iframe");
  let timer;
  const show = () => {
    const typed = [...new FormData(form)].filter(([name, value]) => typeof value === "string" && !/^(csrf|_(?!lang$))/.test(name));
    frame.contentWindow.location.replace(`${refresh.formAction}?${new URLSearchParams(typed)}`);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(show, 500);
  };
  form.addEventListener("input", later);
  form.addEventListener("change", later);
}
