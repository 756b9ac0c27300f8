// The theme: light, dark, or the system's.
import { h } from "./dom.js";

const place = "baton-theme";
const names = ["auto", "light", "dark"];

/** @param {string} name */
function apply(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

apply(localStorage.getItem(place) ?? "auto");

/** The switch. */
export function theme() {
  const now = localStorage.getItem(place) ?? "auto";
  const select = h(
    "select",
    { "aria-label": "Colours", class: "theme" },
    ...names.map((name) => h("option", { value: name, selected: name === now }, name)),
  );
  select.addEventListener("change", () => {
    localStorage.setItem(place, select.value);
    apply(select.value);
  });
  return select;
}
