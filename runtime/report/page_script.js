"use strict";
document.documentElement.classList.add("js");
const table = document.querySelector("#images table");
const rows = () => Array.from(table.tBodies[0].rows);
const key = (row, i) => { const text = row.cells[i].textContent.trim(); return text === "" ? null : isNaN(+text) ? text : +text; };
const order = (a, b) => (a === null) - (b === null) || (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(b, undefined, { numeric: true }));
table.tHead.rows[0].addEventListener("click", (event) => {
  const head = event.target.closest("th"), i = head.cellIndex, up = !head.classList.contains("sorted") || head.dataset.down === "1";
  table.querySelectorAll("th").forEach((one) => one.classList.remove("sorted"));
  head.classList.add("sorted");
  head.dataset.down = up ? "" : "1";
  table.tBodies[0].append(...rows().sort((a, b) => (up ? 1 : -1) * order(key(a, i), key(b, i)) || a.rowIndex - b.rowIndex));
});
document.querySelector("#find").addEventListener("input", (event) => {
  for (const row of rows()) row.hidden = !row.textContent.toLowerCase().includes(event.target.value.toLowerCase());
});
