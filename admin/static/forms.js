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
