// The page of one task: its facts, the reason of its wait, its actions, and its log as a timeline.
import { agents, events, post, task } from "./api.js";
import { question } from "./answer.js";
import { endStates, facts, newId, plain, state, stateName } from "./bits.js";
import { json } from "./content.js";
import { deliveryList, showDeliveries } from "./delivery-list.js";
import { confirmed, toast } from "./dialog.js";
import { fill, h, say } from "./dom.js";
import { exactJson } from "./form.js";
import { mayAct, Page } from "./page.js";
import { go, url } from "./router.js";
import { factsOf, internalsOf, showTasks, taskList } from "./task-list.js";
import { PlanPicture } from "./plan-picture.js";
import { Timeline } from "./timeline.js";
import { Trace } from "./trace.js";

class Task extends Page {
  constructor() {
    super();
    this.key = this.route.rest[0];
    this.timeline = new Timeline(
      this.key,
      () => this.attempt(() => this.refresh()),
      (work) => void this.attempt(work),
    );
    this.state = h("span");
    this.actions = h("div", { class: "buttons" });
    this.titled = h("span", { dir: "auto" }, `Task ${this.key}`);
    this.failure = h("section", { class: "panel failure", hidden: true });
    this.facts = h("div", { class: "panel" });
    this.internals = h("details", { class: "panel" });
    this.trace = new Trace(this.key);
    this.log = h("details", { class: "fold" }, h("summary", null, "Log"), this.timeline);
    this.question = h("section", { class: "panel asks", hidden: true });
    this.below = h("section", { hidden: true });
    this.childList = taskList("Children");
    this.deliveries = h("section", { hidden: true });
    this.deliveryList = deliveryList();
    this.metadata = h("details", { class: "panel", hidden: true });
    this.configs = h("details", { class: "panel", hidden: true });
    this.picture = new PlanPicture(`/tasks/${encodeURIComponent(this.key)}/plan.svg`);
    this.asked = -1;
    this.refreshing = false;
    this.why = h("span");
    this.drawn = -1;
  }

  connectedCallback() {
    fill(
      this.below,
      h("h2", null, "Children", h("a", { class: "all", href: url("tasks", { parent: this.key }) }, "all")),
      this.childList,
    );
    fill(this.deliveries, h("h2", null, "Open deliveries"), this.deliveryList);
    fill(
      this,
      this.heading(this.titled, this.state, this.why, this.actions),
      this.failure,
      this.problem,
      h(
        "div",
        { class: "task" },
        h("div", { class: "side" }, this.facts, this.metadata, this.configs, this.internals),
        h(
          "div",
          { class: "log" },
          this.question,
          this.picture,
          this.trace,
          this.below,
          this.deliveries,
          this.log,
        ),
      ),
    );
    this.every(5000, () => this.refresh());
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.timeline.end();
  }

  async refresh() {
    if (this.refreshing) return;
    this.refreshing = true;
    try {
      const view = await task(this.key, this.signal);
      this.show(view);
      await this.trace.refresh(view.task.lastEvent, this.signal);
      await this.timeline.open(view.task.lastEvent, endStates.includes(view.task.state));
    } finally {
      this.refreshing = false;
    }
  }

  /** @param {import("./api.js").TaskView} view */
  show(view) {
    const { task: row } = view;
    const asked = plain(row.request ?? "").slice(0, 120) || `Task ${row.key}`;
    document.title = `${stateName(row.state)}: ${asked} · Baton`;
    say(this.titled, asked);
    fill(this.state, state(row.state), row.cancelRequested ? h("span", { class: "mark" }, "canceling") : null);
    fill(this.facts, facts(factsOf(row)));
    this.tellFailure(view);
    this.showInternals(row);
    this.ask(view);
    this.act(row);
    showTasks(this.childList, view.children);
    this.below.hidden = view.children.length === 0;
    showDeliveries(this.deliveryList, view.deliveries, () => this.attempt(() => this.refresh()));
    this.deliveries.hidden = view.deliveries.length === 0;
    this.detail(this.metadata, "Metadata", view.metadata);
    this.detail(this.configs, "Webhooks", view.configs.length > 0 ? view.configs : undefined);
    this.draw(row);
  }

  // Why the task failed, with the agent's standard error.
  /** @param {import("./api.js").TaskView} view */
  tellFailure({ task: row, stderr = "" }) {
    const isBad = row.state === "failed" || row.state === "rejected";
    this.failure.hidden = !isBad;
    const told = `${row.text} ${stderr}`;
    if (!isBad || this.failure.dataset.said === told) return;
    this.failure.dataset.said = told;
    fill(
      this.failure,
      h("p", { class: "words", dir: "auto" }, row.text || "The agent gave no reason."),
      stderr
        ? h(
            "details",
            { open: true },
            h("summary", null, "Standard error of the agent"),
            h("div", { class: "code stderr", tabIndex: 0, role: "group", "aria-label": "Standard error" }, stderr),
          )
        : null,
    );
  }

  /** @param {import("./api.js").TaskRow} row */
  showInternals(row) {
    const isOpen = this.internals.open;
    fill(this.internals, h("summary", null, "Ids and internals"), facts(internalsOf(row)));
    this.internals.open = isOpen;
  }

  // Reads facts that only the list of agents has: whether there is a plan to draw, and whether the agent begins turns.
  /** @param {import("./api.js").TaskRow} row */
  async draw(row) {
    const waits = row.turnState === "queued" || row.turnState === "waiting";
    if (!waits && this.drawn === row.lastEvent) return;
    this.drawn = row.lastEvent;
    const known = await agents(this.signal).catch(() => null);
    const mine = known?.agents.find(({ name }) => name === row.agent);
    if (mine?.hasPlan) this.picture.refresh(row.lastEvent);
    if (!known || this.signal.aborted) return;
    const why = !mine ? "its agent is not served" : mine.paused ? "its agent is paused" : "";
    fill(this.why, waits && why ? h("a", { href: url("agents"), class: "warn" }, why) : null);
  }

  /**
   * @param {HTMLElement} place
   * @param {string} title
   * @param {unknown} value
   */
  detail(place, title, value) {
    const said = value === undefined || value === null ? "" : JSON.stringify(value);
    place.hidden = said === "" || said === "{}";
    if (place.dataset.said === said || place.hidden) return;
    place.dataset.said = said;
    fill(place, h("summary", null, title), json(value));
  }

  // A form in use is replaced only for another question.
  /** @param {import("./api.js").TaskView} view */
  ask(view) {
    const asked = view.question?.event ?? -1;
    this.question.hidden = asked < 0;
    if (asked === this.asked) return;
    this.asked = asked;
    if (asked < 0) return fill(this.question);
    fill(
      this.question,
      h("h2", null, "Needs input"),
      question(view, mayAct(), () => this.attempt(() => this.refresh())),
    );
  }

  /** @param {import("./api.js").TaskRow} row */
  act(row) {
    const ended = endStates.includes(row.state);
    const said = `${ended} ${row.turnState} ${row.waitsUntil} ${row.cancelRequested}`;
    if (!mayAct() || this.actions.dataset.said === said) return;
    this.actions.dataset.said = said;
    const button = (/** @type {string} */ name, /** @type {() => unknown} */ work, danger = false) => {
      const made = h("button", { type: "button", class: danger ? "danger" : "" }, name);
      made.addEventListener("click", work);
      return made;
    };
    fill(
      this.actions,
      ended || row.cancelRequested
        ? null
        : button("Cancel…", () => this.simple("cancel", "Cancel this task", "Cancel it", true), true),
      row.turnState === "running" || row.waitsUntil
        ? button("Requeue…", () => this.simple("requeue", "Put the turn back into the queue", "Requeue it"))
        : null,
      button("Retry as new…", () => this.attempt(() => this.retry())),
    );
  }

  /**
   * @param {string} action
   * @param {string} title
   * @param {string} verb
   */
  async simple(action, title, verb, danger = false) {
    const act = (/** @type {string} */ reason) => post(`/tasks/${this.key}/${action}`, { reason });
    if (!(await confirmed({ title, verb, danger, act }))) return;
    toast(`Task ${this.key}: ${action} was accepted.`);
    this.attempt(() => this.refresh());
  }

  // The message that a retry sends can be edited, part by part.
  async retry() {
    const { requestEvent = 1 } = await task(this.key, this.signal);
    const page = await events(this.key, { after: requestEvent - 1, limit: 1 }, this.signal);
    const first = page.events.find(({ type }) => type === "message");
    /** @type {import("./api.js").Part[]} */
    const originals = first?.message?.parts ?? [];
    const fields = originals.map(partField);
    // A message that was cut short cannot be edited.
    const more = first?.cutBytes ? [] : fields.flatMap(({ shown }) => shown);
    let made = "";
    const act = async (/** @type {string} */ reason) => {
      const parts = await Promise.all(fields.map(({ part }) => part()));
      const edited = more.length > 0 && parts.some((part) => part === null || !("part" in part));
      const message = edited
        ? { messageId: newId(), role: "ROLE_USER", parts: parts.filter((part) => part !== null) }
        : undefined;
      made = (await post(`/tasks/${this.key}/retry`, { reason, message })).task.key;
    };
    const words = "This creates a new task of the same caller and agent in a new context.";
    if (await confirmed({ title: "Retry as a new task", words, verb: "Retry", more, act })) go(url(`tasks/${made}`));
  }
}
customElements.define("baton-task", Task);

/**
 * The field of one part of a message. `part` returns the part to send: a new one, a reference to the unchanged part by
 * its place, or null for none.
 * @param {import("./api.js").Part} original
 * @param {number} place
 * @returns {{shown: HTMLElement[], part: () => Promise<Record<string, unknown> | null>}}
 */
function partField(original, place) {
  const id = place === 0 ? "message" : `message-${place}`;
  const isText = typeof original.text === "string";
  if (isText || original.data !== undefined) {
    const before = isText ? (original.text ?? "") : JSON.stringify(original.data, null, 2);
    const field = h("textarea", { rows: 6, value: before, id, spellcheck: isText });
    const read = async () => {
      if (field.value === before) return { part: place };
      const { text: _, data: __, ...rest } = /** @type {Record<string, unknown>} */ (original);
      return isText ? { ...rest, text: field.value } : { ...rest, data: parsed(field.value) };
    };
    return { shown: [h("label", { for: id }, isText ? "Message" : "Data (JSON)"), field], part: read };
  }
  const name = [original.filename, original.mediaType].filter(Boolean).join(" · ") || "file";
  const field = h("input", { type: "file", id });
  const dropped = h("input", { type: "checkbox" });
  const read = async () => {
    const [file] = field.files ?? [];
    if (file) return { raw: await base64(file), filename: file.name, mediaType: file.type || original.mediaType };
    return dropped.checked ? null : { part: place };
  };
  return {
    shown: [
      h("label", { for: id }, `Instead of the file ${name}`),
      field,
      h("label", { class: "check" }, dropped, " Send it without this file"),
    ],
    part: read,
  };
}

/** @param {string} text */
function parsed(text) {
  try {
    return exactJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Error(`The data is not JSON: ${error.message}`);
  }
}

/** @param {File} file @returns {Promise<string>} */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("error", () => reject(new Error(`${file.name} cannot be read.`)));
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^[^,]*,/, "")));
    reader.readAsDataURL(file);
  });
}
