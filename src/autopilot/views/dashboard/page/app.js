// The dashboard's page. Everything shown is set as text, never as markup; nothing here decides anything.

const $ = (id) => document.getElementById(id);
const WORDS = {
  not_started: "not started", in_progress: "in progress", completed: "completed", failed: "failed", skipped: "skipped",
  blocked: "blocked", needs_human_verification: "needs a person", deferred: "deferred",
  already_satisfied: "already satisfied", below_bar: "below the bar",
};
const SIGNS = { not_started: "○", in_progress: "◐", completed: "●", failed: "✕", skipped: "–", blocked: "✕", needs_human_verification: "?", already_satisfied: "?", below_bar: "◒" };
const TASKS = { waiting: "○", working: "◐", reviewing: "◐", fixing: "◐", verified: "●", failed: "✕" };
const ENDS = { done: "went on", back: "again", person: "asks a person", stopped: "gave up" };
const MARKS = { "": "◐", done: "●", back: "↺", person: "?", stopped: "✕" };
const LOG_LINES = 300, END = "completion";
const token = readToken();
const view = { projects: [], newest: {}, may: [], parts: new Map(), project: "1", run: "latest", stream: null, rows: new Map(), ahead: 0, unfolded: new Map() };

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
      // Times are the server's; a viewer elsewhere may have another idea of what time it is.
      const apart = Date.parse(answer.headers.get("date")) - Date.now();
      view.ahead = Math.abs(apart) > 3000 ? apart : 0;
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
    for (const name of ["now", "asked", "cautions", "scorecard", "waits"]) changed.add(name);
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
  if (changed.has("order")) putInOrder(view.parts.get("order") ?? []);
  if (changed.has("run") || changed.has("asked")) drawRun();
  if (changed.has("asked")) drawAsked();
  if (changed.has("now") || changed.has("doing")) drawNow();
  if (changed.has("cautions")) drawWarnings();
  if (changed.has("scorecard")) drawScorecard();
  if (changed.has("waits")) drawWaits();
  changed.clear();
}

function drawPickers() {
  fill($("project"), view.projects.map((p) => [p.id, p.trouble ? `${p.name} (cannot be read)` : p.name]), view.project);
  const project = ours();
  const runs = (project?.runs ?? []).map((r) => [r.run, `${r.run.replace(/^run-/, "")} · ${r.state} · ${r.over}/${r.total}`]);
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

const isWorking = (run) => ours()?.working === run?.run;

function statusOf(run) {
  return run.state === "running" && !isWorking(run) ? "interrupted" : run.state;
}

// The moment that clocks show: while nobody works on the run, its newest entry.
function moment() {
  const run = view.parts.get("run");
  return !run || statusOf(run) === "running" ? Date.now() + view.ahead : Date.parse(run.last);
}

// A step that was cut off is done again from the moment the run was resumed.
function sinceResumed(began) {
  const resumed = view.parts.get("run")?.resumed ?? "";
  return began > resumed ? began : resumed;
}

function drawRun() {
  const run = view.parts.get("run");
  if (!run) return;
  const working = isWorking(run), status = statusOf(run);
  if (view.status !== status) changed.add("now");
  view.status = status;
  put($("run-title"), `${ours()?.name ?? ""} · ${run.run}`);
  put($("who"), [[run.agent, run.model].filter(Boolean).join(" "), run.branch ? `on ${run.branch}` : ""].filter(Boolean).join(" "));
  document.title = `${status} · ${ours()?.name ?? "Autopilot"}`;
  $("state").className = `pill ${status}`;
  put($("state"), status);
  put($("reason"), [run.reason, run.do ? `To continue: ${run.do}` : ""].filter(Boolean).join(" · "));
  const over = run.total - (run.counts.not_started ?? 0) - (run.counts.in_progress ?? 0);
  put($("done"), `${over} of ${run.total}`);
  $("done-bar").value = run.total ? over / run.total : 0;
  put($("counts"), Object.entries(run.counts).map(([state, n]) => `${n} ${WORDS[state] ?? state}`).join(", "));
  timed($("left"), status === "running" ? run.ahead : null);
  drawScore(run.threshold);
  for (const spend of run.spend) drawSpend(spend, run.untold);
  goOn(status === "running" ? run : null);
  drawDeeds(run, status, working);
}

function drawScore(threshold) {
  const scores = [...view.parts].filter(([name, row]) => name.startsWith("phase/") && row.target && !row.parent && row.score !== null).map(([, row]) => row.score);
  put($("score"), scores.length ? (scores.reduce((a, b) => a + b, 0) / scores.length).toFixed(1) : "-");
  put($("score-note"), scores.length ? `mean of ${scores.length}, lowest ${Math.min(...scores).toFixed(1)}, bar ${threshold}` : `bar ${threshold}`);
}

function drawSpend({ unit, used, cap }, untold) {
  const shown = { usd: money, tokens: short, minutes: (n) => duration(n * 60) }[unit];
  put($(unit), used === null ? "unknown" : shown(used));
  put($(`${unit}-note`), used === null ? "no agent told" : `${cap === null ? "no cap" : `of ${shown(cap)}`}${unit === "usd" && untold ? `; ${untold} ${untold === 1 ? "call" : "calls"} told no price` : ""}`);
  $(`${unit}-bar`).value = used && cap ? Math.min(1, used / cap) : 0;
}

// The time of a run at work goes on between two of its entries.
function goOn(run) {
  const used = run?.spend.find((spend) => spend.unit === "minutes").used ?? 0;
  if (run) $("minutes").dataset.since = new Date(Date.parse(run.last) - used * 60000).toISOString();
  else delete $("minutes").dataset.since;
}

// What is waited for; what a person is asked has forms of its own.
function drawWaits() {
  const waits = (view.parts.get("waits") ?? []).filter((wait) => wait.kind !== "person");
  $("waiting").hidden = !waits.length;
  $("waiting-list").replaceChildren(...waits.map((wait) => make("li", {}, capital(wait.what), make("span", { "data-until": wait.until || null }))));
  tick();
}

function drawScorecard() {
  const card = view.parts.get("scorecard");
  $("scores").hidden = !card;
  if (!card) return;
  put($("scores-title"), `Scores of phase ${card.phase}: ${card.score.toFixed(1)}`);
  $("score-list").replaceChildren(...card.rows.map(([text, score]) => make("li", {},
    make("span", { text }), make("meter", { min: 0, max: 10, value: score, "aria-label": text }), make("span", { name: "right", text: score.toFixed(1) }))));
}

// An estimate that runs down by itself until something new is known.
function timed(element, ahead) {
  for (const key of ["at", "left", "least"]) {
    if (ahead && ahead.left !== null) element.dataset[key] = ahead[key] ?? 0;
    else delete element.dataset[key];
  }
  if (!ahead || ahead.left === null) put(element, "");
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

// `worded` gives the command as it is to be when the button is pressed.
function copy(command, worded = () => command) {
  const button = make("button", {
    type: "button", text: `Copy: ${command}`,
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(worded());
        button.textContent = "Copied";
      } catch {
        button.textContent = worded();
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
    shown.item.dataset.id = row.id;
    $("phases").append(shown.item);
  }
  const word = WORDS[row.state] ?? row.state;
  shown.status.className = `status ${row.state}`;
  shown.button.classList.toggle("aside", !row.target && row.id !== END);
  put(shown.status, `${SIGNS[row.state] ?? "·"} ${word}`);
  put(shown.id, row.id === END ? "" : row.id);
  put(shown.name, row.id === END ? capital(row.name) : row.name);
  const facts = [row.score === null ? null : row.score.toFixed(1), row.seconds ? duration(row.seconds) : null, row.tokens === null ? null : `${short(row.tokens)} tok`, row.usd === null ? null : money(row.usd)];
  put(shown.number, facts.filter(Boolean).join(" · "));
  put(shown.why, [row.remark, row.landed === false ? "not on your branch" : "", row.begun > 1 ? `${row.begun} passes` : ""].filter(Boolean).join(" · "));
  shown.why.hidden = !shown.why.textContent;
  shown.button.setAttribute("aria-label", `Phase ${row.id} ${row.name}: ${word}${row.score === null ? "" : `, score ${row.score.toFixed(1)}`}`);
  shown.item.hidden = !fits(row);
}

// New rows stand at the end; parts of a phase belong behind it.
function putInOrder(order) {
  const wanted = [...order, END].map((id) => view.rows.get(id)?.item).filter(Boolean);
  for (const [n, item] of wanted.entries()) if ($("phases").children[n] !== item) $("phases").insertBefore(item, $("phases").children[n] ?? null);
}

function fits(row) {
  const wanted = $("filter").value.trim().toLowerCase();
  return !wanted || `${row.id} ${row.name} ${WORDS[row.state] ?? row.state}`.toLowerCase().includes(wanted);
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
  const given = () => ({
    verdict: choices.find((label) => label.firstChild.checked).firstChild.value,
    issues: issues.value.split("\n").map((line) => line.trim()).filter(Boolean),
  });
  const worded = () => ["autopilot", "verdict", row.id, given().verdict, ...given().issues].map(quoted).join(" ");
  const form = make("form", { onsubmit: async (event) => {
    event.preventDefault();
    await act("verdict", { phase: row.id, ...given() }, button);
  } }, head, asked, make("fieldset", { "aria-label": `Verdict on phase ${row.id}` }, ...choices), issues, make("div", { name: "line" }, button, copy(command, worded)));
  return form;
}

function questionForm(question) {
  const head = make("p", {}, make("strong", { text: question.phase ? `Phase ${question.phase}: ${question.text}` : question.text }));
  const command = `autopilot ${question.id.split("/", 1)[0] === "discuss" ? "discuss" : "map"} ${quoted(question.phase)}`.trim();
  if (!view.may.includes("answer")) return make("form", {}, head, make("div", {}, copy(command)));
  const answer = make("textarea", { "aria-label": `Answer to: ${question.text}`, required: true });
  const options = question.options.map((option) => make("button", { type: "button", text: option, onclick: () => { answer.value = option; } }));
  const button = make("button", { type: "submit", name: "main", text: "Answer" });
  return make("form", { onsubmit: async (event) => {
    event.preventDefault();
    await act("answer", { question: question.id, text: answer.value }, button);
  } }, head, make("div", { name: "line" }, ...options), answer, make("div", { name: "line" }, button, copy(command)));
}

function drawNow() {
  const focused = document.activeElement?.dataset?.key;
  const open = [...view.parts].filter(([name]) => name.startsWith("open/")).map(([, seen]) => seen);
  const run = view.parts.get("run");
  const going = !run || statusOf(run) === "running";
  $("now").hidden = !open.length;
  put($("now-title"), going ? "At work" : "Not finished");
  $("now-list").replaceChildren(...open.map(({ work, usual, ahead }) => {
    const more = [work.cycle ? `remediation ${work.cycle}` : "", work.mode !== "initial" ? work.mode : ""].filter(Boolean).join(", ");
    const left = make("span", { name: "quiet" });
    timed(left, going ? ahead : null);
    const head = make("p", { name: "line" }, make("strong", { text: work.phase === END ? capital(work.name) : `Phase ${work.phase}: ${work.name}` }),
      make("span", { name: "quiet", text: more }), make("span", { name: "quiet since", "data-since": work.began, "data-less": work.paused }), left,
      make("button", { type: "button", name: "small", text: "Look inside", "data-key": `inside/${work.phase}`, onclick: () => lookInside(work.phase) }));
    return make("div", { name: "pass" }, head, make("ul", { name: "chips", "aria-label": "Steps" }, ...work.steps.map((step) => make("li", {}, chip(step, work, usual)))),
      ...sentBack(work.steps), ...taskList(work), ...(going ? agents(work) : []));
  }));
  if (focused) $("now-list").querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  tick();
}

// One step as a word with its time; pressed, it shows what its newest call said.
function chip(step, work, usual) {
  const name = `${step.step.replaceAll("_", " ")}${step.task ? ` ${step.task}` : ""}`;
  const time = step.seconds === null
    ? make("span", { name: "since", "data-since": sinceResumed(step.began), "data-less": step.waited, "data-usual": usual ?? "" }) : make("span", { text: duration(step.seconds) });
  const words = [make("span", { text: `${MARKS[step.ended] ?? "·"} ${name} ` }), time];
  const call = step.calls.at(-1);
  const look = `chip ${step.ended || "going"}`;
  if (!call) return make("span", { name: look }, ...words);
  return make("button", { type: "button", name: look, "data-key": `${work.phase}/${work.number}/${step.began}`, title: "What was asked and answered", onclick: () => readCall(call, work.phase, work.number) }, ...words);
}

// Why the last finished step did not simply go on.
function sentBack(steps) {
  const last = steps.findLast((step) => step.seconds !== null);
  return last && last.ended !== "done" && last.because ? [make("p", { name: "reason quiet", text: `${capital(last.step.replaceAll("_", " "))}: ${ENDS[last.ended]}. ${last.because}` })] : [];
}

function taskList({ phase, tasks }) {
  if (!tasks.length) return [];
  const verified = tasks.filter((task) => task.state === "verified").length;
  const rows = tasks.map((task) => make("li", { name: `task ${task.state}` }, make("span", { name: "status", text: TASKS[task.state] ?? "·" }),
    ` ${task.id} ${task.title}`, make("span", { name: "quiet", text: ["waiting", "verified"].includes(task.state) ? "" : ` ${task.state}` })));
  const open = view.unfolded.get(phase) ?? tasks.length <= 8;
  const head = make("summary", { text: `Tasks: ${verified} of ${tasks.length} verified`, "data-key": `tasks/${phase}` });
  return [make("details", { open, ontoggle: (event) => view.unfolded.set(phase, event.target.open) }, head, make("ul", { name: "tasks" }, ...rows))];
}

// Who is at work, what its processes do, and for how long they have done nothing.
function agents(work) {
  const calls = work.steps.flatMap((step) => (step.seconds === null ? step.calls.filter((call) => call.seconds === null) : []));
  return calls.map((call) => {
    const { doing = "", idle_since: idle = "" } = view.parts.get("doing")?.[call.call] ?? {};
    const place = work.steps.at(-1).task || (work.phase === END ? work.name : `phase ${work.phase}`);
    return make("p", { name: "agent" }, make("strong", { text: call.role.replaceAll("_", " ") }), ` ${place} `,
      make("span", { name: "since", "data-since": call.began }), idle ? make("span", { name: "since", "data-since": idle, "data-before": ", idle " }) : "",
      doing ? make("code", { text: doing }) : "");
  });
}

function stepTable(steps, phase, number) {
  const going = statusOf(view.parts.get("run")) === "running";
  const head = make("tr", {}, ...["Step", "Time", "Outcome", "Calls"].map((text) => make("th", { text, scope: "col" })));
  const rows = steps.map((step) => {
    const time = step.seconds === null
      ? make("span", { name: "since in_progress", "data-since": sinceResumed(step.began), "data-less": step.waited })
      : make("span", { text: duration(step.seconds) });
    const outcome = step.seconds === null ? (going ? "going on" : "not finished") : [ENDS[step.ended] ?? step.ended, step.because].filter(Boolean).join(": ");
    return make("tr", {}, make("td", { text: step.step.replaceAll("_", " ") + (step.task ? ` ${step.task}` : "") }), make("td", {}, time),
      make("td", { text: outcome }), make("td", { name: "calls" }, ...step.calls.map((call) => callButton(call, phase, number))));
  });
  return make("table", { name: "steps" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

function callButton(call, phase, number) {
  const cost = [call.seconds === null ? null : duration(call.seconds), call.tokens === null ? null : `${short(call.tokens)} tok`, call.usd === null ? null : money(call.usd)];
  const text = `${call.role.replaceAll("_", " ")}${call.outcome && call.outcome !== "ok" ? ` (${call.outcome.replaceAll("_", " ")})` : ""}`;
  const button = make("button", { type: "button", "data-key": `${phase}/${number}/${call.began}`, onclick: () => readCall(call, phase, number) }, text);
  if (call.seconds === null) button.append(make("span", { name: "since in_progress", "data-since": call.began, "data-before": ", " }));
  else button.append(` ${cost.filter(Boolean).join(", ")}`);
  return button;
}

function drawWarnings() {
  const told = view.parts.get("cautions") ?? [];
  $("warnings").hidden = !told.length;
  $("warning-list").replaceChildren(...[...told].reverse().map((line) =>
    make("li", {}, make("time", { datetime: line.at, text: `${clock(line.at)} ` }), line.text)));
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
    put($("inside-title"), phase === END ? capital(seen.name) : `Phase ${seen.id}: ${seen.name}`);
    const row = view.parts.get(`phase/${phase}`);
    const needs = row?.needs.length ? `Needs ${row.needs.map((id) => `phase ${id}`).join(", ")}.` : "";
    const about = [seen.goal, row?.remark, needs].filter(Boolean).map((text) => make("p", { text, name: "reason" }));
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
    const open = statusOf(view.parts.get("run")) === "running" ? "The call is going on; what was said is kept when it ends." : "The call did not end. Nothing was kept of it.";
    if (!page) return showText(seen.outcome ? "Nothing was kept of this call." : open, "", []);
    $("text-parts").replaceChildren(...Object.entries(seen.sizes).map(([title, size]) => make("button", {
      type: "button", text: `${title} (${short(size)})`, "aria-pressed": String(title === page.title), onclick: () => readPart(path, title, 0),
    })));
    const turn = (to) => () => readPart(path, page.title, to);
    const last = Math.floor(Math.max(0, page.total - 1) / page.size) * page.size;
    showText(page.text, `letters ${page.total ? page.offset + 1 : 0} to ${page.offset + page.text.length} of ${page.total}`, page.total <= page.size ? [] : [
      ["Start", page.offset ? turn(0) : null], ["Back", page.offset ? turn(Math.max(0, page.offset - page.size)) : null],
      ["On", page.next === null ? null : turn(page.next)], ["End", page.next === null ? null : turn(last)],
    ]);
  } catch (error) {
    showText(error.message, "", []);
  }
}

// One page of a text at a time, however long it is; the pager keeps the focus where it was.
function showText(text, size, turns) {
  const focused = document.activeElement?.dataset?.turn;
  put($("text-body"), text);
  $("text-body").scrollTop = 0;
  put($("text-size"), size);
  $("text-turns").replaceChildren(...turns.map(([name, go]) => make("button", { type: "button", text: name, "data-turn": name, disabled: !go, onclick: go })));
  if (focused) ($("text-turns").querySelector(`[data-turn="${focused}"]:enabled`) ?? $("text-body")).focus();
}

// Words and numbers

const quoted = (word) => (/^[\w.,:/@%+=-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
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
  const now = moment();
  for (const element of document.querySelectorAll("[data-since]")) {
    const gone = (now - Date.parse(element.dataset.since)) / 1000 - Number(element.dataset.less || 0);
    const left = Number(element.dataset.usual || 0) - gone;
    put(element, `${element.dataset.before ?? ""}${duration(Math.floor(gone) || 0)}${left > 1 ? `, about ${duration(left)} left` : ""}`);
  }
  for (const element of document.querySelectorAll("[data-left]")) {
    const left = Number(element.dataset.left) - (now - Date.parse(element.dataset.at)) / 1000;
    put(element, `about ${duration(Math.max(left, Number(element.dataset.least)))} left`);
  }
  for (const element of document.querySelectorAll("[data-until]")) {
    const left = (Date.parse(element.dataset.until) - Date.now() - view.ahead) / 1000;
    put(element, left > 0 ? `, ${duration(left)} left` : ", due");
  }
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
