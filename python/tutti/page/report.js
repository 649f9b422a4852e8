"use strict";
// Without this script the page shows the same; it adds sorting and copying.
const table = document.getElementById("calls");
if (table) {
  const body = table.tBodies[0];
  const cell = (row, index) => row.cells[index].dataset.value ?? row.cells[index].textContent.trim();
  Array.from(table.tHead.rows[0].cells).forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    const isNumber = head.classList.contains("n");
    button.addEventListener("click", () => {
      const former = head.getAttribute("aria-sort");
      const isUp = former ? former === "descending" : !isNumber;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      const rows = Array.from(body.rows).sort((a, b) => {
        const [x, y] = [cell(a, index), cell(b, index)];
        return (isUp ? 1 : -1) * (isNumber ? x - y : x.localeCompare(y));
      });
      body.append(...rows);
    });
  });
}
for (const block of document.querySelectorAll(".advice pre")) {
  if (!navigator.clipboard) break; // absent in pages that have no secure origin
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "copy";
  const text = block.textContent;
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(text).then(() => { button.textContent = "copied"; });
  });
  block.append(button);
}
