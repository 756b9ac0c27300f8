// The overview: tasks and deliveries that run, wait, fail or are stuck.
import { overview, tasks } from "./api.js";
import { askingQuery, facts, nothing, number, states, stuckQuery } from "./bits.js";
import { draw, Samples, tile } from "./chart.js";
import { fill, h, say } from "./dom.js";
import { Page } from "./page.js";
import { url } from "./router.js";
import { showTasks, taskList } from "./task-list.js";
import { when } from "./when.js";

const failureQuery = { state: "failed,rejected", roots: "1" };
// Kept outside the page, so that the charts continue when the user returns to it.
const history = { running: new Samples(), queued: new Samples(), ended: new Samples(), failed: new Samples() };
/** @type {import("./api.js").Overview | null} */
let before = null;

/** @param {import("./api.js").Overview} now */
function remember(now) {
  const seconds = before ? Math.max(0.5, (Date.parse(now.at) - Date.parse(before.at)) / 1000) : 0;
  const same = before && before.startedAt === now.startedAt;
  const rate = (/** @type {(keyof import("./api.js").Ended)[]} */ names) => {
    const sum = (/** @type {import("./api.js").Overview} */ one) =>
      names.reduce((all, name) => all + one.ended[name], 0);
    return before && same ? Math.max(0, (sum(now) - sum(before)) / seconds) : 0;
  };
  history.running.add(now.turns.running);
  history.queued.add(now.turns.queued);
  history.ended.add(rate(["completed", "failed", "canceled", "rejected"]));
  history.failed.add(rate(["failed", "rejected"]));
  before = now;
}

class Overview extends Page {
  constructor() {
    super();
    this.tiles = {
      running: tile("Running", url("tasks", { turn: "running" })),
      queued: tile("Queued", url("tasks", { turn: "queued", order: "oldest" })),
      ended: tile("Ended per second", url("tasks")),
      failed: tile("Failed per second", url("tasks", { state: "failed" })),
    };
    this.states = h("div", { class: "states" });
    this.stuck = taskList("Stuck tasks");
    this.waiting = taskList("Tasks that need input");
    this.failures = taskList("Newest failures");
    this.notes = h("div", { class: "notes" });
    this.about = h("div");
    this.nothingStuck = nothing("Nothing is stuck.");
    this.nobodyWaits = nothing("No tasks need input.");
    this.noFailures = nothing("Nothing has failed.");
  }

  connectedCallback() {
    fill(
      this,
      this.heading("Overview"),
      this.problem,
      this.notes,
      h("div", { class: "tiles" }, ...Object.values(this.tiles).map(({ link }) => link)),
      this.states,
      this.section(
        "Stuck",
        "queued or running, and unchanged for 10 minutes",
        url("tasks", stuckQuery),
        this.stuck,
        this.nothingStuck,
      ),
      this.section("Needs input", "longest first", url("waiting"), this.waiting, this.nobodyWaits),
      this.section(
        "Newest failures",
        "without those of children",
        url("tasks", failureQuery),
        this.failures,
        this.noFailures,
      ),
      this.about,
    );
    this.every(2000, () => this.refresh());
  }

  /**
   * @param {string} title
   * @param {string} about
   * @param {string} all
   * @param {HTMLElement} list
   * @param {HTMLElement} empty
   */
  section(title, about, all, list, empty) {
    const head = h(
      "h2",
      null,
      title,
      about ? h("small", null, about) : null,
      h("a", { href: all, class: "all" }, "all"),
    );
    return h("section", null, head, list, empty);
  }

  async refresh() {
    const most = { limit: 5 };
    const [now, stuck, asks, failures] = await Promise.all([
      overview(this.signal),
      tasks({ ...stuckQuery, ...most }, this.signal),
      tasks({ ...askingQuery, ...most }, this.signal),
      tasks({ ...failureQuery, ...most }, this.signal),
    ]);
    remember(now);
    this.figures(now);
    for (const [list, page, empty] of /** @type {const} */ ([
      [this.stuck, stuck, this.nothingStuck],
      [this.waiting, asks, this.nobodyWaits],
      [this.failures, failures, this.noFailures],
    ])) {
      showTasks(list, page.tasks);
      empty.hidden = page.tasks.length > 0;
    }
  }

  /** @param {import("./api.js").Overview} now */
  figures(now) {
    const last = (/** @type {Samples} */ samples) => (samples.values.at(-1) ?? 0).toFixed(1);
    say(this.tiles.running.figure, number(now.turns.running));
    say(this.tiles.running.note, `of ${number(now.turns.slots)} slots`);
    say(this.tiles.queued.figure, number(now.turns.queued));
    say(this.tiles.queued.note, now.turns.waitingForTime ? `${number(now.turns.waitingForTime)} waiting for a start time` : "");
    say(this.tiles.ended.figure, last(history.ended));
    say(this.tiles.ended.note, `${number(now.ended.completed)} completed`);
    say(this.tiles.failed.figure, last(history.failed));
    say(this.tiles.failed.note, `${number(now.ended.failed + now.ended.rejected)} since the start`);
    draw(this.tiles.running.chart, history.running, "busy");
    draw(this.tiles.queued.chart, history.queued, "quiet");
    draw(this.tiles.ended.chart, history.ended, "good");
    draw(this.tiles.failed.chart, history.failed, "bad");
    this.counts(now);
    this.warnings(now);
    const served = `${number(now.connections)} connections, ${number(now.streams)} streams`;
    fill(
      this.about,
      facts([
        ["Version", now.version],
        ["Started", when(now.startedAt)],
        ["Open", served],
        ["Schedules", number(now.schedules)],
      ]),
    );
  }

  /** @param {import("./api.js").Overview} now */
  counts(now) {
    const names = [
      ...states.filter((name) => name in now.states),
      ...Object.keys(now.states).filter((name) => !states.includes(name)),
    ];
    fill(
      this.states,
      ...names.map((name) => {
        const { tasks: count, exact } = now.states[name];
        const text = `${exact ? "" : "≥ "}${number(count)}`;
        return h(
          "a",
          { href: url("tasks", { state: name }), class: "count" },
          h("span", null, name),
          h("b", null, text),
        );
      }),
    );
  }

  /** @param {import("./api.js").Overview} now */
  warnings(now) {
    const { deliveries, agents } = now;
    const few = (/** @type {number} */ n, /** @type {string} */ one) => `${number(n)} ${one}${n === 1 ? "" : "s"}`;
    fill(
      this.notes,
      now.storeWritable ? null : h("p", { class: "problem" }, "The server cannot write to its database; see its log."),
      now.turns.quarantined
        ? h(
            "a",
            { href: url("tasks", { turn: "waiting", error: "quarantined" }), class: "warn" },
            `${few(now.turns.quarantined, "turn")} quarantined`,
          )
        : null,
      deliveries.givenUp
        ? h(
            "a",
            { href: url("deliveries", { state: "given-up" }), class: "warn" },
            `${few(deliveries.givenUp, "webhook")} given up`,
          )
        : null,
      deliveries.waiting
        ? h(
            "a",
            { href: url("deliveries", { state: "waiting" }), class: "warn" },
            `${few(deliveries.waiting, "webhook")} waiting`,
          )
        : null,
      agents.paused ? h("a", { href: url("agents"), class: "warn" }, `${few(agents.paused, "agent")} paused`) : null,
      agents.leftOut
        ? h("a", { href: url("agents"), class: "warn" }, `${few(agents.leftOut, "agent")} left out`)
        : null,
      agents.outdated
        ? h("a", { href: url("agents"), class: "warn" }, `${few(agents.outdated, "agent")} with an invalid card`)
        : null,
    );
  }
}
customElements.define("baton-overview", Overview);
