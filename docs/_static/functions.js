// The filter above the table of functions: every word that is typed must stand in the row.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("fad-filter");
  if (!box) return;
  const rows = Array.from(document.querySelectorAll("#fad-functions tbody tr"));
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const count = document.getElementById("fad-count");
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, k) => {
      const fits = words.every((word) => texts[k].includes(word));
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = `${shown} of ${rows.length} functions`;
  };
  box.value = new URLSearchParams(location.search).get("q") || "";
  box.addEventListener("input", show);
  show();
});
