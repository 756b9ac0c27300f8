// Server-sent events by fetch, because EventSource cannot send a header.

/** @typedef {{id: string, event: string, data: string, raw: string}} Frame */

/**
 * The events of a body, in order, until the body ends.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<Frame>}
 */
export async function* frames(body) {
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest = (rest + value).replace(/\r\n/g, "\n");
      let end = rest.indexOf("\n\n");
      while (end >= 0) {
        const frame = parsed(rest.slice(0, end));
        if (frame) yield frame;
        rest = rest.slice(end + 2);
        end = rest.indexOf("\n\n");
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * @param {string} raw
 * @returns {Frame | null} null for a comment
 */
function parsed(raw) {
  const frame = { id: "", event: "message", data: "", raw };
  /** @type {string[]} */
  const data = [];
  for (const line of raw.split("\n")) {
    const at = line.indexOf(":");
    if (at === 0) continue;
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "id") frame.id = value;
    else if (name === "event") frame.event = value;
  }
  frame.data = data.join("\n");
  return data.length > 0 ? frame : null;
}
