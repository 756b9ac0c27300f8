// The pages that are tested: the React page, bundled, and the one that the README shows.
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(dirname(fileURLToPath(import.meta.url)));

async function bundled() {
  const { outputFiles } = await build({
    entryPoints: [join(here, "page/page.jsx")],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  return outputFiles[0].text;
}

function ofReadme() {
  const readme = readFileSync(join(here, "../../README.md"), "utf8");
  const found = readme.match(/<!-- the example page[^\n]*-->\n```html\n([^]*?)```\n<!-- end of the page -->/);
  if (!found) throw new Error("the README has no example page between its marks");
  return found[1];
}

export const pages = async () => ({
  "index.html": readFileSync(join(here, "page/index.html"), "utf8"),
  "page.js": await bundled(),
  "chat.html": ofReadme(),
});
