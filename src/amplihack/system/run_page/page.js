"use strict";
// Draws the run that is embedded in the page as JSON. Values reach the page as text only, never as markup. Only
// the rows that can be seen exist in the document, so that a run of many thousand steps stays quick.
(() => {
  const run = JSON.parse(document.getElementById("run").textContent);
  const rows = run.rows, texts = run.texts;
  const byId = (id) => document.getElementById(id);
  const list = byId("list"), space = byId("space"), holder = byId("rows"), panel = byId("panel"), search = byId("search");
  const ROW = 26, SPARE = 12, BAD = ["failed", "interrupted", "denied"];
  const ICONS = {
    completed: "✓", approved: "✓", failed: "✗", denied: "✗", interrupted: "✗", degraded: "⚠", waiting: "◇", skipped: "⊘", running: "▶",
  };

  // The tree ------------------------------------------------------------------------------------------------

  const children = rows.map(() => []), depth = new Int32Array(rows.length), roots = [];
  rows.forEach((row, index) => {
    if (row.in === undefined) { roots.push(index); return; }
    children[row.in].push(index);
    depth[index] = depth[row.in] + 1;
  });
  const open = new Set();
  let chosen = run.first ?? (rows.length ? 0 : -1);
  let wanted = null; // rows that a search or a filter leaves, with all that is around them; null: every row
  let hits = [], hitSet = new Set(), onlyState = "";
  let visible = [], place = new Map();

  function refresh() {
    visible = [];
    const waiting = [...roots].reverse();
    while (waiting.length) {
      const index = waiting.pop();
      if (wanted && !wanted.has(index)) continue;
      visible.push(index);
      if (wanted ? true : open.has(index)) for (let n = children[index].length; n--;) waiting.push(children[index][n]);
    }
    place = new Map(visible.map((index, number) => [index, number]));
    space.style.height = `${visible.length * ROW}px`;
    draw();
  }

  function uncover(index) {
    for (let each = rows[index].in; each !== undefined; each = rows[each].in) open.add(each);
  }

  // Time: what happened while no process had the run takes no room ------------------------------------------

  const lives = run.lives.length ? run.lives : [[0, 0]];
  const NOW = run.told;
  if (run.status === "running") lives[lives.length - 1][1] = NOW;
  const total = Math.max(lives.reduce((sum, [from, to]) => sum + (to - from), 0), 0.001);
  function share(time) {
    let sum = 0;
    for (const [from, to] of lives) {
      if (time < from) break;
      sum += Math.min(time, to) - from;
    }
    return Math.min(1, Math.max(0, sum / total));
  }

  const TICKS = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400];
  function tickSize() {
    const least = total / 4.5, power = 10 ** Math.floor(Math.log10(least));
    if (least < 30) return [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= least * 0.999);
    return TICKS.find((size) => size >= least) || Math.ceil(least / 86400) * 86400;
  }
  function drawAxis() {
    const axis = byId("axis"), pauses = [], ticks = [], size = tickSize();
    lives.slice(1).forEach(([from], n) => {
      const pause = from - lives[n][1];
      pauses.push(at(share(from), `⋯ ${seconds(pause)}`, "pause", `nothing ran for ${seconds(pause)}`));
    });
    for (let n = 0; n * size < total * 0.98; n += 1) ticks.push(at((n * size) / total, tickText(n * size), ""));
    axis.replaceChildren(...ticks, ...pauses);
    leaveRoom([...pauses, ...ticks], axis.getBoundingClientRect());
  }
  // A word that another one is in the way of is left out; its line stays, and so does its title.
  function leaveRoom(marks, edge) {
    const taken = [];
    for (const mark of marks) {
      const here = mark.getBoundingClientRect();
      const hidden = here.right > edge.right || here.left < edge.left - 1 || taken.some((other) => here.left < other.right && other.left < here.right);
      if (hidden) mark.textContent = "\u200b"; else taken.push(here);
    }
  }
  function tickText(amount) {
    if (amount === 0) return "0";
    return amount < 0.9995 || amount >= 60 ? seconds(amount).replace(" 0 s", "").replace(" 0 min", "") : `${Number(amount.toFixed(3))} s`;
  }
  function at(part, text, name, title = "") {
    const mark = make("span", part > 0.8 ? `${name} end` : name, text);
    if (part > 0.8) mark.style.right = `${(1 - part) * 100}%`; else mark.style.left = `${part * 100}%`;
    mark.title = title;
    return mark;
  }

  // Words ---------------------------------------------------------------------------------------------------

  function make(tag, name = "", text = "", ...inside) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== "") element.textContent = text;
    element.append(...inside);
    return element;
  }
  function seconds(amount) {
    if (amount === undefined || amount === null) return "";
    if (amount < 0.9995) return `${Math.round(amount * 1000)} ms`;
    if (amount < 60) return `${amount.toFixed(amount < 10 ? 2 : 1)} s`;
    const minutes = Math.floor(amount / 60);
    if (minutes < 60) return `${minutes} min ${Math.round(amount % 60)} s`;
    const hours = Math.floor(minutes / 60);
    return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
  }
  const clock = (time) => (time ? new Date(time * 1000).toLocaleString() : "");
  const money = (amount) => `$${amount.toFixed(amount >= 1 ? 2 : 4)}`;
  const tokens = (usage) => [
    usage.input_tokens != null ? `${usage.input_tokens.toLocaleString()} in` : "",
    usage.cached_tokens ? `(${usage.cached_tokens.toLocaleString()} cached)` : "",
    usage.output_tokens != null ? `${usage.output_tokens.toLocaleString()} out` : "",
  ].filter(Boolean).join(" ");
  const whole = (number) => {
    const text = texts[number];
    return typeof text === "string" ? text : text[0] + text[2];
  };
  const inside = rows.map((_, index) => (children[index].length ? 0 : 1)); // the steps that each row holds
  for (let n = rows.length; n--;) if (rows[n].in !== undefined && rows[n].kind !== "gate") inside[rows[n].in] += inside[n];
  const worked = (row) => (share(row.to ?? NOW) - share(row.from)) * total; // without pauses of the run
  const steps = (number) => `${number.toLocaleString()} ${number === 1 ? "step" : "steps"}`;

  // The list ------------------------------------------------------------------------------------------------

  let asked = false;
  function draw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; drawNow(); });
  }
  function drawNow() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
    const last = Math.min(visible.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
    holder.style.top = `${first * ROW}px`;
    holder.replaceChildren(...visible.slice(first, last).map(drawRow));
    const here = place.has(chosen) ? `row-${chosen}` : "";
    if (here) list.setAttribute("aria-activedescendant", here); else list.removeAttribute("aria-activedescendant");
  }
  function drawRow(index) {
    const row = rows[index], holds = children[index].length > 0, unfolded = holds && (wanted ? true : open.has(index));
    const look = row.forgiven && row.status === "failed" ? "forgiven" : row.status;
    const what = make("span", "what");
    what.style.paddingLeft = `${8 + depth[index] * 16}px`;
    const twist = make("span", "twist", holds ? (unfolded ? "▾" : "▸") : "");
    what.append(twist, make("span", `icon ${look}`, ICONS[row.status] || "·"));
    what.append(make("span", hitSet.has(index) ? "hit" : "", row.kind === "gate" ? `gate: ${row.name}` : row.name));
    if (row.attempts || row.failures) what.append(make("span", "note again", `↻ ${row.attempts || row.failures.length + 1} attempts`));
    what.append(make("span", "note", note(index)));
    const time = make("span", `time ${look}`);
    if (row.from !== undefined) time.append(...bars(row, holds));
    const element = make("div", "row", "", what, time);
    element.id = `row-${index}`;
    element.setAttribute("role", "treeitem");
    element.setAttribute("aria-level", depth[index] + 1);
    element.setAttribute("aria-selected", index === chosen);
    element.setAttribute("aria-label", `${row.name}, ${row.kind}, ${row.status}`);
    if (holds) element.setAttribute("aria-expanded", unfolded);
    element.dataset.index = index;
    element.title = row.title || row.id || row.name;
    return element;
  }
  function note(index) {
    const row = rows[index], parts = [];
    if (row.kind === "loop") parts.push(`${children[index].length.toLocaleString()} ${children[index].length === 1 ? "round" : "rounds"}`);
    else if (row.kind === "parallel") parts.push("parallel", steps(inside[index]));
    else if (row.kind === "recipe") parts.push(row.recipe ? `recipe ${row.recipe}` : "recipe");
    else if (row.kind === "stage" || row.kind === "group") parts.push(row.kind, steps(inside[index]));
    else if (row.kind === "agent") parts.push(row.kind);
    else if (row.kind === "gate") parts.push(row.status + (row.by ? ` by ${row.by}` : ""));
    if (row.seconds !== undefined && row.status !== "skipped") parts.push(seconds(row.seconds));
    else if (children[index].length && row.from !== undefined) parts.push(seconds(worked(row)));
    if (row.cost !== undefined) parts.push(money(row.cost));
    return parts.join(" · ");
  }
  function bars(row, holds) {
    const from = share(row.from), to = share(row.to ?? NOW), marks = [];
    const bar = make("span", row.kind === "gate" ? "dot" : holds ? "bar holds" : "bar");
    bar.style.left = `${from * 100}%`;
    if (row.kind !== "gate") bar.style.width = `${(to - from) * 100}%`;
    marks.push(bar);
    for (const failure of row.failures || []) {
      const miss = make("span", "miss");
      miss.style.left = `${share(failure.at) * 100}%`;
      miss.title = `attempt ${failure.attempt} failed`;
      marks.push(miss);
    }
    return marks;
  }

  function choose(index, { panelToo = true, middle = false } = {}) {
    if (index === undefined || index < 0) return;
    chosen = index;
    if (!place.has(index)) { uncover(index); if (wanted && !wanted.has(index)) endSearch(); refresh(); }
    const top = place.get(index) * ROW, height = list.clientHeight;
    if (middle) list.scrollTop = Math.max(0, top - height / 3);
    else if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + height) list.scrollTop = top + ROW - height;
    draw();
    if (panelToo) show("step");
  }
  function toggle(index, unfold = !open.has(index)) {
    if (!children[index].length || wanted) return;
    if (unfold) open.add(index); else open.delete(index);
    refresh();
  }
  function move(by) {
    const now = place.get(chosen) ?? 0;
    choose(visible[Math.min(visible.length - 1, Math.max(0, now + by))]);
  }
  function enter() {
    if (!children[chosen].length) return;
    if (!wanted && !open.has(chosen)) toggle(chosen, true); else move(1);
  }
  function leave() {
    if (!wanted && open.has(chosen) && children[chosen].length) toggle(chosen, false);
    else choose(rows[chosen].in);
  }
  function foldAll(unfold) {
    endSearch();
    open.clear();
    if (unfold) children.forEach((inner, index) => { if (inner.length) open.add(index); });
    else while (chosen >= 0 && rows[chosen].in !== undefined) chosen = rows[chosen].in;
    refresh();
    choose(chosen, { panelToo: false, middle: true });
  }

  // Search --------------------------------------------------------------------------------------------------

  const lower = new Map(); // of texts, made when they are first searched
  function says(number, words) {
    if (number === undefined || number === null) return false;
    if (!lower.has(number)) lower.set(number, whole(number).toLowerCase());
    return lower.get(number).includes(words);
  }
  function matches(row, words) {
    if (onlyState && (onlyState === "retried" ? !row.failures : row.status !== onlyState)) return false;
    if (!words) return true;
    return [row.name, row.id, row.title, row.recipe, row.by, row.said, row.why].some((text) => text && text.toLowerCase().includes(words))
      || [row.error, row.output, row.stderr, row.written].some((number) => says(number, words))
      || (row.prompts || []).some((number) => says(number, words))
      || (row.failures || []).some((failure) => says(failure.why, words))
      || (row.warnings || []).some((text) => text.toLowerCase().includes(words));
  }
  function find() {
    const words = search.value.trim().toLowerCase();
    hits = [];
    wanted = null;
    if (words || onlyState) {
      wanted = new Set();
      rows.forEach((row, index) => { if (matches(row, words)) hits.push(index); });
      for (const hit of hits) for (let each = hit; each !== undefined && !wanted.has(each); each = rows[each].in) wanted.add(each);
    }
    hitSet = words ? new Set(hits) : new Set();
    byId("found").textContent = words || onlyState ? `${hits.length.toLocaleString()} found` : "";
    byId("found").dataset.words = words;
    list.scrollTop = 0;
    refresh();
    if (hits.length) choose(hitSet.has(chosen) || (!words && wanted.has(chosen)) ? chosen : hits[0], { panelToo: true });
  }
  function endSearch() {
    if (!wanted && !search.value && !onlyState) return;
    search.value = "";
    onlyState = "";
    find();
    drawStates();
    uncover(chosen);
    refresh();
  }
  function step(among, by) {
    if (!among.length) return;
    const at = by > 0 ? among.findIndex((index) => index > chosen) : among.findLastIndex((index) => index < chosen);
    choose(at < 0 ? among[by > 0 ? 0 : among.length - 1] : among[at], { middle: true });
  }
  const failures = rows.map((_, index) => index).filter((index) =>
    BAD.includes(rows[index].status) && !rows[index].forgiven && !children[index].some((inner) => BAD.includes(rows[inner].status) && !rows[inner].forgiven));

  const counts = {};
  rows.forEach((row, index) => {
    if (!children[index].length) counts[row.status] = (counts[row.status] || 0) + 1;
    if (row.failures) counts.retried = (counts.retried || 0) + 1;
  });
  function drawStates() {
    const order = ["failed", "interrupted", "denied", "waiting", "running", "degraded", "retried", "skipped", "completed"];
    byId("states").replaceChildren(...order.filter((state) => counts[state]).map((state) => {
      const button = make("button", "", `${counts[state].toLocaleString()} ${state}`);
      button.type = "button";
      button.setAttribute("aria-pressed", state === onlyState);
      button.addEventListener("click", () => { onlyState = state === onlyState ? "" : state; drawStates(); find(); });
      return button;
    }));
  }

  // The panel -----------------------------------------------------------------------------------------------

  const PANELS = { step: drawStep, slow: drawSlow, dear: drawDear, run: drawRun };
  let shown = "step";
  function show(name) {
    shown = name;
    for (const each of Object.keys(PANELS)) byId(`tab-${each}`).setAttribute("aria-selected", each === name);
    panel.replaceChildren(...PANELS[name]());
    panel.scrollTop = 0;
  }
  function facts(pairs) {
    const all = make("dl");
    for (const [name, value] of pairs) if (value !== "" && value !== undefined && value !== null) all.append(make("dt", "", name), make("dd", "", String(value)));
    return all;
  }
  function written(number, name = "") {
    const text = texts[number], block = make("pre", name);
    if (typeof text === "string") block.textContent = text;
    else block.append(text[0], make("span", "cut", `\n… ${text[1].toLocaleString()} characters are left out here; \`amplihack runs show ${run.run_id} --json\` has them …\n`), text[2]);
    block.tabIndex = 0;
    return block;
  }
  function titled(title, ...inside) { return [make("h3", "", title), ...inside]; }
  function folded(title, ...inside) { return make("details", "", "", make("summary", "", title), ...inside); }

  function drawStep() {
    if (chosen < 0) return [make("p", "", "No step has begun.")];
    const row = rows[chosen], parts = [], path = [];
    for (let each = row.in; each !== undefined; each = rows[each].in) path.unshift(rows[each].name);
    const head = make("h2", "", row.kind === "gate" ? `gate: ${row.name} ` : `${row.name} `);
    head.append(make("span", `badge ${row.status}`, row.status));
    parts.push(head);
    if (row.title) parts.push(make("p", "", row.title));
    parts.push(facts([
      ["inside", path.join(" › ")],
      ["kind", row.recipe ? `${row.kind} ${row.recipe}` : row.kind],
      ["holds", children[chosen].length ? steps(inside[chosen]) : ""],
      ["began", clock(row.from)],
      [row.kind === "gate" ? "waited" : "took", row.kind === "gate" ? seconds((row.to ?? NOW) - row.from) : seconds(row.seconds)],
      ["attempts", row.attempts],
      ["exit code", row.exit],
      ["skipped", row.why],
      ["tokens", row.usage ? tokens(row.usage) : ""],
      ["cost", row.cost !== undefined ? money(row.cost) : ""],
      ["answered by", row.by], ["at", row.kind === "gate" ? clock(row.to) : ""], ["message", row.said], ["expires", clock(row.due)],
      ["identity", row.id],
      ["", row.forgiven && row.status === "failed" ? "the recipe allows this failure" : ""],
    ]));
    if (row.error !== undefined) parts.push(...titled("Error", written(row.error, "error")));
    for (const failure of row.failures || []) {
      const pause = failure.delay ? `; the next attempt came ${seconds(failure.delay)} later` : "";
      parts.push(...titled(`Attempt ${failure.attempt} failed`, make("p", "note", `at ${clock(failure.at)}${pause}`)));
      if (failure.why !== null && failure.why !== undefined) parts.push(written(failure.why, "error"));
    }
    if (row.warnings) parts.push(...titled("Warnings", ...row.warnings.map((text) => make("p", "degraded", text))));
    if (row.output !== undefined) parts.push(...titled("Output", written(row.output)));
    if (row.stderr !== undefined) parts.push(...titled("Standard error", written(row.stderr)));
    (row.prompts || []).forEach((number, n) => {
      const name = row.kind === "gate" ? "Question" : row.prompts.length > 1 ? `Prompt ${n + 1}` : "Prompt";
      parts.push(row.kind === "gate" ? make("div", "", "", ...titled(name, written(number))) : folded(name, written(number)));
    });
    if (row.written !== undefined) parts.push(folded(row.kind === "agent" ? "Prompt as written in the recipe" : "As written in the recipe", written(row.written)));
    return parts;
  }

  function drawMost(indexes, amount, text, none) {
    if (!indexes.length) return [make("p", "", none)];
    const most = make("ol", "most"), largest = amount(rows[indexes[0]]);
    for (const index of indexes) {
      const bar = make("i");
      bar.style.width = `${Math.max(2, (amount(rows[index]) / largest) * 100)}%`;
      const button = make("button", "", "", make("span", "name", rows[index].id || rows[index].name), make("span", "share", "", bar), make("span", "amount", text(rows[index])));
      button.type = "button";
      button.addEventListener("click", () => choose(index, { middle: true }));
      most.append(make("li", "", "", button));
    }
    return [most];
  }
  function drawSlow() {
    return [make("h2", "", "What took longest"), ...drawMost(run.slow, (row) => row.seconds, (row) => seconds(row.seconds), "No step took any time.")];
  }
  function drawDear() {
    const inMoney = run.dear.some((index) => rows[index].cost);
    const count = (row) => (row.usage.input_tokens || 0) + (row.usage.output_tokens || 0);
    const title = inMoney || !run.dear.length ? "What cost most" : "What used most tokens";
    return [make("h2", "", title), ...drawMost(
      run.dear,
      inMoney ? (row) => row.cost : count,
      inMoney ? (row) => money(row.cost) : (row) => `${count(row).toLocaleString()} tokens`,
      "No step told of tokens or money.",
    )];
  }
  function drawRun() {
    const parts = [make("h2", "", run.recipe), facts([
      ["run", run.run_id], ["status", run.status], ["began", clock(run.started)], ["ended", clock(run.ended)],
      ["lives", lives.length > 1 ? `${lives.length}: it was resumed` : ""], ["forked from", run.forked_from],
      ["directory", run.working_dir], ["recipe file", run.path], ["cost", run.cost_usd != null ? money(run.cost_usd) : ""],
      ["this page", `written ${clock(run.told)} by amplihack ${run.version}`],
    ])];
    if (run.error !== null) parts.push(...titled("Error", written(run.error, "error")));
    if (run.summary !== null) parts.push(...titled("Output of the recipe", written(run.summary)));
    if (run.notes.length) parts.push(...titled("Notes", ...run.notes.map((text) => make("p", "degraded", text))));
    if (run.warnings.length) parts.push(...titled("Warnings", ...run.warnings.map((text) => make("p", "degraded", text))));
    if (run.never_reached.length) parts.push(...titled("Never reached", make("p", "", run.never_reached.join(", "))));
    const gates = rows.map((_, index) => index).filter((index) => rows[index].kind === "gate");
    if (gates.length) parts.push(...titled("Gates", ...gates.map((index) => link(index, `${rows[index].name}: ${note(index)}`))));
    const retried = rows.map((_, index) => index).filter((index) => rows[index].failures);
    if (retried.length) parts.push(...titled("Tried again", ...retried.slice(0, 100).map((index) => link(index, `${rows[index].id}: ${rows[index].failures.length + 1} attempts`))));
    if (retried.length > 100) parts.push(make("p", "", `and ${retried.length - 100} more`));
    const inputs = Object.entries(run.inputs);
    if (inputs.length || run.left_out.length) {
      parts.push(...titled("Inputs", facts(run.left_out.map((name) => [name, "a secret, not kept"]))));
      for (const [name, number] of inputs) parts.push(make("p", "", `${name}:`), number === null ? make("p", "", "empty") : written(number));
    }
    return parts;
  }
  function link(index, text) {
    const button = make("button", rows[index].status, text);
    button.type = "button";
    button.addEventListener("click", () => choose(index, { middle: true }));
    return make("p", "", "", button);
  }

  function trouble(row) {
    if (row.error !== undefined) return whole(row.error).slice(0, 600);
    if (row.kind === "gate") return whole(row.prompts[0]);
    const last = row.output !== undefined ? whole(row.output).trimEnd().split("\n").pop() : "";
    return last ? `the last that it printed: ${last.slice(0, 300)}` : "";
  }
  function drawHead() {
    const title = make("h1", "", `${run.recipe} `), facts = make("div", "facts");
    const took = run.ended ? run.ended - run.started : null;
    for (const text of [run.run_id, `began ${clock(run.started)}`, took !== null ? `took ${seconds(took)}` : "", steps(rows.filter((row, index) => !children[index].length && row.kind !== "gate").length), run.cost_usd != null ? money(run.cost_usd) : "", run.status === "running" ? `as it was at ${clock(run.told)}` : ""]) if (text) facts.append(make("span", "", text));
    const parts = [title, make("span", `badge ${run.status}`, run.status), facts];
    const first = run.first;
    if (first !== null && first !== undefined) {
      const button = make("button", rows[first].status, `${rows[first].status}: ${rows[first].id || rows[first].name}`);
      button.type = "button";
      button.addEventListener("click", () => choose(first, { middle: true }));
      parts.push(make("p", `trouble ${rows[first].status}`, "", button, make("span", "", trouble(rows[first]))));
    } else if (run.error !== null) parts.push(make("p", "trouble failed", "", make("span", "", whole(run.error).slice(0, 600))));
    if (run.never_reached.length) facts.append(make("span", "", `${run.never_reached.length.toLocaleString()} never reached`));
    const asks = rows.some((row) => row.kind === "gate" && row.status === "waiting" && !(row.due <= NOW));
    const command = { waiting: asks ? "approve" : "resume", failed: "resume", interrupted: "resume", cancelled: "resume" }[run.status];
    if (command) facts.append(make("span", "", "to go on: ", make("code", "", `amplihack runs ${command} ${run.run_id}`)));
    byId("head").replaceChildren(...parts);
  }

  // Light and dark ------------------------------------------------------------------------------------------

  const THEMES = ["", "light", "dark"];
  function setTheme(name) {
    if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
    byId("theme").textContent = name ? `Theme: ${name}` : "Theme: system";
    try { localStorage.setItem("amplihack-theme", name); } catch { /* a page from disk may have no storage */ }
  }
  function nextTheme() { setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "") + 1) % THEMES.length]); }
  let kept = "";
  try { kept = localStorage.getItem("amplihack-theme") || ""; } catch { /* as above */ }

  // Keyboard and mouse --------------------------------------------------------------------------------------

  const KEYS = {
    ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
    ArrowRight: enter, l: enter, ArrowLeft: leave, h: leave,
    Enter: () => toggle(chosen), " ": () => toggle(chosen),
    PageDown: () => move(Math.floor(list.clientHeight / ROW)), PageUp: () => move(-Math.floor(list.clientHeight / ROW)),
    Home: () => choose(visible[0]), g: () => choose(visible[0]), End: () => choose(visible[visible.length - 1]), G: () => choose(visible[visible.length - 1]),
    E: () => foldAll(true), C: () => foldAll(false),
    "/": () => { search.focus(); search.select(); }, n: () => step(hits, 1), N: () => step(hits, -1),
    f: () => step(failures, 1), F: () => step(failures, -1),
    1: () => show("step"), 2: () => show("slow"), 3: () => show("dear"), 4: () => show("run"),
    d: nextTheme, D: nextTheme, "?": () => byId("help").showModal(), Escape: endSearch,
  };
  const SCROLLS = ["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", " "]; // they scroll what has the focus
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (event.target === search) {
      if (event.key === "Escape") { endSearch(); list.focus(); } else if (event.key === "Enter" || event.key === "ArrowDown") list.focus(); else return;
      event.preventDefault();
      return;
    }
    const onControl = event.target.closest("button, summary");
    if (onControl && (event.key === "Enter" || event.key === " ")) return;
    if (SCROLLS.includes(event.key) && event.target.closest("#panel")) return;
    const act = KEYS[event.key];
    if (!act || (!rows.length && !["?", "d", "D", "4"].includes(event.key))) return;
    event.preventDefault();
    act();
  });
  holder.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    const index = Number(row.dataset.index);
    if (event.target.closest(".twist")) toggle(index); else choose(index);
    list.focus({ preventScroll: true });
  });
  holder.addEventListener("dblclick", (event) => {
    const row = event.target.closest(".row");
    if (row && !event.target.closest(".twist")) toggle(Number(row.dataset.index));
  });
  list.addEventListener("scroll", draw, { passive: true });
  window.addEventListener("resize", () => { draw(); drawAxis(); });
  let pause = 0;
  search.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(find, 80); });
  byId("unfold").addEventListener("click", () => foldAll(true));
  byId("fold").addEventListener("click", () => foldAll(false));
  byId("theme").addEventListener("click", nextTheme);
  byId("keys").addEventListener("click", KEYS["?"]);
  for (const name of Object.keys(PANELS)) byId(`tab-${name}`).addEventListener("click", () => show(name));

  setTheme(THEMES.includes(kept) ? kept : "");
  drawHead();
  drawAxis();
  drawStates();
  refresh();
  if (chosen >= 0) choose(chosen, { middle: true }); else show("run");
  if (run.first === null && rows.length) show("run");
  list.focus({ preventScroll: true });
})();
