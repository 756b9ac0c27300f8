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

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function choice(name, schema, required) {
  const values = schema.enum ?? [];
  const select = h("select", null, ...(required ? [] : [h("option", { value: "" }, "–")]));
  values.forEach((value, index) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    select.append(h("option", { value: String(index), selected: value === schema.default }, text));
  });
  return {
    element: labelled(name, schema, required, select),
    value: () => (select.value === "" ? undefined : values[Number(select.value)]),
  };
}

/** @type {(name: string, schema: Schema) => Field} */
function yesOrNo(name, schema) {
  const box = h("input", { type: "checkbox", checked: schema.default === true });
  const label = h("label", { class: "check" }, box, " ", schema.title ?? name);
  const about = schema.description ? h("small", null, schema.description) : null;
  return { element: h("div", { class: "field" }, label, about), value: () => box.checked };
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
    value: () => (input.value === "" ? undefined : Number(input.value)),
  };
}

/** @type {Record<string, string>} */
const inputTypes = { date: "date", "date-time": "datetime-local", email: "email", uri: "url", time: "time" };

/** @type {(name: string, schema: Schema, required: boolean) => Field} */
function words(name, schema, required) {
  const type = inputTypes[schema.format ?? ""];
  const long = !type && (schema.maxLength ?? 1000) > 120;
  const value = schema.default === undefined ? "" : String(schema.default);
  const input = long ? h("textarea", { rows: 3, value }) : h("input", { type: type ?? "text", value });
  if (schema.maxLength) input.maxLength = schema.maxLength;
  if (schema.minLength) input.minLength = schema.minLength;
  if (schema.pattern && input instanceof HTMLInputElement) input.pattern = schema.pattern;
  return {
    element: labelled(name, schema, required, input),
    value: () => {
      if (input.value === "" && !required) return undefined;
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
    value: () => (input.value.trim() === "" ? undefined : JSON.parse(input.value)),
  };
}

/** @type {(name: string, schema: Schema) => Field} */
function group(name, schema) {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {}).map(([member, inner]) => ({
    member,
    field: fieldFor(member, inner, required.has(member)),
  }));
  const legend = schema.title ?? name;
  const inside = members.map(({ field }) => field.element);
  return {
    element: h("fieldset", null, legend ? h("legend", null, legend) : null, ...inside),
    value: () => {
      /** @type {Record<string, unknown>} */
      const out = {};
      for (const { member, field } of members) {
        const value = field.value();
        if (value !== undefined) out[member] = value;
      }
      return out;
    },
  };
}

/** @type {(name: string, schema: Schema) => Field} */
function choices(name, schema) {
  const values = schema.items?.enum ?? [];
  const boxes = values.map((value) => ({ value, box: h("input", { type: "checkbox" }) }));
  const labels = boxes.map(({ value, box }) => h("label", { class: "check" }, box, " ", String(value)));
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
      return schema.properties ? group(name, schema) : asJson(name, schema, required);
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
  return fieldFor("", schema, true);
}
