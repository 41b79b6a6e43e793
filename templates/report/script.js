"use strict";
for (const steps of document.querySelectorAll(".steps")) {
  const items = [...steps.querySelectorAll(".step")];
  const controls = steps.querySelector(".controls");
  const range = steps.querySelector("input");
  const told = steps.querySelector("output");
  if (items.length < 2) continue;
  const show = (n) => {
    const at = Math.min(items.length, Math.max(1, n));
    items.forEach((item, k) => { item.hidden = k + 1 !== at; });
    range.value = at;
    const title = items[at - 1].dataset.title;
    range.setAttribute("aria-valuetext", `${at} of ${items.length}: ${title}`);
    told.textContent = `${at} of ${items.length}`;
    for (const button of controls.querySelectorAll("button")) {
      const to = at + Number(button.dataset.by);
      button.disabled = to < 1 || to > items.length;
    }
  };
  range.addEventListener("input", () => show(Number(range.value)));
  for (const button of controls.querySelectorAll("button")) {
    button.addEventListener("click", () => show(Number(range.value) + Number(button.dataset.by)));
  }
  controls.hidden = false;
  show(1);
}
for (const search of document.querySelectorAll(".search")) {
  const words = search.querySelector("input");
  const verdict = search.querySelector("select");
  const told = search.querySelector("output");
  const rows = [...document.getElementById(search.dataset.of).tBodies[0].rows];
  const filter = () => {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const holds = !verdict.value || row.dataset.has.split(" ").includes(verdict.value);
      row.hidden = !(holds && asked.every((word) => text.includes(word)));
      shown += row.hidden ? 0 : 1;
    }
    told.textContent = `${shown} of ${rows.length} shown`;
  };
  words.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  search.hidden = false;
  filter();
}
const open = (id) => {
  const target = id && document.getElementById(decodeURIComponent(id));
  for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", () => open(location.hash.slice(1)));
open(location.hash.slice(1));
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open], .long)")];
  for (const details of closed) details.open = true;
});
addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
