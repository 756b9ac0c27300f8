// Checks whether a body has the shape of its generation. JSON-RPC bodies of all generations and REST bodies of 1.0 are
// checked against the published schemas. These belong to the specification folder beside a checkout (BATON_SPEC_DIR
// names another place); without it they are not checked. ProtoJSON bodies must also pass through the SDK's own reader
// and writer without losing a member.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";
import * as v1 from "a2a-sdk-10";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const specification = process.env.BATON_SPEC_DIR ?? join(here, "../../../shared/spec");

const files = {
  0.2: [Ajv, "a2a-v0.2.6.schema.json"],
  0.3: [Ajv, "a2a-v0.3.0.schema.json"],
  "1.0": [Ajv2020, "a2a-v1.0.1.resolved.schema.json"],
};

function validator([Validator, name]) {
  const path = join(specification, "a2a", name);
  if (!existsSync(path)) return undefined;
  const ajv = new Validator({ strict: false });
  formats(ajv);
  return ajv.addSchema(JSON.parse(readFileSync(path, "utf8")), "a2a");
}
const validators = Object.fromEntries(Object.entries(files).map(([version, file]) => [version, validator(file)]));

// Returns how `value` differs from the schema's `name`, or undefined.
export function againstSchema(version, name, value) {
  const validate = validators[version]?.getSchema(`a2a#/definitions/${name}`);
  if (!validate || validate(value)) return undefined;
  const found = validate.errors.map((error) => `${error.instancePath} ${error.message}`).slice(0, 5);
  return `not a ${name} of ${version}: ${found.join("; ")}: ${JSON.stringify(value).slice(0, 600)}`;
}

// No entry point of the package exports the generated code of 0.3.
async function generatedV03() {
  const entry = readFileSync(join(here, "node_modules/a2a-sdk-03/dist/client/index.js"), "utf8");
  const [, chunk] = entry.match(/SendMessageRequest,[^}]*} from "\.\.\/(chunk-\w+\.js)"/);
  return import(pathToFileURL(join(here, "node_modules/a2a-sdk-03/dist", chunk)).href);
}
const messages = { 0.3: await generatedV03(), "1.0": v1 };

const isDefault = (value) => !value || (typeof value === "object" && Object.keys(value).length === 0);

// Returns the first member of `sent` that is not in `kept`.
function lost(sent, kept, path = "") {
  if (typeof sent !== "object" || sent === null) return sent === kept || isDefault(sent) ? undefined : path;
  if (typeof kept !== "object" || kept === null) return isDefault(sent) ? undefined : path;
  for (const [name, value] of Object.entries(sent)) {
    const found = lost(value, kept[name], `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

// Returns how `value` differs from ProtoJSON of the message `name`, or undefined.
export function againstProto(version, name, value) {
  const type = messages[version][name];
  const wrong = version === "1.0" ? againstSchema(version, name, value) : undefined;
  if (wrong) return wrong;
  const member = lost(value, type.toJSON(type.fromJSON(value)));
  return member === undefined
    ? undefined
    : `not ProtoJSON of ${name} of ${version} at ${member}: ${JSON.stringify(value).slice(0, 600)}`;
}
