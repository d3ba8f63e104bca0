// Sorts the rows of a table by the column whose title is clicked; again, the other way round.
"use strict";
const value = (row, column) => {
  const text = row.cells[column].textContent.trim();
  const number = parseFloat(text.replace(/,/g, ""));
  return /^[-+\d.]/.test(text) && !Number.isNaN(number) ? number : text;
};
const compare = (a, b) => {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? -1 : 1;
};
const sort = (table, title, column) => {
  const down = title.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  title.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => compare(value(a, column), value(b, column)) * (down ? -1 : 1));
  table.tBodies[0].append(...rows);
};
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((title, column) => {
    title.tabIndex = 0;
    title.addEventListener("click", () => sort(table, title, column));
    title.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort(table, title, column);
    });
  });
}
