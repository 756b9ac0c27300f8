// The form for the user's messages: a text and files, by keyboard, button, pasting or dragging. Pictures have a preview.
import { bytes, isComposing } from "./bits.js";
import { told } from "./chat-api.js";
import { fill, h, say } from "./dom.js";

/**
 * @typedef {import("./api.js").Part} Part
 * @typedef {{name: string, size: number, url: string, part: Promise<Part>}} Attached `url`: of a picture's preview
 */

// Limits in bytes: of one part, the server's default; of all parts, the most that fits into one request as base64.
const partMost = 4 * 1024 * 1024;
const allMost = 5.5 * 1024 * 1024;
const pictures = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;

/** @param {File} file
 * @returns {Promise<Part>} */
function partOf(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("error", () => reject(new Error(`${file.name} cannot be read.`)));
    reader.addEventListener("load", () => {
      const url = String(reader.result);
      const raw = url.slice(url.indexOf(",") + 1);
      resolve({ raw, filename: file.name, mediaType: file.type || "application/octet-stream" });
    });
    reader.readAsDataURL(file);
  });
}

export class Compose {
  /**
   * @param {(parts: Part[], isAnew: boolean) => Promise<unknown>} send rejects if the message was not accepted: its
   *   text comes back. `isAnew`: it begins a task, also if a question is open
   * @param {() => void} stop
   */
  constructor(send, stop) {
    this.send = send;
    /** @type {Attached[]} */
    this.files = [];
    // Disabled until an agent is chosen.
    this.isBusy = true;
    this.shown = "";
    this.hasForm = false;
    /** Whether the words are an answer to the question that has a form. */
    this.isInstead = false;
    /** Whether the words are an earlier request that was edited. */
    this.isAnew = false;
    this.words = h("textarea", { rows: 1, "aria-label": "Message", placeholder: "Write a message", name: "message" });
    this.picker = h("input", { type: "file", multiple: true, class: "unseen", tabIndex: -1, "aria-label": "Files" });
    this.chips = h("ul", { class: "chips", "aria-label": "Files to send" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.button = h("button", { type: "submit", class: "primary", disabled: true }, "Send");
    this.halt = h("button", { type: "button", hidden: true }, "Stop");
    const attach = h("button", { type: "button", title: "Add files", "aria-label": "Add files" }, "+");
    attach.addEventListener("click", () => this.picker.click());
    this.halt.addEventListener("click", stop);
    this.row = h("div", { class: "compose-row" }, attach, this.picker, this.words, this.halt, this.button);
    // While a form is open, words are an answer only on purpose.
    this.inWords = h("button", { type: "button", class: "link" }, "answer in words");
    this.inWords.addEventListener("click", () => {
      this.isInstead = true;
      this.layOut();
      this.words.focus();
    });
    this.instead = h("p", { class: "instead faint", hidden: true }, "Answer above, or ", this.inWords);
    this.form = h("form", { class: "compose" }, this.problem, this.chips, this.instead, this.row);
    this.listen();
  }

  listen() {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.words.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    document.addEventListener("paste", (event) => {
      const files = event.clipboardData?.files;
      if (!files?.length || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      this.add(files);
    });
    this.picker.addEventListener("change", () => {
      this.add(this.picker.files ?? []);
      this.picker.value = "";
    });
  }

  /** Takes files that are dragged onto `place`.
   * @param {HTMLElement} place */
  takeDropsOn(place) {
    let depth = 0;
    const mark = (/** @type {number} */ change) => {
      depth = Math.max(0, depth + change);
      place.classList.toggle("is-dropping", depth > 0);
    };
    const listen = (/** @type {"dragenter" | "dragleave" | "dragover" | "drop"} */ name, /** @type {number} */ change) =>
      place.addEventListener(name, (event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        mark(name === "drop" ? -depth : change);
        if (name === "drop") this.add(event.dataTransfer.files);
      });
    listen("dragenter", 1);
    listen("dragleave", -1);
    listen("dragover", 0);
    listen("drop", 0);
  }

  /** @param {Iterable<File>} files */
  add(files) {
    this.tell("");
    for (const file of files) {
      const sum = this.files.reduce((all, one) => all + one.size, file.size);
      if (file.size > partMost) this.tell(`${file.name} has ${bytes(file.size)}. A file may have at most ${bytes(partMost)}.`);
      else if (sum > allMost) this.tell(`The files are larger than ${bytes(allMost)} together. Send them one by one.`);
      else this.files.push({ name: file.name, size: file.size, url: pictures.test(file.type) ? URL.createObjectURL(file) : "", part: partOf(file) });
    }
    this.showFiles();
    this.words.focus();
  }

  showFiles() {
    const chips = this.files.map((each) => {
      const { name, size, url } = each;
      const away = h("button", { type: "button", class: "link", "aria-label": `Remove ${name}` }, "×");
      away.addEventListener("click", () => {
        this.files = this.files.filter((one) => one !== each);
        URL.revokeObjectURL(url);
        this.showFiles();
        this.words.focus();
      });
      const sight = url ? h("img", { class: "sight", src: url, alt: "" }) : null;
      return h("li", { class: "chip" }, sight, h("span", { class: "file-name" }, name), h("small", null, size ? bytes(size) : ""), away);
    });
    fill(this.chips, ...chips);
  }

  async submit() {
    const text = this.words.value;
    const { files, isInstead, isAnew } = this;
    if (this.isBusy || (text.trim() === "" && files.length === 0)) return;
    if (this.isUndecided) return this.inWords.focus();
    this.isAnew = false;
    this.tell("");
    this.words.value = "";
    this.files = [];
    this.showFiles();
    this.words.focus();
    try {
      const parts = await Promise.all(files.map(({ part }) => part));
      await this.send([...(text.trim() === "" ? [] : [{ text }]), ...parts], isAnew);
      for (const { url } of files) URL.revokeObjectURL(url);
    } catch (error) {
      this.tell(told(error));
      this.words.value = [text, this.words.value].filter((words) => words !== "").join("\n");
      this.files = [...files, ...this.files];
      Object.assign(this, { isInstead, isAnew });
      this.layOut();
      this.showFiles();
    }
  }

  /**
   * Puts a message into the form, to be changed and sent again.
   * @param {Part[]} parts
   */
  take(parts) {
    this.clear();
    const isText = (/** @type {Part} */ part) => typeof part.text === "string" && !part.filename;
    this.words.value = parts.filter(isText).map(({ text }) => text).join("\n");
    this.files = parts
      .filter((part) => !isText(part))
      .map((part) => ({ name: part.filename || part.mediaType || "Data", size: Math.floor((part.raw ?? "").length * 0.75), url: "", part: Promise.resolve(part) }));
    this.isAnew = true;
    this.layOut();
    this.showFiles();
    this.words.focus();
  }

  /** @param {string} text */
  tell(text) {
    say(this.problem, text);
    this.problem.hidden = text === "";
  }

  /**
   * @param {{isBusy: boolean, isAsking: boolean, hasForm: boolean}} now whether an answer is under way, which may be
   *   stopped, or a question is open, which the next message answers, and has a form of its own
   */
  reflect({ isBusy, isAsking, hasForm }) {
    const now = `${isBusy} ${isAsking} ${hasForm}`;
    if (now === this.shown) return; // This is called for every piece of an answer.
    this.shown = now;
    Object.assign(this, { isBusy, hasForm, isInstead: false });
    this.layOut();
    this.halt.hidden = !isBusy;
    this.button.disabled = false;
    this.words.placeholder = isAsking ? "Your answer" : "Write a message";
  }

  /** Words that were written before a question came are no answer to it yet. */
  get isUndecided() {
    return this.hasForm && !this.isInstead && !this.isAnew;
  }

  layOut() {
    this.row.hidden = this.isUndecided && this.words.value === "" && !this.isBusy;
    this.instead.hidden = !this.isUndecided;
    this.button.hidden = this.isBusy || this.isUndecided;
  }

  clear() {
    this.tell("");
    this.isAnew = false;
    this.words.value = "";
    this.layOut();
    for (const { url } of this.files) URL.revokeObjectURL(url);
    this.files = [];
    this.showFiles();
  }
}
