// Talking to an agent over a chosen protocol, with the raw traffic beside the conversation.
import { agentProof, agents, me, proof } from "./api.js";
import { isComposing, state, states } from "./bits.js";
import { append, fill, h, say } from "./dom.js";
import { fieldsOf } from "./form.js";
import { Page, told } from "./page.js";
import { grpc, protocols as ofBrowsers } from "./protocols.js";
import { go, url } from "./router.js";
import { frames } from "./sse.js";
import { Traffic } from "./traffic.js";

class Playground extends Page {
  constructor() {
    super();
    this.agent = h("select", { name: "agent", "data-find": "" });
    this.protocols = ofBrowsers;
    this.protocol = h("select", { name: "protocol" });
    this.talked = h("div", { class: "talked", role: "log", "aria-label": "Conversation", tabIndex: 0 });
    this.traffic = new Traffic((request) => this.attempt(() => this.exchange(request, this.spoken)));
    this.headers = h("textarea", {
      rows: 2,
      class: "code",
      spellcheck: false,
      "aria-label": "Headers to add",
      placeholder: "X-Name: value",
    });
    this.words = h("textarea", { rows: 2, required: true, "aria-label": "Message", placeholder: "Write a message" });
    this.send = h("button", { type: "submit", class: "primary" }, "Send");
    this.stop = h("button", { type: "button", hidden: true }, "Stop reading");
    /** @type {AbortController | null} */
    this.reading = null;
    this.talk = fresh();
  }

  connectedCallback() {
    const again = h("button", { type: "button" }, "New conversation");
    again.addEventListener("click", () => this.begin());
    const form = h("form", { class: "say" }, this.words, h("div", { class: "buttons" }, this.stop, this.send));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => this.saySomething());
    });
    this.words.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      form.requestSubmit();
    });
    this.stop.addEventListener("click", () => this.reading?.abort());
    for (const select of [this.agent, this.protocol]) {
      select.addEventListener("change", () =>
        go(url("playground", { agent: this.agent.value, protocol: this.protocol.value }), { replace: true }),
      );
    }
    fill(
      this,
      this.heading("Playground", again),
      h(
        "div",
        { class: "filters" },
        h("label", null, h("span", null, "Agent"), this.agent),
        h("label", null, h("span", null, "Protocol"), this.protocol),
      ),
      h("details", { class: "extra" }, h("summary", null, "Headers"), this.headers),
      this.problem,
      h(
        "div",
        { class: "playground" },
        h("section", null, h("h2", null, "Conversation"), this.talked, form),
        h(
          "section",
          null,
          h("h2", null, "Traffic", h("small", null, "the token is left out")),
          this.traffic,
        ),
      ),
    );
    this.attempt(async () => {
      const [{ agents: all }, who] = await Promise.all([agents(this.signal), me(this.signal)]);
      if (who.grpc) this.protocols = [...ofBrowsers, grpc];
      fill(this.protocol, ...this.protocols.map(({ name }) => h("option", null, name)));
      fill(this.agent, ...all.map(({ name }) => h("option", null, name)));
      this.routed();
    });
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.reading?.abort();
  }

  routed() {
    const { query } = this.route;
    const agent = query.get("agent");
    const protocol = query.get("protocol");
    if (agent) this.agent.value = agent;
    if (protocol) this.protocol.value = protocol;
    this.begin();
  }

  begin() {
    this.reading?.abort();
    this.talk = fresh();
    fill(this.talked);
    this.traffic.clear();
    this.words.focus();
  }

  get spoken() {
    return this.protocols[this.protocol.selectedIndex];
  }

  /** @param {unknown} [data] the answer by a question's schema, instead of a text */
  async saySomething(data) {
    const text = data === undefined ? this.words.value : JSON.stringify(data);
    const { path, headers, body, relayed } = this.spoken.send(text, this.talk, data);
    const to = relayed ? path : `/agents/${encodeURIComponent(this.agent.value)}${path}`;
    if (relayed) body.agent = this.agent.value;
    const all = { "Content-Type": "application/json", Accept: "text/event-stream", ...headers, ...this.added() };
    if (data === undefined) this.words.value = "";
    for (const form of this.talked.querySelectorAll("form")) form.remove();
    this.bubble("mine", text);
    await this.exchange({ to, headers: all, body, relayed }, this.spoken);
  }

  /** The headers to add. @returns {Record<string, string>} */
  added() {
    const given = this.headers.value.split("\n").filter((line) => line.trim() !== "");
    return Object.fromEntries(
      given.map((line) => {
        const at = line.indexOf(":");
        if (at < 1) throw new Error(`"${line}" is not a header. Write it as Name: value.`);
        const name = line.slice(0, at).trim();
        if (name.toLowerCase() === "authorization") throw new Error("The console sends its own token: remove this header.");
        return [name, line.slice(at + 1).trim()];
      }),
    );
  }

  /**
   * @param {import("./traffic.js").Request} request
   * @param {import("./protocols.js").Protocol} protocol
   */
  async exchange(request, protocol) {
    const answer = this.bubble("theirs", "");
    const mine = (this.reading = new AbortController());
    this.stop.hidden = false;
    this.send.disabled = true;
    try {
      this.traffic.sent(request);
      const mineToo = request.relayed ? proof() : await agentProof();
      const response = await fetch(request.to, {
        method: "POST",
        headers: { ...request.headers, ...mineToo.headers },
        body: JSON.stringify(request.body),
        credentials: mineToo.credentials,
        signal: mine.signal,
      });
      this.traffic.answered(response);
      await this.read(response, protocol, answer);
    } catch (error) {
      if (!mine.signal.aborted) answer.note(told(error));
    } finally {
      this.stop.hidden = true;
      this.send.disabled = false;
      if (!answer.asks()) this.words.focus();
    }
    this.talk.turns.push({ id: String(this.talk.turns.length), role: "assistant", content: answer.said() });
  }

  /**
   * @param {Response} response
   * @param {import("./protocols.js").Protocol} protocol
   * @param {ReturnType<Playground["bubble"]>} answer
   */
  async read(response, protocol, answer) {
    const streams = response.headers.get("Content-Type")?.startsWith("text/event-stream");
    if (!streams || !response.body) {
      const text = await response.text();
      if (response.status === 404)
        return answer.note("Not served at this address: the agents may be at another address than the console.");
      if (!response.ok) answer.note(`HTTP ${response.status}`);
      return this.hear(text, protocol, answer);
    }
    for await (const frame of frames(response.body)) {
      this.hear(frame.data, protocol, answer);
    }
  }

  /**
   * @param {string} text
   * @param {import("./protocols.js").Protocol} protocol
   * @param {ReturnType<Playground["bubble"]>} answer
   */
  hear(text, protocol, answer) {
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      return this.traffic.received(text.slice(0, 40) || "nothing", text, undefined); // Such as [DONE].
    }
    this.traffic.received(protocol.called(body) || "event", text, body);
    const heard = protocol.hear(body, this.talk);
    if (heard.text) answer.add(heard.text);
    if (heard.note) answer.note(heard.note);
    if (heard.schema) answer.ask(heard.schema);
  }

  /** The form for an answer. @param {import("./api.js").Schema} schema */
  form(schema) {
    const fields = fieldsOf(schema);
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const send = h("button", { type: "submit", class: "primary" }, "Answer");
    const form = h("form", { class: "answer" }, fields.element, problem, h("div", { class: "buttons" }, send));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        const data = fields.value();
        this.attempt(() => this.saySomething(data));
      } catch (error) {
        say(problem, `This is not JSON: ${error instanceof Error ? error.message : error}`);
        problem.hidden = false;
      }
    });
    return form;
  }

  /**
   * @param {string} whose
   * @param {string} text
   */
  bubble(whose, text) {
    const place = h("div", { class: "words", dir: "auto" }, text);
    const notes = h("div", { class: "bubble-notes" });
    const whole = h("div", { class: `bubble ${whose}` }, place, notes);
    this.talked.append(whole);
    let all = text;
    let asks = false;
    const down = () => this.talked.scrollTo(0, this.talked.scrollHeight);
    down();
    return {
      said: () => all,
      asks: () => asks,
      ask: (/** @type {import("./api.js").Schema} */ schema) => {
        if (asks) return;
        asks = true;
        const form = this.form(schema);
        whole.append(form);
        down();
        /** @type {HTMLElement | null} */ (form.querySelector("input, select, textarea"))?.focus();
      },
      add: (/** @type {string} */ more) => {
        all += all === "" ? more.replace(/^\n+/, "") : more;
        say(place, all);
        down();
      },
      note: (/** @type {string} */ note) => {
        // A task's state replaces the one before.
        const last = notes.lastElementChild;
        const made = state(note);
        if (last?.textContent === made.textContent) return;
        if (isState(note) && isState(/** @type {HTMLElement} */ (last)?.title ?? "")) last?.replaceWith(made);
        else append(notes, [made]);
        down();
      },
    };
  }
}
customElements.define("baton-playground", Playground);

/** @param {string} name */
const isState = (name) => states.includes(name);

/** @returns {import("./protocols.js").Talk} */
function fresh() {
  return { context: "", task: "", ask: "", turns: [] };
}
