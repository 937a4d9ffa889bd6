/**
 * An interrupt → the form that answers it, made from its `responseSchema` alone (reference "Interrupt"). The metadata only
 * adds labels; `reason` decides nothing. Pure.
 */
import type { Interrupt } from "@ag-ui/core";
import { isObject, type Json, type JsonObject, text } from "../../src/json.ts";
import { shown } from "./candidate.ts";

/** A value that the user gives. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly as: "text" | "number" | "switch" | "choice" | "json";
  readonly required: boolean;
  /** For "choice": the values. */
  readonly choices: readonly Json[];
}

/** One way to answer: what it always says, and what the user adds. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly detail: string | undefined;
  readonly fixed: JsonObject;
  readonly fields: readonly Field[];
}

export interface Form {
  readonly interrupt: Interrupt;
  readonly choices: readonly Choice[];
}

/** What the user has picked for one interrupt; without a choice: that it is not answered. */
export interface Picked {
  readonly choice: Choice | undefined;
  readonly entered: Entered;
}

/** The form for an interrupt. Without a schema that can be shown it takes the payload as JSON. */
export function formOf(interrupt: Interrupt): Form {
  const schema = isObject(interrupt.responseSchema) ? interrupt.responseSchema : {};
  const alternatives = [schema.oneOf, schema.anyOf].find(Array.isArray) ?? [schema];
  const labels = labelsOf(interrupt);
  const choices = alternatives.filter(isObject).flatMap((alternative) => choicesOf(alternative, labels));
  return { interrupt, choices: (choices.length > 0 ? choices : [anyJson()]).map(numbered) };
}

function numbered(choice: Choice, at: number): Choice {
  return { ...choice, id: `${at}` };
}

/** What the metadata calls a value. */
interface Label {
  readonly title: string | undefined;
  readonly detail: string | undefined;
}

function labelsOf({ metadata = {} }: Interrupt): ReadonlyMap<string, Label> {
  const found = new Map<string, Label>();
  for (const list of [metadata.standardOptions, metadata.options]) {
    for (const option of Array.isArray(list) ? list.filter(isObject) : []) {
      const id = shown(option.id) ?? shown(option.name);
      if (id === undefined) continue;
      const known = found.get(id);
      found.set(id, {
        title: known?.title ?? shown(option.title) ?? shown(option.label) ?? shown(option.name),
        detail: known?.detail ?? shown(option.summary) ?? shown(option.description),
      });
    }
  }
  return found;
}

/** An alternative of the schema: one choice, or one for each value when a list of values is all that it asks for. */
function choicesOf(schema: JsonObject, labels: ReadonlyMap<string, Label>): Choice[] {
  if (!isObject(schema.properties)) return schema.type === "object" || isEmpty(schema) ? [] : [anyJson()];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = Object.entries(schema.properties).filter(([, property]) => isObject(property)) as [
    string,
    JsonObject,
  ][];
  const fixed = Object.fromEntries(
    properties.flatMap(([name, property]) => property.const === undefined ? [] : [[name, property.const]]),
  );
  const fields = properties
    .filter(([, property]) => property.const === undefined)
    .map(([name, property]) => fieldOf(name, property, required.has(name)));
  const [only] = fields;
  if (fields.length === 1 && only?.as === "choice" && only.required) {
    return only.choices.map((value) => choice({ ...fixed, [only.name]: value }, [], value, schema, labels));
  }
  const [value] = Object.values(fixed);
  return [choice(fixed, fields, value, schema, labels)];
}

function choice(
  fixed: JsonObject,
  fields: readonly Field[],
  value: Json | undefined,
  schema: JsonObject,
  labels: ReadonlyMap<string, Label>,
): Choice {
  const named = labels.get(shown(value) ?? "");
  const label = named?.title ?? text(schema.title) ?? shown(value) ?? "";
  return { id: "", label, detail: named?.detail ?? text(schema.description), fixed, fields };
}

function fieldOf(name: string, property: JsonObject, required: boolean): Field {
  const label = text(property.description) ?? text(property.title) ?? name;
  const choices = Array.isArray(property.enum) ? property.enum : [];
  return { name, label, as: kindOf(property), required, choices };
}

function kindOf({ type, enum: values }: JsonObject): Field["as"] {
  if (Array.isArray(values)) return "choice";
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return "number";
  return type === "boolean" ? "switch" : "json";
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}

function anyJson(): Choice {
  const field: Field = { name: "", label: "JSON", as: "json", required: true, choices: [] };
  return { id: "", label: "", detail: undefined, fixed: {}, fields: [field] };
}

/** What the user has entered: text as it stands in the inputs, by field name. */
export type Entered = Readonly<Record<string, string>>;

/** The payload of a choice; undefined while a required field is empty or a value is not what it should be. */
export function payloadOf({ fixed, fields }: Choice, entered: Entered): Json | undefined {
  let payload: Json = { ...fixed };
  for (const field of fields) {
    const given = entered[field.name] ?? "";
    const value = given === "" && field.as !== "switch" ? undefined : valueOf(field, given);
    if (value === undefined) {
      if (given !== "" || field.required) return undefined;
    } else if (field.name === "") payload = value;
    else payload = { ...payload as JsonObject, [field.name]: value };
  }
  return payload;
}

function valueOf({ as, choices }: Field, given: string): Json | undefined {
  switch (as) {
    case "text":
      return given;
    case "number":
      return Number.isFinite(Number(given)) ? Number(given) : undefined;
    case "switch":
      return given === "true";
    case "choice":
      return choices.find((value) => JSON.stringify(value) === given);
    case "json":
      return parse(given);
  }
}

function parse(json: string): Json | undefined {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return undefined;
  }
}

/** What a person reads of an answer afterwards. */
export function answerText({ label, fields }: Choice, entered: Entered): string {
  const given = fields.map(({ name }) => entered[name] ?? "").filter((value) => value !== "");
  return [...(label === "" ? [] : [label]), ...given].join(": ");
}

/** The question without the list of options that the form shows anyway. */
export function questionOf({ interrupt, choices }: Form): string {
  const lines = (interrupt.message ?? "").split("\n");
  const isOption = (line: string): boolean =>
    choices.some(({ fixed, label }) => Object.values(fixed).some((value) => line === `- ${String(value)}: ${label}`));
  return lines.filter((line) => !isOption(line)).join("\n").trim();
}

const DETAILS = ["title", "purpose", "effect", "target", "toolName", "safeSummary", "deploymentSummary"] as const;

/** What the metadata says about the question, for a list of names and values. */
export function detailsOf({ metadata = {}, message }: Interrupt): { name: typeof DETAILS[number]; value: string }[] {
  return DETAILS.flatMap((name) => {
    const found = metadata[name];
    const value = shown(found) ??
      (isObject(found) || Array.isArray(found) ? JSON.stringify(found, null, 2) : undefined);
    // The message of a permission mostly begins with its title.
    const isTold = name === "title" ? message?.includes(value ?? "") : value === message;
    return value === undefined || isTold ? [] : [{ name, value }];
  });
}
