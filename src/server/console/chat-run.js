// One task in a conversation: the user's messages, and the agent's answers, tools, artifacts and questions.
import { cancelTask, extension, getTask, stateName, told } from "./chat-api.js";
import { answerView, questionForm, schemaIn, wordsOf } from "./chat-ask.js";
import { Follower, hasEnded, isAsking } from "./chat-follow.js";
import { Markdown } from "./chat-markdown.js";
import { ownParts, partView } from "./chat-parts.js";
import { Problem } from "./chat-problem.js";
import { Steps } from "./chat-steps.js";
import { Thoughts } from "./chat-thoughts.js";
import { Tools } from "./chat-tools.js";
import { copyButton, newId } from "./bits.js";
import { fill, h, say } from "./dom.js";

/**
 * @typedef {import("./api.js").Part} Part
 * @typedef {import("./chat-api.js").Message} Message
 * @typedef {{place: HTMLElement, text: Markdown | null, isDone: boolean}} Shown an artifact's place and its growing text
 */

/**
 * Events: `changed` when its state or its height has changed; `again` and `edit` with a message to send or to write anew;
 * `asks` when it shows a question; `answered`.
 */
export class Run extends EventTarget {
  /**
   * @param {import("./chat-api.js").Agent} agent
   * @param {string} context
   */
  constructor(agent, context) {
    super();
    this.agent = agent;
    this.context = context;
    this.follower = new Follower(agent, this);
    this.body = h("div", { class: "run-body" });
    this.progress = h("div", { class: "run-progress", hidden: true });
    this.notice = h("p", { class: "faint", role: "status", hidden: true });
    this.thoughts = new Thoughts(agent, () => ({ id: this.follower.task, contextId: this.context }));
    this.thoughts.element.hidden = true;
    this.acts = h("div", { class: "acts" });
    this.steps = agent.plan ? new Steps(agent, () => this.follower.task) : null;
    this.element = h("section", { class: "run" }, this.body, this.steps?.element, this.progress, this.notice, this.acts);
    /** @type {Map<string, Shown>} */
    this.artifacts = new Map();
    this.tools = new Tools(this.body);
    /** The texts of the answer.
     * @type {Markdown[]} */
    this.texts = [];
    /** @type {Message[]} */
    this.unshown = [];
    /** @type {Set<string>} */
    this.said = new Set();
    /** @type {HTMLElement | null} */
    this.question = null;
    /** @type {HTMLElement | null} */
    this.answered = null;
    this.asked = "";
    this.ask = "";
    /** The schema of the newest question.
     * @type {import("./api.js").Schema | null} */
    this.schema = null;
    this.state = "";
    this.isPast = false;
    this.isFollowed = false;
    this.isUnwanted = false;
    /** The message that began the task. Answers to its questions are not part of it.
     * @type {Message | null} */
    this.request = null;
  }

  get isBusy() {
    return !this.isPast && !hasEnded(this.state) && !isAsking(this.state);
  }

  get isAsking() {
    return isAsking(this.state) && this.question !== null;
  }

  /** Whether the question is answered with a form or buttons. */
  get hasForm() {
    return this.isAsking && this.question?.querySelector("form") !== null;
  }

  stop() {
    this.follower.stop();
    this.thoughts.stop();
    this.steps?.stop();
  }

  /** A task that waits for its user is not followed in a hidden page: a browser has few connections to a server.
   * @param {boolean} isSeen */
  see(isSeen) {
    if (!this.isAsking || !this.isFollowed) return;
    if (isSeen) this.goOn();
    else this.follower.stop();
  }

  /** Follows the task after its last known event.
   * @returns {Promise<void>} */
  async goOn() {
    this.isFollowed = true;
    try {
      await this.follower.follow();
    } catch (error) {
      this.trouble(told(error), () => this.goOn());
    }
  }

  changed() {
    this.dispatchEvent(new Event("changed"));
  }

  // ---- actions of the user

  /**
   * Begins the task with a message. Resolves when the task has ended.
   * @param {{parts: Part[], metadata?: Record<string, any>}} what
   */
  begin({ parts, metadata }) {
    /** @type {Message} */
    const message = { messageId: newId(), role: "ROLE_USER", parts, metadata, contextId: this.context };
    this.isFollowed = true;
    this.mine(message);
    this.enter("submitted");
    return this.send(message);
  }

  /** Stops the task, or as soon as the server has told its id. */
  async halt() {
    this.showProgress("Stopping…", undefined);
    this.isUnwanted = this.follower.task === "";
    if (!this.isUnwanted) await cancelTask(this.agent, this.follower.task);
  }

  /** @param {Message} message
   * @returns {Promise<void>} */
  async send(message) {
    try {
      await this.follower.send(message);
    } catch (error) {
      this.isUnwanted = false;
      this.enter("failed");
      this.trouble(told(error), () => {
        this.enter("submitted");
        return this.send(message);
      });
    }
  }

  /**
   * Answers the task's question. Resolves when the task has ended; if the answer was not accepted, rejects and asks
   * again.
   * @param {Part[]} parts
   */
  async answer(parts) {
    const message = { messageId: newId(), role: "ROLE_USER", parts, contextId: this.context, taskId: this.follower.task };
    const state = this.state;
    this.isFollowed = true;
    this.answered = this.question;
    this.question = null;
    this.dispatchEvent(new Event("answered"));
    this.answered?.classList.add("is-answered");
    const bubble = this.mine(message);
    this.enter("submitted");
    try {
      await this.follower.send(message, this.ask || undefined);
    } catch (error) {
      if (!this.answered) return this.trouble(told(error), () => this.goOn());
      bubble?.remove();
      this.question = this.answered;
      this.question.classList.remove("is-answered");
      this.answered = null;
      this.enter(state);
      throw error;
    }
  }

  /**
   * Shows an existing task from its beginning, and follows it.
   * @param {import("./chat-api.js").Task} task
   */
  async restore(task) {
    this.follower.task = task.id;
    this.unshown = (task.history ?? []).filter(({ role }) => role === "ROLE_USER");
    this.nextOfUser();
    this.enter(stateName(task.status.state));
    this.isPast = hasEnded(this.state);
    await this.goOn();
    if (this.isPast && !this.steps) this.thinkWhenSeen();
  }

  /** Fetches the thoughts of an old task once someone sees where they would be. */
  thinkWhenSeen() {
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      this.thoughts.watch(true);
    }).observe(this.element);
  }

  /**
   * Shows the present state of a task, without following it.
   * @param {import("./chat-api.js").Task} task
   */
  async look(task) {
    try {
      const whole = await getTask(this.agent, task.id);
      for (const message of whole.history ?? []) {
        if (message.role === "ROLE_USER") this.mine(message);
        else this.schema = schemaIn(message.parts);
      }
      this.follower.take(0, { task: whole });
    } catch (error) {
      this.trouble(told(error), () => this.look(task));
    }
  }

  // ---- events of the task

  /** @param {import("./chat-api.js").Task} task */
  whole(task) {
    for (const artifact of task.artifacts ?? []) {
      if (!this.artifacts.get(artifact.artifactId)?.isDone) this.artifact({ artifact });
    }
    this.status(task);
  }

  /** @param {Message} message */
  message(message) {
    this.speak(message.parts);
    this.enter("completed");
  }

  /** @param {import("./chat-api.js").StatusUpdate} update */
  status({ status, metadata }) {
    if (this.isUnwanted && this.follower.task) this.halt().catch((error) => this.trouble(told(error), () => this.halt()));
    const before = this.state;
    const state = stateName(status.state);
    this.answered?.querySelector("form")?.remove();
    this.answered = null;
    if (this.question && !isAsking(state)) {
      this.closeQuestion();
      this.nextOfUser();
    }
    const parts = status.message?.parts ?? [];
    if (isAsking(state)) this.asks(state, status.message);
    else if (hasEnded(state)) this.ends(state, parts);
    else this.note(parts, metadata);
    this.steps?.renew(hasEnded(state));
    if (state !== before || hasEnded(state)) this.enter(state);
  }

  /** @param {import("./chat-api.js").ArtifactUpdate} update */
  artifact({ artifact, append: goesOn, lastChunk }) {
    const known = this.artifacts.get(artifact.artifactId);
    const shown = known ?? this.openArtifact(artifact);
    if (known && !goesOn) {
      shown.text?.clear();
      fill(shown.place, shown.text?.element);
    }
    for (const part of artifact.parts) this.addPart(shown, part);
    if (lastChunk) shown.text?.end();
    shown.isDone = Boolean(lastChunk);
    this.changed();
  }

  /** @param {boolean} isConnected */
  connected(isConnected) {
    this.notice.hidden = isConnected;
    if (!isConnected) say(this.notice, "The connection was lost. Retrying…");
  }

  // ---- display

  /** Shows a state, with the actions that it offers.
   * @param {string} state */
  enter(state) {
    this.state = state;
    this.element.dataset.state = state;
    if (this.steps) this.thoughts.element.hidden = true;
    else if (this.follower.task && this.isFollowed && this.isBusy) this.thoughts.watch();
    if (hasEnded(state) && !this.steps) this.thoughts.end();
    this.showActs();
    if (!this.isBusy) this.progress.hidden = true;
    else if (this.progress.hidden) this.showProgress("", undefined);
    this.changed();
  }

  /** @param {Message} message */
  mine(message) {
    if (this.said.has(message.messageId)) return null;
    this.said.add(message.messageId);
    const schema = this.request ? this.schema : null;
    const views = message.parts.map((part) => answerView(part, schema) ?? ownParts([part], this.agent)[0]);
    const bubble = h("div", { class: "bubble mine" }, ...views);
    const said = h("div", { class: "said" }, bubble);
    this.body.append(said);
    if (!this.request) {
      this.request = message;
      const edit = h("button", { type: "button", class: "link edit", "aria-label": "Edit and send again" }, "Edit");
      edit.addEventListener("click", () => this.dispatchEvent(new CustomEvent("edit", { detail: message.parts })));
      said.append(edit);
      if (!this.steps) this.body.append(this.thoughts.element);
    }
    this.changed();
    return said;
  }

  /** Offers to copy the answer, and to send the request again after it was stopped. */
  showActs() {
    if (!hasEnded(this.state)) return fill(this.acts);
    const texts = () => this.texts.map(({ source }) => source).filter(Boolean).join("\n\n");
    const copy = this.texts.length > 0 ? copyButton("Copy", "Copy the answer", texts) : null;
    const again = this.state === "canceled" ? h("button", { type: "button", class: "link" }, "Try again") : null;
    again?.addEventListener("click", () => this.repeat());
    fill(this.acts, copy, again);
  }

  /** Sends the whole request again, as a new task. */
  repeat() {
    const { parts = [], metadata } = this.request ?? {};
    this.dispatchEvent(new CustomEvent("again", { detail: { parts, metadata } }));
  }

  /** Shows the user's message that is next in the log; fetches it if this page does not know it. */
  async nextOfUser() {
    const next = this.unshown.shift();
    if (next) return void this.mine(next);
    const task = await getTask(this.agent, this.follower.task).catch(() => null);
    for (const message of task?.history ?? []) if (message.role === "ROLE_USER") this.mine(message);
  }

  /** @param {import("./chat-api.js").Artifact} artifact */
  openArtifact(artifact) {
    const name = artifact.name ?? "";
    const place = h("div", { class: "artifact-parts" });
    const about = artifact.description ? h("small", null, artifact.description) : null;
    const head = name ? h("div", { class: "name" }, name, about) : null;
    this.body.append(h("div", { class: name ? "artifact" : "theirs" }, head, place));
    /** @type {Shown} */
    const shown = { place, text: null, isDone: false };
    this.artifacts.set(artifact.artifactId, shown);
    return shown;
  }

  /** Consecutive texts in an artifact are one text.
   * @param {Shown} shown
   * @param {Part} part */
  addPart(shown, part) {
    const isProse = typeof part.text === "string" && (!part.mediaType || /^text\/(plain|markdown)\b/.test(part.mediaType));
    if (!isProse) {
      shown.text?.end();
      shown.text = null;
      shown.place.append(partView(part, this.agent));
      return;
    }
    if (!shown.text) {
      shown.text = new Markdown();
      this.texts.push(shown.text);
      shown.place.append(shown.text.element);
    }
    shown.text.add(part.text ?? "");
  }

  /** @param {Part[]} parts */
  speak(parts) {
    if (parts.length === 0) return;
    /** @type {Shown} */
    const shown = { place: h("div", { class: "theirs" }), text: null, isDone: true };
    for (const part of parts) this.addPart(shown, part);
    shown.text?.end();
    this.body.append(shown.place);
  }

  /**
   * Shows a note of a working task: a tool in use, or its progress.
   * @param {Part[]} parts
   * @param {Record<string, any>} [metadata]
   */
  note(parts, metadata) {
    // The list of a plan's steps has its progress.
    const rest = this.steps ? [] : parts.filter((part) => !this.tools.take(part.data));
    const text = rest.map((part) => part.text ?? "").join("");
    const part = typeof metadata?.progress === "number" ? metadata.progress : undefined;
    if (!this.isPast && (text || part !== undefined)) this.showProgress(text, part);
    for (const other of rest) if (other.text === undefined) this.body.append(partView(other, this.agent));
    this.changed();
  }

  /** @param {string} text
   * @param {number | undefined} part */
  showProgress(text, part) {
    const bar =
      part === undefined
        ? h("span", { class: "busy-mark", "aria-hidden": "true" })
        : h("progress", { max: 1, value: part, "aria-label": "Progress" });
    fill(this.progress, bar, h("span", { class: "faint", dir: "auto" }, text || "Working…"));
    this.progress.hidden = false;
  }

  /**
   * @param {string} state
   * @param {Message} [message]
   */
  asks(state, message) {
    const id = message?.messageId ?? "";
    if (this.question && this.asked === id) return;
    this.question?.remove();
    this.asked = id;
    const parts = message?.parts ?? [];
    const { ask, askedBy } = message?.metadata?.[extension] ?? {};
    this.ask = ask ?? "";
    const who = Array.isArray(askedBy) ? String(askedBy.at(-1)?.agent ?? "") : "";
    this.schema = schemaIn(parts);
    const words = wordsOf(parts, this.agent);
    const asked = state === "auth-required" ? "Access is required" : `${who || "The agent"} asks`;
    const form = questionForm(parts, (answer) => this.answer(answer));
    this.question = h("div", { class: "question-box", tabIndex: -1 }, h("div", { class: "name" }, asked), ...words, form);
    this.body.append(this.question);
    this.dispatchEvent(new Event("asks"));
  }

  /** Keeps the question's text in the conversation and removes its form. */
  closeQuestion() {
    if (!this.question) return;
    this.question.classList.add("is-answered");
    this.question.querySelector("form")?.remove();
    this.question = null;
  }

  /**
   * @param {string} state
   * @param {Part[]} parts
   */
  ends(state, parts) {
    for (const { text } of this.artifacts.values()) text?.end();
    for (const message of this.unshown.splice(0)) this.mine(message);
    this.tools.end();
    if (state === "completed") return this.speak(parts);
    const text = parts.map((part) => part.text ?? "").join("\n");
    if (state === "canceled") {
      this.body.append(h("p", { class: "faint" }, text ? `Stopped: ${text}` : "Stopped."));
      return;
    }
    const silent = state === "rejected" ? "The agent rejected the request." : "The agent failed without giving a reason.";
    const again = h("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => {
      again.remove();
      this.repeat();
    });
    this.body.append(h("div", { class: "problem run-problem" }, h("span", { dir: "auto" }, text || silent), again));
    this.notice.hidden = true;
  }

  /**
   * Shows an error, with a button to try again.
   * @param {string} text
   * @param {() => Promise<unknown>} retry
   */
  trouble(text, retry) {
    const problem = new Problem();
    problem.element.classList.add("run-problem");
    problem.tell(text, () => {
      problem.element.remove();
      retry().catch((error) => this.trouble(told(error), retry));
    });
    this.body.append(problem.element);
    this.notice.hidden = true;
    this.changed();
  }
}
