// Talking to an agent over a chosen protocol, with the raw traffic beside the conversation.
import { agents, authorization, me } from "./api.js";
import { state } from "./bits.js";
import { json } from "./content.js";
import { append, fill, h, say, visible } from "./dom.js";
import { Page, told } from "./page.js";
import { grpc, protocols as ofBrowsers } from "./protocols.js";
import { go, url } from "./router.js";
import { frames } from "./sse.js";

const trafficMax = 400;

class Playground extends Page {
  constructor() {
    super();
    this.agent = h("select", { name: "agent", "data-find": "" });
    this.protocols = ofBrowsers;
    this.protocol = h("select", { name: "protocol" });
    this.talked = h("div", { class: "talked", role: "log", "aria-label": "Conversation", tabIndex: 0 });
    this.traffic = h("ol", { class: "traffic", "aria-label": "Raw traffic", tabIndex: 0 });
    this.words = h("textarea", { rows: 2, required: true, "aria-label": "Message", placeholder: "Say something" });
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
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
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
      this.problem,
      h(
        "div",
        { class: "playground" },
        h("section", null, h("h2", null, "Conversation"), this.talked, form),
        h(
          "section",
          null,
          h("h2", null, "Traffic", h("small", null, "as sent and received; the token is left out")),
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
    fill(this.traffic);
    this.words.focus();
  }

  async saySomething() {
    const text = this.words.value;
    const protocol = this.protocols[this.protocol.selectedIndex];
    const { path, headers, body, relayed } = protocol.send(text, this.talk);
    const to = relayed ? path : `/agents/${encodeURIComponent(this.agent.value)}${path}`;
    if (relayed) body.agent = this.agent.value;
    this.words.value = "";
    this.bubble("mine", text);
    const answer = this.bubble("theirs", "");
    const mine = (this.reading = new AbortController());
    this.stop.hidden = false;
    this.send.disabled = true;
    try {
      const all = { "Content-Type": "application/json", Accept: "text/event-stream", ...headers };
      this.log("sent", `POST ${to}\n${lines(all)}`, body);
      const response = await fetch(to, {
        method: "POST",
        headers: { ...all, ...authorization() },
        body: JSON.stringify(body),
        credentials: "omit",
        signal: mine.signal,
      });
      this.log("received", `HTTP ${response.status}\n${lines(Object.fromEntries(response.headers))}`);
      await this.read(response, protocol, answer);
    } catch (error) {
      if (!mine.signal.aborted) answer.note(told(error));
    } finally {
      this.stop.hidden = true;
      this.send.disabled = false;
      this.words.focus();
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
      this.log("received", text);
      if (response.status === 404)
        return answer.note("Not served at this address: the agents may have another one than the console.");
      if (!response.ok) answer.note(`HTTP ${response.status}`);
      return this.hear(text, protocol, answer);
    }
    for await (const frame of frames(response.body)) {
      this.log("received", frame.raw);
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
      return; // Such as [DONE]; the traffic shows it.
    }
    const heard = protocol.hear(body, this.talk);
    if (heard.text) answer.add(heard.text);
    if (heard.note) answer.note(heard.note);
  }

  /**
   * @param {string} whose
   * @param {string} text
   */
  bubble(whose, text) {
    const place = h("div", { class: "words", dir: "auto" }, text);
    const notes = h("div", { class: "bubble-notes" });
    this.talked.append(h("div", { class: `bubble ${whose}` }, place, notes));
    let all = text;
    const down = () => this.talked.scrollTo(0, this.talked.scrollHeight);
    down();
    return {
      said: () => all,
      add: (/** @type {string} */ more) => {
        all += all === "" ? more.replace(/^\n+/, "") : more;
        say(place, all);
        down();
      },
      note: (/** @type {string} */ note) => {
        if (notes.lastElementChild?.textContent !== visible(note)) append(notes, [state(note)]);
        down();
      },
    };
  }

  /**
   * @param {string} way
   * @param {string} head
   * @param {unknown} [body]
   */
  log(way, head, body) {
    const at = new Date().toLocaleTimeString();
    this.traffic.append(
      h(
        "li",
        { class: way },
        h("small", null, `${way} ${at}`),
        h("div", { class: "code" }, head),
        body === undefined ? null : json(body),
      ),
    );
    if (this.traffic.childElementCount > trafficMax) this.traffic.firstElementChild?.remove();
    this.traffic.scrollTo(0, this.traffic.scrollHeight);
  }
}
customElements.define("baton-playground", Playground);

/** @returns {import("./protocols.js").Talk} */
function fresh() {
  return { context: "", task: "", ask: "", turns: [] };
}

/** @param {Record<string, string>} headers */
function lines(headers) {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
