// The pages that are tested: the one that schema/CHAT-EXAMPLE.md shows, and the React pages, bundled.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));

// Returns a bundle with optional packages, which the ring "whole" does not have.
async function bundled(name) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(here, "page", name)],
    bundle: true,
    write: false,
    outdir: "out",
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    loader: { ".woff": "empty", ".woff2": "empty", ".ttf": "empty" },
    logLevel: "error",
  });
  return outputFiles.find(({ path }) => path.endsWith(".js")).text;
}

const html = readFileSync(join(here, "page/index.html"), "utf8");

function ofPage() {
  const text = readFileSync(join(here, "../..", "schema/CHAT-EXAMPLE.md"), "utf8");
  const found = text.match(/<!-- the example page[^\n]*-->\n```html\n([^]*?)```\n<!-- end of the page -->/);
  if (!found) throw new Error("schema/CHAT-EXAMPLE.md has no example page between its marks");
  return found[1];
}

export const pages = async ({ withReact }) => ({
  "chat.html": ofPage(),
  ...(withReact && {
    "index.html": html,
    "page.js": await bundled("page.jsx"),
    "copilot.html": html.replace("page.js", "copilot.js"),
    "copilot.js": await bundled("copilot.jsx"),
  }),
});
