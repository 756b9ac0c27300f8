// Makes a Markdown table from a report (INTEROP_REPORT): node table.mjs REPORT. A cell is passed cases of executed
// cases.
import { readFileSync } from "node:fs";

const results = JSON.parse(readFileSync(process.argv[2], "utf8")).filter((result) => result.sdk !== "");
const columnOf = ({ sdk, protocol, transport, api }) =>
  `${sdk}, A2A ${protocol}, ${transport}${api === "A2AClient" && sdk !== "0.2.5" ? " (A2AClient)" : ""}`;
const columns = [...new Set(results.map(columnOf))];
const operations = [...new Set(results.map((result) => result.operation))];

function cell(operation, column) {
  const found = results.find((result) => result.operation === operation && columnOf(result) === column);
  if (!found) return "-";
  return found.passed ? "yes" : "NO";
}

console.log(`| | ${columns.join(" | ")} |`);
console.log(`|---|${columns.map(() => "---|").join("")}`);
for (const operation of operations) {
  console.log(`| ${operation} | ${columns.map((column) => cell(operation, column)).join(" | ")} |`);
}
