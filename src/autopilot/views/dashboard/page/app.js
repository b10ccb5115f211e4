// The dashboard's page. Everything shown is set as text, never as markup; nothing here decides anything.

const $ = (id) => document.getElementById(id);
const WORDS = {
  not_started: "not started", in_progress: "at work", completed: "completed", failed: "failed", skipped: "skipped",
  blocked: "blocked", needs_human_verification: "needs a person", deferred: "deferred",
};
const SIGNS = { not_started: "○", in_progress: "◐", completed: "●", failed: "✕", skipped: "–", blocked: "✕", needs_human_verification: "?" };
const LOG_LINES = 300, NOW_STEPS = 6;
const token = readToken();
const view = { projects: [], newest: {}, may: [], parts: new Map(), project: "1", run: "latest", shown: "", stream: null, rows: new Map() };

function readToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return given || sessionStorage.getItem("token") || "";
}

function make(tag, { text, name, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Talking to the server

async function ask(path, more = {}) {
  const headers = { Authorization: `Bearer ${token}`, ...more.headers };
  return fetch(path, { ...more, headers, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
}

async function get(path) {
  const answer = await ask(path);
  const told = await answer.json();
  if (!answer.ok) throw new Error([told.error, told.why, told.do].filter(Boolean).join(" "));
  return told;
}

async function act(deed, body, button) {
  button.disabled = true;
  try {
    const answer = await ask(`/api/projects/${encodeURIComponent(view.project)}/${deed}`, {
      method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
    });
    const told = await answer.json();
    notice(answer.ok ? told.said : [told.error, told.why, told.do].filter(Boolean).join(" "), answer.ok);
    return answer.ok;
  } catch (error) {
    notice(`The dashboard did not answer: ${error.message}`, false);
    return false;
  } finally {
    button.disabled = false;
  }
}

function notice(text, good) {
  $("notice").hidden = !text;
  $("notice").classList.toggle("good", Boolean(good));
  put($("notice"), text || "");
}

async function watch() {
  view.stream?.abort();
  const mine = (view.stream = new AbortController());
  let pause = 500;
  while (!mine.signal.aborted) {
    try {
      const path = `/api/projects/${encodeURIComponent(view.project)}/runs/${encodeURIComponent(view.run)}/watch`;
      const answer = await ask(path, { signal: mine.signal });
      if (answer.status === 401) return lost("This link is no longer valid: start `autopilot serve` again and open the address it prints.");
      if (!answer.ok) throw new Error((await answer.json()).error);
      pause = 500;
      connected("live", "live");
      await read(answer.body.getReader(), mine.signal);
    } catch (error) {
      if (mine.signal.aborted) return;
      connected("not connected", "lost");
      await new Promise((go) => setTimeout(go, pause));
      pause = Math.min(pause * 2, 8000);
    }
  }
}

function lost(why) {
  connected("not connected", "lost");
  notice(why, false);
}

function connected(text, name) {
  $("link").className = `pill ${name}`;
  put($("link"), text);
}

async function read(reader, signal) {
  const decoder = new TextDecoder();
  let held = "";
  while (!signal.aborted) {
    const { done, value } = await reader.read();
    if (done) return;
    held += decoder.decode(value, { stream: true });
    const events = held.split("\n\n");
    held = events.pop();
    for (const event of events) if (!signal.aborted) hear(event);
    draw();
  }
}

function hear(event) {
  const fields = { event: "", data: "" };
  for (const line of event.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  if (!fields.data) return;
  const told = JSON.parse(fields.data);
  if (fields.event === "may") view.may = told;
  else if (fields.event === "projects") {
    view.projects = told.parts.projects ?? view.projects;
    view.newest = told.parts.newest ?? view.newest;
    changed.add("pickers").add("asked").add("run");
  } else hearRun(told);
}

const changed = new Set();

function hearRun(told) {
  if (told.whole) {
    forms.clear();
    view.parts.clear();
    view.rows.clear();
    $("phases").replaceChildren();
    $("log").replaceChildren();
    for (const name of ["now", "asked", "warnings"]) changed.add(name);
  }
  for (const [name, part] of Object.entries(told.parts)) {
    if (part === null) view.parts.delete(name);
    else view.parts.set(name, part);
    const kind = name.split("/", 1)[0];
    if (kind === "phase") changed.add(name).add("asked");
    else changed.add(kind === "open" ? "now" : kind);
  }
  writeLog(told.log);
}

// Drawing: only what changed

function draw() {
  if (changed.has("pickers")) drawPickers();
  for (const name of changed) if (name.startsWith("phase/")) drawPhase(view.parts.get(name));
  if (changed.has("run") || changed.has("asked")) drawRun();
  if (changed.has("asked")) drawAsked();
  if (changed.has("now")) drawNow();
  if (changed.has("warnings")) drawWarnings();
  changed.clear();
}

function drawPickers() {
  fill($("project"), view.projects.map((p) => [p.id, p.trouble ? `${p.name} (cannot be read)` : p.name]), view.project);
  const project = ours();
  const runs = (project?.runs ?? []).map((r) => [r.run, `${r.run.replace(/^run-/, "")} · ${r.status} · ${r.over}/${r.total}`]);
  fill($("run"), [["latest", "newest"], ...runs], view.run);
  if (project?.trouble) notice(project.trouble, false);
}

function fill(select, options, chosen) {
  const wanted = JSON.stringify(options);
  if (select.dataset.options === wanted) return;
  select.dataset.options = wanted;
  select.replaceChildren(...options.map(([value, text]) => make("option", { value, text, selected: value === chosen })));
  select.value = chosen;
}

const ours = () => view.projects.find((p) => p.id === view.project);

function drawRun() {
  const run = view.parts.get("run");
  if (!run) return;
  const working = ours()?.working === run.run;
  const status = run.status === "running" && !working ? "interrupted" : run.status;
  put($("run-title"), `${ours()?.name ?? ""} · ${run.run}`);
  document.title = `${status} · ${ours()?.name ?? "Autopilot"}`;
  $("state").className = `pill ${status}`;
  put($("state"), status === "running" ? "at work" : status);
  put($("reason"), [run.reason, run.do].filter(Boolean).join(" "));
  const over = run.total - (run.counts.not_started ?? 0) - (run.counts.in_progress ?? 0);
  put($("done"), `${over} of ${run.total}`);
  $("done-bar").value = run.total ? over / run.total : 0;
  put($("counts"), Object.entries(run.counts).map(([state, n]) => `${n} ${WORDS[state] ?? state}`).join(", "));
  drawScore(run.threshold);
  for (const spend of run.spend) drawSpend(spend);
  drawWaiting(run.waiting);
  drawDeeds(run, status, working);
}

function drawScore(threshold) {
  const scores = [...view.parts].filter(([name, row]) => name.startsWith("phase/") && row.score !== null).map(([, row]) => row.score);
  put($("score"), scores.length ? (scores.reduce((a, b) => a + b, 0) / scores.length).toFixed(1) : "-");
  put($("score-note"), scores.length ? `mean of ${scores.length}, lowest ${Math.min(...scores).toFixed(1)}, bar ${threshold}` : `bar ${threshold}`);
}

function drawSpend({ unit, used, cap }) {
  const shown = { usd: money, tokens: short, minutes: (n) => duration(n * 60) }[unit];
  put($(unit), used === null ? "unknown" : shown(used));
  put($(`${unit}-note`), used === null ? "no agent told" : `of ${shown(cap)}`);
  $(`${unit}-bar`).value = used && cap ? Math.min(1, used / cap) : 0;
}

function drawWaiting(waiting) {
  $("waiting").hidden = !waiting || waiting.kind === "person";
  if (!waiting || waiting.kind === "person") return;
  const left = waiting.until ? (Date.parse(waiting.until) - Date.now()) / 1000 : 0;
  put($("waiting-text"), `${capital(waiting.why)}${left > 0 ? `, ${duration(left)} left` : ""}.`);
}

function drawDeeds(run, status, working) {
  const newest = view.newest[view.project] === run.run;
  const resumable = newest && !working && ["interrupted", "paused", "failed"].includes(status);
  const key = JSON.stringify([run.run, working, resumable, view.may]);
  if ($("deeds").dataset.key === key) return;
  $("deeds").dataset.key = key;
  const shown = [];
  if (working) shown.push(view.may.includes("stop") ? deed("Stop", "stop") : null, copy("autopilot stop"));
  if (resumable) shown.push(view.may.includes("resume") ? deed("Resume", "resume", "main") : null, copy("autopilot resume"));
  $("deeds").replaceChildren(...shown.filter(Boolean));
}

function deed(text, name, look = "") {
  const button = make("button", { type: "button", text, name: look, onclick: () => act(name, {}, button) });
  return button;
}

function copy(command) {
  const button = make("button", {
    type: "button", text: `Copy: ${command}`,
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(command);
        button.textContent = "Copied";
      } catch {
        button.textContent = command;
      }
      setTimeout(() => { button.textContent = `Copy: ${command}`; }, 1500);
    },
  });
  return button;
}

function drawPhase(row) {
  if (!row) return;
  let shown = view.rows.get(row.id);
  if (!shown) {
    shown = {
      status: make("span"), id: make("span", { name: "right" }), name: make("span", { name: "name" }),
      number: make("span", { name: "number" }), why: make("span", { name: "why" }),
    };
    shown.button = make("button", { type: "button", name: "phase", onclick: () => lookInside(row.id) },
      shown.status, shown.id, shown.name, shown.number, shown.why);
    shown.item = make("li", {}, shown.button);
    view.rows.set(row.id, shown);
    place(row.id, shown.item);
  }
  const word = WORDS[row.status] ?? row.status;
  shown.status.className = `status ${row.status}`;
  put(shown.status, `${SIGNS[row.status] ?? "·"} ${word}`);
  put(shown.id, row.id);
  put(shown.name, row.name);
  const facts = [row.score === null ? null : row.score.toFixed(1), row.seconds ? duration(row.seconds) : null, row.tokens === null ? null : `${short(row.tokens)} tok`];
  put(shown.number, facts.filter(Boolean).join(" · "));
  put(shown.why, [row.reason, ...row.marks, row.passes > 1 ? `${row.passes} passes` : ""].filter(Boolean).join(" · "));
  shown.why.hidden = !shown.why.textContent;
  shown.button.setAttribute("aria-label", `Phase ${row.id} ${row.name}: ${word}${row.score === null ? "" : `, score ${row.score.toFixed(1)}`}`);
  shown.item.hidden = !fits(row);
}

function place(id, item) {
  const list = $("phases");
  const key = (text) => (text === "completion" ? [Infinity] : text.split(/[.-]/).map(Number));
  const less = (a, b) => { for (let i = 0; i < Math.max(a.length, b.length); i++) if ((a[i] ?? -1) !== (b[i] ?? -1)) return (a[i] ?? -1) < (b[i] ?? -1); return false; };
  item.dataset.id = id;
  const last = list.lastElementChild;
  if (!last || !less(key(id), key(last.dataset.id))) return list.append(item);
  for (const other of list.children) if (less(key(id), key(other.dataset.id))) return list.insertBefore(item, other);
  return list.append(item);
}

function fits(row) {
  const wanted = $("filter").value.trim().toLowerCase();
  return !wanted || `${row.id} ${row.name} ${WORDS[row.status] ?? row.status}`.toLowerCase().includes(wanted);
}

function drawAsked() {
  const waiting = [...view.parts].filter(([name, row]) => name.startsWith("phase/") && row.question).map(([, row]) => row);
  const questions = ours()?.questions ?? [];
  const key = JSON.stringify([waiting.map((row) => [row.id, row.question]), questions, view.may]);
  $("asked").hidden = !waiting.length && !questions.length;
  if ($("asked").dataset.key === key) return;
  $("asked").dataset.key = key;
  const shown = [
    ...waiting.map((row) => kept(JSON.stringify([row.id, row.question, view.may]), () => verdictForm(row))),
    ...questions.map((question) => kept(JSON.stringify([question, view.may]), () => questionForm(question))),
  ];
  for (const [place, form] of shown.entries()) if ($("asked-list").children[place] !== form) $("asked-list").insertBefore(form, $("asked-list").children[place] ?? null);
  while ($("asked-list").childElementCount > shown.length) $("asked-list").lastElementChild.remove();
}

// A form stays the same element while it is asked for, so that what was typed into it is not lost.
const forms = new Map();

function kept(key, build) {
  if (!forms.has(key)) forms.set(key, build());
  return forms.get(key);
}

function verdictForm(row) {
  const head = make("p", {}, make("strong", { text: `Phase ${row.id}: ${row.name}` }));
  const asked = make("p", { text: row.question });
  const command = `autopilot verdict ${row.id} pass`;
  if (!view.may.includes("verdict")) return make("form", {}, head, asked, make("div", {}, copy(command)));
  const choices = [["pass", "It is right"], ["issues", "It has issues"], ["fail", "It is wrong"]].map(([value, text], n) =>
    make("label", {}, make("input", { type: "radio", value, required: true, checked: n === 0 }), ` ${text}`));
  for (const label of choices) label.firstChild.name = `verdict-${row.id}`;
  const issues = make("textarea", { "aria-label": `What is wrong with phase ${row.id}, one issue a line`, placeholder: "What is wrong, one issue a line" });
  const button = make("button", { type: "submit", name: "main", text: "Give verdict" });
  const form = make("form", { onsubmit: async (event) => {
    event.preventDefault();
    const verdict = choices.find((label) => label.firstChild.checked).firstChild.value;
    const lines = issues.value.split("\n").map((line) => line.trim()).filter(Boolean);
    await act("verdict", { phase: row.id, verdict, issues: lines }, button);
  } }, head, asked, make("fieldset", { "aria-label": `Verdict on phase ${row.id}` }, ...choices), issues, make("div", { name: "line" }, button, copy(command)));
  return form;
}

function questionForm(question) {
  const head = make("p", {}, make("strong", { text: question.phase ? `Phase ${question.phase}: ${question.text}` : question.text }));
  if (!view.may.includes("answer")) return make("form", {}, head);
  const answer = make("textarea", { "aria-label": `Answer to: ${question.text}`, required: true });
  const options = question.options.map((option) => make("button", { type: "button", text: option, onclick: () => { answer.value = option; } }));
  const button = make("button", { type: "submit", name: "main", text: "Answer" });
  return make("form", { onsubmit: async (event) => {
    event.preventDefault();
    await act("answer", { question: question.id, text: answer.value }, button);
  } }, head, make("div", { name: "line" }, ...options), answer, make("div", {}, button));
}

function drawNow() {
  const focused = document.activeElement?.dataset?.key;
  const open = [...view.parts].filter(([name]) => name.startsWith("open/")).map(([, pass]) => pass);
  $("now").hidden = !open.length;
  $("now-list").replaceChildren(...open.map((pass) => {
    const more = [pass.cycle ? `remediation ${pass.cycle}` : "", pass.mode !== "initial" ? pass.mode : ""].filter(Boolean).join(", ");
    const head = make("p", { name: "line" }, make("strong", { text: `${pass.id === "completion" ? "" : `Phase ${pass.id}: `}${pass.name}` }),
      make("span", { name: "quiet", text: more }), make("span", { name: "quiet since", "data-since": pass.at }));
    return make("div", { name: "pass" }, head, stepTable(pass.steps.slice(-NOW_STEPS), pass.id, pass.number));
  }));
  if (focused) $("now-list").querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  tick();
}

function stepTable(steps, phase, number) {
  const head = make("tr", {}, ...["Step", "Time", "Outcome", "Calls"].map((text) => make("th", { text, scope: "col" })));
  const rows = steps.map((step) => {
    const time = step.seconds === null
      ? make("span", { name: "since in_progress", "data-since": step.at, "data-usual": step.usual ?? "" })
      : make("span", { text: duration(step.seconds) });
    const outcome = step.seconds === null ? "going on" : [{ Advance: "went on", Retry: "again", AskHuman: "asks a person", Stop: "gave up" }[step.verdict] ?? step.verdict, step.because].filter(Boolean).join(": ");
    return make("tr", {}, make("td", { text: step.step.replaceAll("_", " ") + (step.task ? ` ${step.task}` : "") }), make("td", {}, time),
      make("td", { text: outcome }), make("td", { name: "calls" }, ...step.calls.map((call) => callButton(call, phase, number))));
  });
  return make("table", { name: "steps" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

function callButton(call, phase, number) {
  const cost = [call.seconds === null ? null : duration(call.seconds), call.tokens === null ? null : `${short(call.tokens)} tok`, call.usd === null ? null : money(call.usd)];
  const text = `${call.role.replaceAll("_", " ")}${call.outcome && call.outcome !== "ok" ? ` (${call.outcome.replaceAll("_", " ")})` : ""}`;
  const button = make("button", { type: "button", "data-key": `${phase}/${number}/${call.at}`, onclick: () => readCall(call, phase, number) }, text);
  if (call.seconds === null) button.append(make("span", { name: "since in_progress", "data-since": call.at, "data-before": ", " }));
  else button.append(` ${cost.filter(Boolean).join(", ")}`);
  return button;
}

function drawWarnings() {
  const told = view.parts.get("warnings") ?? [];
  $("warnings").hidden = !told.length;
  $("warning-list").replaceChildren(...[...told].reverse().map((line) =>
    make("li", {}, make("time", { datetime: line.at, text: `${clock(line.at)} ` }), `${line.phase ? `Phase ${line.phase}: ` : ""}${line.text}`)));
}

function writeLog(lines) {
  const list = $("log");
  if (!lines.length) return;
  const following = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.append(...lines.map((line) => make("li", {}, make("time", { datetime: line.at, text: clock(line.at) }), make("span", { text: line.text }))));
  while (list.childElementCount > LOG_LINES) list.firstElementChild.remove();
  if (following) list.scrollTop = list.scrollHeight;
}

// Looking inside

const place_of = (phase) => `/api/projects/${encodeURIComponent(view.project)}/runs/${encodeURIComponent(view.parts.get("run").run)}/phases/${encodeURIComponent(phase)}`;

async function lookInside(phase) {
  put($("inside-title"), `Phase ${phase}`);
  $("inside-body").replaceChildren(make("p", { text: "Reading ..." }));
  if (!$("inside").open) $("inside").showModal();
  try {
    const seen = await get(place_of(phase));
    put($("inside-title"), phase === "completion" ? "Completion" : `Phase ${seen.id}: ${seen.name}`);
    const row = view.parts.get(`phase/${phase}`);
    const about = [seen.goal, row?.reason].filter(Boolean).map((text) => make("p", { text, name: "reason" }));
    const criteria = seen.criteria.length ? [make("h3", { text: "Success criteria" }), make("ul", {}, ...seen.criteria.map((text) => make("li", { text })))] : [];
    const passes = seen.passes.map((pass) => make("div", { name: "pass" },
      make("h3", { text: `Pass ${pass.number + 1}` }), stepTable(pass.steps, phase, pass.number)));
    const none = seen.passes.length ? [] : [make("p", { name: "quiet", text: "It has not been started in this run." })];
    $("inside-body").replaceChildren(...about, ...criteria, ...none, ...passes);
    tick();
  } catch (error) {
    $("inside-body").replaceChildren(make("p", { text: error.message }));
  }
}

async function readCall(call, phase, number) {
  put($("text-title"), `${call.role.replaceAll("_", " ")}, phase ${phase}`);
  $("text-parts").replaceChildren();
  if (!$("text").open) $("text").showModal();
  await readPart(`${place_of(phase)}/passes/${number}/calls/${call.entry}`, "", 0);
}

async function readPart(path, part, offset) {
  try {
    const seen = await get(`${path}?part=${encodeURIComponent(part)}&offset=${offset}`);
    const page = seen.page;
    if (!page) return showText(seen.outcome ? "Nothing was kept of this call." : "The call is going on; what was said is kept when it ends.", "", null);
    $("text-parts").replaceChildren(...Object.entries(seen.sizes).map(([title, size]) => make("button", {
      type: "button", text: `${title} (${short(size)})`, "aria-pressed": String(title === page.title), onclick: () => readPart(path, title, 0),
    })));
    showText(page.offset ? $("text-body").textContent + page.text : page.text,
      `${Math.min(page.offset + page.text.length, page.total)} of ${page.total} letters`, page.next === null ? null : () => readPart(path, page.title, page.next));
  } catch (error) {
    showText(error.message, "", null);
  }
}

function showText(text, size, more) {
  put($("text-body"), text);
  put($("text-size"), size);
  $("text-more").hidden = !more;
  $("text-more").onclick = more;
}

// Words and numbers

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const money = (n) => `$${n.toFixed(2)}`;
const short = (n) => (n >= 1e6 ? `${(n / 1e6).toFixed(1)}M` : n >= 1e4 ? `${Math.round(n / 1e3)}k` : String(Math.round(n)));
const clock = (at) => new Date(at).toLocaleTimeString([], { hour12: false });

function duration(seconds) {
  if (seconds > 0 && seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}m ${String(whole % 60).padStart(2, "0")}s` : `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

function tick() {
  for (const element of document.querySelectorAll("[data-since]")) {
    const gone = (Date.now() - Date.parse(element.dataset.since)) / 1000;
    const left = Number(element.dataset.usual || 0) - gone;
    put(element, `${element.dataset.before ?? ""}${duration(Math.floor(gone) || 0)}${left > 1 ? `, about ${duration(left)} left` : ""}`);
  }
  drawWaiting(view.parts.get("run")?.waiting);
}

// Keys and clicks

function choose(project, run) {
  Object.assign(view, { project, run });
  notice("");
  watch();
}

function move(by) {
  const rows = [...document.querySelectorAll("li:not([hidden]) > .phase")];
  const next = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(document.activeElement) + by))];
  next?.focus();
}

$("project").addEventListener("change", (event) => choose(event.target.value, "latest"));
$("run").addEventListener("change", (event) => choose(view.project, event.target.value));
$("close").addEventListener("click", () => $("inside").close());
$("text-close").addEventListener("click", () => $("text").close());
$("filter").addEventListener("input", () => {
  for (const [id, shown] of view.rows) shown.item.hidden = !fits(view.parts.get(`phase/${id}`));
  $("no-phases").hidden = !$("phases").childElementCount || Boolean(document.querySelector("#phases > li:not([hidden])"));
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "/") { event.preventDefault(); $("filter").focus(); }
});
setInterval(tick, 1000);
if (token) watch();
else lost("The address lacks its token: open the one that `autopilot serve` printed.");
