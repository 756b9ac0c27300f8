// Parts of messages and artifacts for users of agents: text, data, files. Pictures are shown only from bytes that the
// page holds; links lead only to http and https.
import { bytes } from "./bits.js";
import { call, told } from "./chat-api.js";
import { data } from "./chat-data.js";
import { prose } from "./chat-markdown.js";
import { link } from "./chat-nodes.js";
import { words } from "./content.js";
import { fill, h } from "./dom.js";

/** @typedef {import("./api.js").Part} Part */

const pictures = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const readable = /^(text\/|application\/(json|xml|x-ndjson|yaml|toml)$)/;
const readableMost = 200_000;

/** @param {string | undefined} type */
const plainType = (type) => String(type ?? "").split(";")[0].trim().toLowerCase();

/** @param {string} raw base64 */
function decoded(raw) {
  return Uint8Array.from(atob(raw), (one) => one.charCodeAt(0));
}

/**
 * Lets the browser save the bytes as a file.
 * @param {Blob} blob
 * @param {string} name
 */
function keep(blob, name) {
  const url = URL.createObjectURL(blob);
  const anchor = h("a", { href: url, download: name || "file" });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function picture(blob, name) {
  const url = URL.createObjectURL(blob);
  const image = h("img", { class: "picture", alt: name || "Picture" });
  const over = () => URL.revokeObjectURL(url);
  image.addEventListener("load", over);
  image.addEventListener("error", () => {
    over();
    image.replaceWith(h("p", { class: "faint" }, "The image cannot be shown."));
  });
  image.src = url;
  return image;
}

/**
 * The preview of a file's content, or null.
 * @param {Uint8Array<ArrayBuffer>} content
 * @param {string} type
 * @param {string} name
 */
function preview(content, type, name) {
  if (pictures.test(type)) return picture(new Blob([content], { type }), name);
  if (!readable.test(type) || content.length > readableMost) return null;
  const text = new TextDecoder().decode(content);
  const shown = h("details", { class: "inside" }, h("summary", null, "Show the text"));
  shown.addEventListener("toggle", () => shown.childElementCount > 1 || shown.append(words(text, "code")));
  return shown;
}

/**
 * @param {Part} part
 * @param {string} about
 * @param {...import("./dom.js").Child} rest
 */
function fileBox(part, about, ...rest) {
  const name = part.filename || plainType(part.mediaType) || "File";
  const head = h("div", { class: "file-head" }, h("span", { class: "file-name" }, name), h("small", null, about));
  const box = h("div", { class: "attached" }, head, ...rest);
  return { head, box };
}

/** @param {Part} part */
function file(part) {
  const type = plainType(part.mediaType);
  /** @type {Uint8Array<ArrayBuffer>} */
  let content;
  try {
    content = decoded(part.raw ?? "");
  } catch {
    return fileBox(part, "cannot be read").box;
  }
  const { head, box } = fileBox(part, bytes(content.length), preview(content, type, part.filename ?? ""));
  const save = h("button", { type: "button", class: "link" }, "Download");
  save.addEventListener("click", () => keep(new Blob([content], { type: "application/octet-stream" }), part.filename ?? ""));
  head.append(save);
  return box;
}

/**
 * A file that the server has: fetched with the token, a picture at once, anything else by a click.
 * @param {Part} part
 * @param {string} path
 */
function remote(part, path) {
  const type = plainType(part.mediaType);
  const place = h("div");
  const save = h("button", { type: "button", class: "link" }, "Download");
  const { head, box } = fileBox(part, "kept by the server", place);
  head.append(save);
  const attempt = async (/** @type {(blob: Blob) => void} */ use) => {
    try {
      use(await (await call(path)).blob());
    } catch (error) {
      fill(place, h("p", { class: "problem", role: "alert" }, told(error)));
    }
  };
  save.addEventListener("click", () => attempt((blob) => keep(blob, part.filename ?? "")));
  if (pictures.test(type)) {
    attempt((blob) => fill(place, picture(blob.slice(0, blob.size, type), part.filename ?? "")));
  }
  return box;
}

/**
 * @param {Part} part
 * @param {import("./chat-api.js").Agent} agent
 */
function linked(part, agent) {
  const url = String(part.url);
  if (URL.canParse(url, location.href)) {
    const { origin, pathname, search } = new URL(url, location.href);
    const isOwn = origin === location.origin || (origin === agent.origin && pathname.startsWith(agent.path));
    if (isOwn) return remote(part, pathname + search);
  }
  return h("div", { class: "attached" }, link(url, part.filename || url) ?? `${part.filename ?? "file"}: ${url}`);
}

/**
 * @param {Part} part
 * @param {import("./chat-api.js").Agent} agent
 * @returns {HTMLElement}
 */
export function partView(part, agent) {
  if (typeof part.text === "string") {
    const type = plainType(part.mediaType);
    const isProse = type === "" || type === "text/plain" || type === "text/markdown";
    return isProse ? prose(part.text) : words(part.text, "code");
  }
  if (part.data !== undefined) return data(part.data);
  if (part.raw !== undefined) return file(part);
  if (part.url !== undefined) return linked(part, agent);
  return data(part);
}

/** The parts of a user's message; text is shown as it was typed.
 * @param {Part[]} parts
 * @param {import("./chat-api.js").Agent} agent */
export function ownParts(parts, agent) {
  return parts.map((part) => (typeof part.text === "string" ? words(part.text) : partView(part, agent)));
}
