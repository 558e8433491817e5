"use strict";
// The page: views as events bring them, a box for SQL, plans in a dialog. Text from the server is
// only ever set as text, so nothing that a row holds can become a part of the page.

const $ = (id) => document.getElementById(id);
const cards = new Map();

function element(tag, options = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") e.className = value;
    else if (name === "text") e.textContent = value;
    else if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

const shown = (value) => (value === null ? "NULL" : String(value));

function cell(value, numeric, fresh) {
  const kinds = [];
  if (numeric) kinds.push("number");
  if (value === null) kinds.push("null");
  if (fresh) kinds.push("fresh");
  return element("td", { class: kinds.join(" "), text: shown(value) });
}

function spark(svg, values) {
  svg.replaceChildren();
  if (values.length < 2) return;
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  const points = values.map((v, i) => `${i},${(1 - (v - low) / span) * 20 + 2}`);
  svg.setAttribute("viewBox", `0 0 ${values.length - 1} 24`);
  svg.setAttribute("preserveAspectRatio", "none");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", "M" + points.join("L"));
  svg.append(path);
}

// Rows are compared with those before by what does not look like a measure: texts and, where there
// are none, their place.
function keyOf(row, columns, index) {
  const key = row.filter((_, i) => !columns[i].numeric);
  return key.length ? JSON.stringify(key) : `#${index}`;
}

function newCard(event) {
  const card = { rows: new Map(), history: [], name: event.name };
  card.facts = element("span", { class: "facts" });
  card.spark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  card.spark.setAttribute("class", "spark");
  card.spark.setAttribute("role", "img");
  card.spark.setAttribute("aria-label", `how ${event.name} has changed`);
  card.head = element("tr");
  card.body = element("tbody");
  card.more = element("p", { class: "more" });
  card.box = element("article", { tabindex: "0", "data-view": event.name },
    element("div", { class: "title" },
      element("h2", { text: event.name }), card.spark, card.facts,
      element("button", { type: "button", text: "Plan", onclick: () => showPlan(event.name) })),
    element("div", { class: "scroll" },
      element("table", {}, element("thead", {}, card.head), card.body)),
    card.more);
  $("views").append(card.box);
  $("empty").hidden = true;
  cards.set(event.name, card);
  return card;
}

function showView(event) {
  const card = cards.get(event.name) ?? newCard(event);
  card.head.replaceChildren(...event.columns.map((c) =>
    element("th", { class: c.numeric ? "number" : "", title: c.type, scope: "col", text: c.name })));
  const first = card.history.length === 0;
  const rows = new Map();
  card.body.replaceChildren(...event.rows.map((row, index) => {
    const key = keyOf(row, event.columns, index);
    const before = card.rows.get(key);
    rows.set(key, row);
    return element("tr", {}, ...row.map((value, i) =>
      cell(value, event.columns[i].numeric, !first && (!before || before[i] !== value))));
  }));
  card.rows = rows;
  const measure = event.columns.findLastIndex((c) => c.numeric);
  const sum = event.rows.reduce((total, row) => total + Number(row[measure] ?? 0), 0);
  card.history = [...card.history, measure < 0 ? event.count : sum].slice(-120);
  spark(card.spark, card.history);
  card.facts.textContent = `${event.count.toLocaleString()} ${event.count === 1 ? "row" : "rows"}, version ${event.version}, ${event.engine}`;
  const left = event.count - event.rows.length;
  card.more.textContent = left > 0 ? `${left.toLocaleString()} more rows` : "";
}

function dropView(name) {
  cards.get(name)?.box.remove();
  cards.delete(name);
  $("empty").hidden = cards.size > 0;
}

function bytes(n) {
  if (!n) return "-";
  return n < 1 << 30 ? `${Math.round(n / (1 << 20))} MiB` : `${(n / (1 << 30)).toFixed(1)} GiB`;
}

function showMetrics(event) {
  const [changes, rows] = event.history.at(-1) ?? [0, 0];
  $("version").textContent = event.version.toLocaleString();
  $("changes").textContent = changes.toLocaleString();
  $("rows").textContent = rows.toLocaleString();
  $("memory").textContent = bytes(event.memory);
  $("readers").textContent = event.readers;
  spark($("throughput"), event.history.map(([c]) => c));
}

function showProblem(event) {
  $("problem").hidden = false;
  $("problem").textContent = (event.view ? `${event.view}: ` : "") + event.message;
}

const actions = { view: showView, metrics: showMetrics, problem: showProblem, dropped: (e) => dropView(e.name) };

function follow() {
  const events = new EventSource("api/events");
  events.onopen = () => light(true, "live");
  events.onmessage = (message) => {
    const event = JSON.parse(message.data);
    actions[event.type]?.(event);
  };
  events.onerror = () => {
    light(false, "no connection; trying again");
    if (events.readyState === EventSource.CLOSED) setTimeout(follow, 2000);
  };
}

function light(on, words) {
  $("light").className = on ? "on" : "off";
  $("state").textContent = words;
}

async function post(path, sql) {
  const answer = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ sql }),
  });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.message), body);
  return body;
}

function showError(problem, sql) {
  const lines = [problem.message];
  if (problem.line) {
    lines.push("", sql.split("\n")[problem.line - 1] ?? "", " ".repeat(Math.max(0, problem.column - 1)) + "^");
    const before = sql.split("\n").slice(0, problem.line - 1).join("\n").length + (problem.line > 1 ? 1 : 0);
    const at = before + problem.column - 1;
    $("sql").focus();
    $("sql").setSelectionRange(at, at);
  }
  $("error").textContent = lines.join("\n");
  $("error").hidden = false;
}

async function attempt(work) {
  const sql = $("sql").value;
  $("error").hidden = true;
  $("answer").replaceChildren();
  if (!sql.trim()) return;
  const buttons = [$("run"), $("plan")];
  for (const b of buttons) b.disabled = true;
  try {
    await work(sql);
  } catch (problem) {
    showError(problem, sql);
  } finally {
    for (const b of buttons) b.disabled = false;
  }
}

const run = () => attempt(async (sql) => {
  const answer = await post("api/statements", sql);
  if (!answer.columns.length) {
    $("answer").replaceChildren(element("p", { text: `done, version ${answer.version}` }));
    return;
  }
  const head = element("tr", {}, ...answer.columns.map((c) => element("th", { scope: "col", text: c.name })));
  const rows = answer.rows.slice(0, 500).map((row) => element("tr", {}, ...row.map((v) => cell(v, false, false))));
  $("answer").replaceChildren(element("div", { class: "scroll" },
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))));
});

const plan = () => attempt(async (sql) => {
  const { plans } = await post("api/plan", sql);
  openDetails("plan", plans.join("\n\n\n") || "nothing that is kept", null);
});

function openDetails(title, text, graph) {
  $("details-title").textContent = title;
  $("text").textContent = text;
  $("graph").replaceChildren(...(graph ? [element("img", { src: graph, alt: `the maps of ${title}` })] : []));
  $("details").showModal();
}

async function showPlan(name) {
  const path = `api/views/${encodeURIComponent(name)}`;
  const answer = await fetch(`${path}/plan`);
  openDetails(name, await answer.text(), `${path}/graph.svg`);
}

function move(step) {
  const boxes = [...cards.values()].map((c) => c.box);
  const at = boxes.indexOf(document.activeElement);
  boxes[Math.min(Math.max(at + step, 0), boxes.length - 1)]?.focus();
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
}

document.addEventListener("keydown", (e) => {
  if (e.target === $("sql")) {
    if (e.key === "Enter" && e.ctrlKey) {
      e.preventDefault();
      (e.shiftKey ? plan : run)();
    } else if (e.key === "Escape") $("sql").blur();
    return;
  }
  if ($("details").open || e.ctrlKey || e.metaKey || e.altKey) return;
  const keys = {
    "/": () => $("sql").focus(), j: () => move(1), k: () => move(-1), t: theme,
    p: () => document.activeElement.dataset.view && showPlan(document.activeElement.dataset.view),
  };
  if (keys[e.key]) {
    e.preventDefault();
    keys[e.key]();
  }
});
$("run").addEventListener("click", run);
$("plan").addEventListener("click", plan);
$("close").addEventListener("click", () => $("details").close());
$("theme").addEventListener("click", theme);
follow();
