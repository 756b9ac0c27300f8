// A form made from a question's JSON schema. Values without a field of their own are written as JSON.
import { h } from "./dom.js";

/** @typedef {import("./api.js").Schema} Schema */
/** @typedef {{element: HTMLElement, value: () => unknown}} Field */

let fields = 0;

/** @param {Schema} schema */
function typeOf(schema) {
  const given = schema.type;
  return Array.isArray(given) ? given.find((one) => one !== "null") : given;
}

/**
 * @param {string} name
 * @param {Schema} schema
 * @param {boolean} required
 * @param {HTMLElement} input
 * @returns {HTMLElement}
 */
function labelled(name, schema, required, input) {
  input.id = `field-${++fields}`;
  if (required) /** @type {any} */ (input).required = true;
  const about = schema.description ? h("small", null, schema.description) : null;
  const title = schema.title ?? name;
  return h("div", { class: "field" }, h("label", { for: input.id }, title, required ? " *" : null), input, about);
}

// References may multiply. Fields beyond so many are written as JSON, and so is a type within itself.
const fieldsMost = 200;
const stepsMost = 8;

/** The schema that a reference (`#/$defs/Name`) names.
 * @param {Schema} root
 * @param {string} reference
 * @returns {Schema | undefined} */
function named(root, reference) {
  const keys = reference.replace(/^#\/?/, "").split("/").filter(Boolean);
  return keys.reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], /** @type {any} */ (root));
}

/** @param {Schema} schema */
const mayBeNull = ({ type, const: only }) => only === null || [type].flat().includes("null");

/**
 * The schema as fields need it: references are followed, an alternative to null is all of it, and constants to choose
 * from are an enum with their titles as names.
 * @param {Schema} schema
 * @param {Schema} [root]
 * @param {{count: number}} [seen] fields
 * @param {string[]} [path] the references that lead to it
 * @returns {Schema}
 */
export function simplified(schema, root = schema, seen = { count: 0 }, path = []) {
  let out = { ...schema };
  let isNullable = schema.isNullable ?? mayBeNull(schema);
  const followed = [...path];
  for (let steps = 0; steps < stepsMost; ++steps) {
    const { $ref, anyOf, oneOf, allOf, ...own } = out;
    if ($ref && followed.includes($ref)) return { title: out.title, description: out.description };
    if ($ref) followed.push($ref);
    const given = $ref ? [named(root, String($ref)) ?? {}] : (anyOf ?? oneOf ?? allOf);
    const all = Array.isArray(given) ? given : [];
    const ways = all.filter(({ type, const: only }) => type !== "null" && only !== null);
    const areListed = !allOf && ways.length > 1 && ways.every((one) => one.const !== undefined);
    if (ways.length !== 1 && !areListed) break;
    isNullable ||= all.some(mayBeNull);
    const enumNames = ways.map((one) => one.title ?? wordOf(one.const));
    out = areListed ? { ...own, enum: ways.map((one) => one.const), enumNames } : { ...ways[0], ...own };
  }
  const { title, description, properties, items } = out;
  if (++seen.count > fieldsMost) return { title, description };
  const inner = (/** @type {Schema} */ one) => simplified(one, root, seen, followed);
  const members = Object.entries(properties ?? {}).map(([name, one]) => [name, inner(one)]);
  return {
    ...out,
    isNullable,
    enum: Array.isArray(out.enum) ? out.enum : undefined,
    properties: properties && Object.fromEntries(members),
    items: items && inner(items),
  };
}

const fewest = 4;
const shortest = 24;

/** The values to choose from, with their names.
 * @param {Schema} [schema] a simplified one
 * @returns {{value: unknown, name: string}[]} */
export function choicesOf({ enum: values = [], enumNames: names } = {}) {
  const hasNames = names?.length === values.length;
  return values.map((value, at) => ({ value, name: hasNames ? String(names[at]) : wordOf(value) }));
}

/** A value in the words of its schema.
 * @param {unknown} value
 * @param {Schema} [schema] */
export const wordIn = (value, schema) => choicesOf(schema).find((one) => one.value === value)?.name ?? wordOf(value);

/** @param {unknown} value */
const wordOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** Whether the choices are few and short enough to be buttons.
 * @param {{name: string}[]} offered */
export function areFew(offered) {
  return offered.length > 1 && offered.length <= fewest && offered.every(({ name }) => name.length <= shortest);
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function choice(name, schema, required) {
  const values = choicesOf(schema);
  if (required && areFew(values)) return buttons(name, schema);
  const select = h("select", null, h("option", { value: "" }, required ? "Choose…" : "No choice"));
  values.forEach(({ value, name: shown }, index) => {
    select.append(h("option", { value: String(index), selected: value === schema.default }, shown));
  });
  return {
    element: labelled(name, schema, required, select),
    value: () => (select.value === "" ? undefined : values[Number(select.value)].value),
  };
}

/** A required choice between few values: buttons of which one is pressed.
 * @type {(name: string, schema: Schema) => Field} */
function buttons(name, schema) {
  const values = choicesOf(schema);
  const together = `field-${++fields}`;
  const about = schema.description ? h("small", null, schema.description) : null;
  const radios = values.map(({ value }) =>
    h("input", { type: "radio", name: together, required: true, checked: value === schema.default }),
  );
  const labels = values.map((one, index) => h("label", null, radios[index], h("span", null, one.name)));
  return {
    element: h(
      "fieldset",
      { class: "field choice" },
      h("legend", null, schema.title ?? name, " *"),
      h("div", { class: "choices" }, ...labels),
      about,
    ),
    value: () => values[radios.findIndex(({ checked }) => checked)]?.value,
  };
}

/** @type {(name: string, schema: Schema) => Field} */
function yesOrNo(name, schema) {
  const box = h("input", { type: "checkbox", checked: schema.default === true });
  const label = h("label", { class: "check" }, box, " ", schema.title ?? name);
  const about = schema.description ? h("small", null, schema.description) : null;
  return { element: h("div", { class: "field" }, label, about), value: () => box.checked };
}

/** The number, unless it is not the one that the text says.
 * @param {number} number @param {string} text */
function exact(number, text) {
  if (/^-?\d+$/.test(text) && !Number.isSafeInteger(number)) throw new Error(`A page cannot send ${text} exactly`);
  return number;
}

/** @type {(key: string, value: unknown, context?: { source?: string }) => unknown} */
const exactValue = (_key, value, context) => (typeof value === "number" ? exact(value, context?.source ?? "") : value);

/** Reads JSON; a whole number with more digits than pages can keep is an error.
 * @param {string} text */
export function exactJson(text) {
  return JSON.parse(text, exactValue);
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function figure(name, schema, required) {
  const input = h("input", {
    type: "number",
    step: typeOf(schema) === "integer" ? "1" : "any",
    min: schema.minimum,
    max: schema.maximum,
    value: schema.default === undefined ? "" : String(schema.default),
  });
  return {
    element: labelled(name, schema, required, input),
    value: () => (input.value === "" ? undefined : exact(Number(input.value), input.value)),
  };
}

/** @type {Record<string, string>} */
const inputTypes = { date: "date", "date-time": "datetime-local", email: "email", uri: "url", time: "time" };
const longFormats = ["multiline", "textarea", "markdown"];
const lineMost = 200;

/** Whether a text is likely to have more than one line.
 * @param {Schema} schema */
function isLong({ format, minLength, maxLength, default: usual }) {
  const size = Math.max(minLength ?? 0, maxLength ?? 0, String(usual ?? "").length);
  return longFormats.includes(format ?? "") || size > lineMost || String(usual ?? "").includes("\n");
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function words(name, schema, required) {
  const type = inputTypes[schema.format ?? ""];
  const value = schema.default === undefined ? "" : String(schema.default);
  const input = !type && isLong(schema) ? h("textarea", { rows: 4, value }) : h("input", { type: type ?? "text", value });
  if (schema.maxLength) input.maxLength = schema.maxLength;
  if (schema.minLength) input.minLength = schema.minLength;
  // A schema's pattern may match anywhere in the text, an input's must match all of it.
  if (schema.pattern && input instanceof HTMLInputElement) input.pattern = `.*(?:${schema.pattern}).*`;
  return {
    element: labelled(name, schema, required, input),
    value: () => {
      if (input.value === "" && (!required || type)) return undefined;
      return type === "datetime-local" ? new Date(input.value).toISOString() : input.value;
    },
  };
}

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function asJson(name, schema, required) {
  const input = h("textarea", { rows: 4, class: "code", spellcheck: false, placeholder: "JSON" });
  if (schema.default !== undefined) input.value = JSON.stringify(schema.default, null, 2);
  return {
    element: labelled(name, schema, required, input),
    value: () => (input.value.trim() === "" ? undefined : exactJson(input.value)),
  };
}

/** A group that is not required may stay empty, whatever it requires otherwise.
 * @type {(name: string, schema: Schema, isRequired: boolean) => Field} */
function group(name, schema, isRequired) {
  const required = new Set(isRequired ? schema.required : []);
  const members = Object.entries(schema.properties ?? {}).map(([member, inner]) => ({
    member,
    // A member that is left empty is null where it must be there.
    empty: inner.isNullable && required.has(member) ? null : undefined,
    field: fieldFor(member, inner, required.has(member) && !inner.isNullable),
  }));
  const legend = schema.title ?? name;
  const inside = members.map(({ field }) => field.element);
  return {
    element: h("fieldset", null, legend ? h("legend", null, legend) : null, ...inside),
    value: () => {
      /** @type {Record<string, unknown>} */
      const out = {};
      for (const { member, field, empty } of members) {
        const given = field.value(); // null may be chosen
        const value = given === undefined ? empty : given;
        if (value !== undefined) out[member] = value;
      }
      const isEmpty = Object.values(out).every((one) => one === false || (Array.isArray(one) && one.length === 0));
      return isEmpty && !isRequired ? undefined : out;
    },
  };
}

/** @type {(name: string, schema: Schema) => Field} */
function choices(name, schema) {
  const boxes = choicesOf(schema.items).map((one) => ({ ...one, box: h("input", { type: "checkbox" }) }));
  const labels = boxes.map(({ name: shown, box }) => h("label", { class: "check" }, box, " ", shown));
  return {
    element: h("fieldset", null, h("legend", null, schema.title ?? name), ...labels),
    value: () => boxes.filter(({ box }) => box.checked).map(({ value }) => value),
  };
}

/**
 * @param {string} name
 * @param {Schema} schema
 * @param {boolean} required
 * @returns {Field}
 */
function fieldFor(name, schema, required) {
  if (Array.isArray(schema.enum)) return choice(name, schema, required);
  switch (typeOf(schema)) {
    case "boolean":
      return yesOrNo(name, schema);
    case "integer":
    case "number":
      return figure(name, schema, required);
    case "string":
      return words(name, schema, required);
    case "array":
      return Array.isArray(schema.items?.enum) ? choices(name, schema) : asJson(name, schema, required);
    case "object":
      return schema.properties ? group(name, schema, required) : asJson(name, schema, required);
    default:
      return asJson(name, schema, required);
  }
}

/**
 * The fields for an answer by this schema. `value` throws the error of JSON.parse for a field written as JSON.
 * @param {Schema} schema
 * @returns {Field}
 */
export function fieldsOf(schema) {
  return fieldFor("", simplified(schema), true);
}
