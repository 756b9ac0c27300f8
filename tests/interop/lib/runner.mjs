// Runs cases one after another for each client, bounds each, prints failures, keeps a report.
import { writeFileSync } from "node:fs";
import { patience, within } from "./bounds.mjs";
import { begin, speaks, wrongs } from "./wire.mjs";

const caseSeconds = 5 * patience; // a case may wait several times
const results = [];

// The old SDKs also write to the console what they throw. Warnings go to `warned`.
async function quietly(warned, run) {
  const kept = { error: console.error, warn: console.warn, debug: console.debug };
  console.error = console.debug = () => {};
  console.warn = (...words) => warned.push(words.join(" "));
  try {
    return await run();
  } finally {
    Object.assign(console, kept);
  }
}

export const titleOf = ({ sdk, protocol, transport, api }) =>
  `SDK ${sdk ? `${sdk} ` : ""}${api}, ${/^\d/.test(protocol) ? "A2A " : ""}${protocol} over ${transport}`;

// Returns the error's text and where it arose in these files.
function describe(error) {
  const [text, ...frames] = (error?.stack ?? String(error)).split(/\n\s+at /);
  const ours = frames.filter((frame) => /\/(cases|chat|clients|lib)\/\w+\.mjs/.test(frame)).slice(0, 3);
  const where = ours.map((frame) => `\n  at ${frame.replace(/file:\/\/\S*\/(?=\w+\/)/, "")}`).join("");
  return text + where + (error?.cause ? `\n  cause: ${error.cause?.message ?? error.cause}` : "");
}

// A case also fails if any answer of the program during it had the wrong shape for the generation.
async function inShape(run) {
  let cause;
  begin();
  await run().catch((error) => (cause = error));
  const shapes = await wrongs();
  if (shapes.length > 0) throw new Error(`the shape of what was sent:\n${shapes.join("\n")}`, { cause });
  if (cause) throw cause;
}

async function runOne(labels, { operation, run }, warningsFail) {
  const began = Date.now();
  const warned = [];
  let failure;
  try {
    await quietly(warned, () => within(caseSeconds, "the case to end", inShape(run)));
    if (warningsFail && warned.length > 0) throw new Error(`the client warned: ${warned.join("; ")}`);
  } catch (error) {
    failure = describe(error);
    console.log(`FAILED ${Object.values(labels).join(" ")}: ${operation}\n${failure.replace(/^/gm, "    ")}`);
  }
  results.push({
    ...labels,
    operation,
    passed: !failure,
    ...(failure && { failure }),
    milliseconds: Date.now() - began,
  });
}

export async function runAll(client, cases, world) {
  const { sdk, protocol, transport, api, warningsFail } = client;
  const before = results.length;
  speaks(protocol);
  for (const each of cases) {
    const { operation } = each;
    await runOne({ sdk, protocol, transport, api }, { operation, run: () => each.run(client, world) }, warningsFail);
  }
  const mine = results.slice(before);
  const passed = mine.filter((result) => result.passed).length;
  const seconds = mine.reduce((sum, result) => sum + result.milliseconds, 0) / 1000;
  console.log(`${titleOf(client)}: ${passed} of ${mine.length} in ${seconds.toFixed(1)} s`);
}

// A failure outside of any case.
export function fail(operation, error) {
  const failure = describe(error);
  console.log(`FAILED ${operation}\n${failure.replace(/^/gm, "    ")}`);
  results.push({ sdk: "", protocol: "", transport: "", api: "", operation, passed: false, failure, milliseconds: 0 });
}

function write(path, list) {
  if (path) writeFileSync(path, `${JSON.stringify(list, null, 1)}\n`);
}

// Prints the last line and returns the exit code.
export function finish() {
  const passed = results.filter((result) => result.passed).length;
  const failed = results.length - passed;
  const isChat = ({ protocol }) => /^A/.test(protocol);
  const isMcp = ({ protocol }) => protocol === "MCP";
  // A Baton with another server behind it is also a client, so this shows nothing about a version's clients.
  const isChain = ({ api }) => / (in the middle|behind)$/.test(api);
  write(
    process.env.INTEROP_REPORT,
    results.filter((result) => !isChat(result) && !isChain(result) && !isMcp(result)),
  );
  write(process.env.CHAT_REPORT, results.filter(isChat));
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}
