// Shared by the cases of pages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../../..", import.meta.url));

// Returns the first block of JavaScript after these words of the page.
export function blockOf(page, words) {
  const text = readFileSync(join(project, page), "utf8");
  const at = text.indexOf(words);
  if (at < 0) throw new Error(`${page} does not say "${words}"`);
  return text.slice(at).match(/^```js\n(.*?)^```$/ms)[1];
}
