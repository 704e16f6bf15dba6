const form = document.querySelector('form'), box = document.getElementById('q'), shown = document.getElementById('n');
const rows = [...document.querySelectorAll('details.x')];
let texts;
form.hidden = false;
form.addEventListener('submit', e => e.preventDefault());
const filter = () => {
  texts ??= rows.map(r => r.textContent.toLowerCase());
  const words = box.value.toLowerCase().split(/\s+/).filter(w => w && w !== '-');
  let n = 0;
  rows.forEach((r, i) => {
    const on = words.every(w => w[0] === '-' ? !texts[i].includes(w.slice(1)) : texts[i].includes(w));
    r.hidden = !on;
    n += on;
  });
  shown.textContent = n + ' of ' + rows.length;
};
box.addEventListener('input', filter);
document.getElementById('open').addEventListener('click', () => rows.forEach(r => { if (!r.hidden) r.open = true; }));
document.getElementById('close').addEventListener('click', () => rows.forEach(r => { r.open = false; }));
const target = () => {
  const at = document.getElementById(location.hash.slice(1)), row = at && at.closest('details.x');
  if (row) { row.hidden = false; row.open = true; at.scrollIntoView(); }
};
addEventListener('hashchange', target);
target();
shown.textContent = rows.length + ' of ' + rows.length;
