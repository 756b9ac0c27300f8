// What the playground sent and received: a line for each request and event, with its content folded.
import { bytes, copied } from "./bits.js";
import { json } from "./content.js";
import { h } from "./dom.js";
import { exactJson } from "./form.js";

/** @typedef {{to: string, headers: Record<string, string>, body: any, relayed?: boolean}} Request */

const most = 400;

/**
 * The command that sends the same request. The token is a variable, so that the command can be shown to others.
 * @param {Request} request
 */
export function curlOf({ to, headers, body }) {
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const given = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [
    `curl -sN ${quoted(location.origin + to)}`,
    ...given,
    '-H "Authorization: Bearer $BATON_TOKEN"',
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n  ");
}

/** @param {Record<string, string>} headers */
function lines(headers) {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

export class Traffic extends HTMLElement {
  /** @param {(request: Request) => void} sendAgain */
  constructor(sendAgain = () => {}) {
    super();
    this.sendAgain = sendAgain;
    this.list = h("ol", { class: "traffic", "aria-label": "Raw traffic", tabIndex: 0 });
  }

  connectedCallback() {
    this.append(this.list);
  }

  clear() {
    this.list.replaceChildren();
  }

  /** @param {Request} request */
  sent(request) {
    const edit = h("button", { type: "button", class: "link" }, "Edit and send again");
    const place = h("div", { class: "edit" });
    edit.addEventListener("click", () => this.edit(request, place));
    this.add(
      "sent",
      `POST ${request.to}`,
      JSON.stringify(request.body).length,
      h("div", { class: "code" }, lines(request.headers)),
      json(request.body),
      h("div", { class: "buttons" }, copied(curlOf(request), "Copy as curl"), edit),
      place,
    );
  }

  /** @param {Request} request @param {HTMLElement} place */
  edit(request, place) {
    if (place.childElementCount > 0) return place.replaceChildren();
    const value = JSON.stringify(request.body, null, 2);
    const field = h("textarea", { rows: 12, class: "code", spellcheck: false, value, "aria-label": "Body (JSON)" });
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const send = h("button", { type: "button", class: "primary" }, "Send");
    send.addEventListener("click", () => {
      try {
        const body = exactJson(field.value);
        place.replaceChildren();
        this.sendAgain({ ...request, body });
      } catch (error) {
        const what = error instanceof SyntaxError ? "This is not JSON: " : "";
        problem.textContent = `${what}${error instanceof Error ? error.message : error}`;
        problem.hidden = false;
      }
    });
    place.append(field, problem, h("div", { class: "buttons" }, send));
    field.focus();
  }

  /** @param {Response} response */
  answered(response) {
    const headers = lines(Object.fromEntries(response.headers));
    this.add("received", `HTTP ${response.status}`, 0, h("div", { class: "code" }, headers));
  }

  /**
   * @param {string} name of the event
   * @param {string} raw
   * @param {unknown} body absent: `raw` is not JSON
   */
  received(name, raw, body) {
    this.add("received", name, raw.length, body === undefined ? h("div", { class: "code" }, raw) : json(body));
  }

  /**
   * @param {string} way
   * @param {string} name
   * @param {number} size
   * @param {...HTMLElement} inside
   */
  add(way, name, size, ...inside) {
    const isDown = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
    const isBad = /error|fail|HTTP [45]/i.test(name);
    this.list.append(
      h(
        "li",
        { class: way },
        h(
          "details",
          null,
          h(
            "summary",
            null,
            h("span", { class: "way", title: way }, way === "sent" ? "→" : "←"),
            h("b", { class: isBad ? "bad" : "" }, name),
            h("small", null, [size ? bytes(size) : "", new Date().toLocaleTimeString()].filter(Boolean).join(" · ")),
          ),
          ...inside,
        ),
      ),
    );
    if (this.list.childElementCount > most) this.list.firstElementChild?.remove();
    if (isDown) this.list.scrollTo(0, this.list.scrollHeight);
  }
}
customElements.define("baton-traffic", Traffic);
