"use strict";
(() => {
  const table = document.getElementById("phases");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const filter = document.getElementById("filter");
  const status = document.getElementById("status");
  const count = document.getElementById("count");

  const sift = () => {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = (!status.value || row.dataset.status === status.value) && row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    count.textContent = `${shown} of ${rows.length} phases`;
  };

  const value = (row, column, kind) => {
    const cell = row.cells[column];
    return kind === "number" ? Number(cell.dataset.value) : cell.textContent.toLowerCase();
  };

  const sort = (button) => {
    const head = button.closest("th");
    const column = head.cellIndex;
    const upwards = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    }
    head.setAttribute("aria-sort", upwards ? "ascending" : "descending");
    const kind = button.dataset.kind;
    const sorted = rows.slice().sort((one, other) => {
      const [a, b] = [value(one, column, kind), value(other, column, kind)];
      return (a < b ? -1 : a > b ? 1 : 0) * (upwards ? 1 : -1);
    });
    body.append(...sorted);
  };

  const fold = (open) => {
    for (const part of document.querySelectorAll("#details details")) part.open = open;
  };

  const reveal = () => {
    const id = location.hash.slice(1);
    const target = id ? document.getElementById(id) : null;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    if (target) target.scrollIntoView();
  };

  for (const part of document.querySelectorAll(".controls")) part.hidden = false;
  for (const button of table.tHead.querySelectorAll("button")) button.addEventListener("click", () => sort(button));
  filter.addEventListener("input", sift);
  status.addEventListener("change", sift);
  document.getElementById("unfold").addEventListener("click", () => fold(true));
  document.getElementById("fold").addEventListener("click", () => fold(false));
  window.addEventListener("hashchange", reveal);
  document.addEventListener("keydown", (event) => {
    const typing = /^(?:INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "Escape" && document.activeElement === filter) {
      filter.value = "";
      sift();
    }
  });
  reveal();
})();
