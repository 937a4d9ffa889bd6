/**
 * A config file: YAML, of which JSON is a part (docs/operators.md, "Configuration"). Strict: keys that no option has are
 * mistakes, as are wrong types. Mistakes name file, line and field, and never quote the file, which may hold tokens. Pure.
 */
import { type Document, isMap, isScalar, LineCounter, type Pair, type ParsedNode, parseDocument } from "yaml";
import { fileKey, TABLE } from "./options.ts";
import type { ConfigFile } from "./values.ts";

/** Reads the text of a config file; `name` is how mistakes call it. */
export function readConfig(text: string, name: string): { file: ConfigFile } | { mistakes: string[] } {
  const lines = new LineCounter();
  const json = name.endsWith(".json") ? jsonMistake(text, name) : undefined;
  if (json !== undefined) return { mistakes: [json] };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number | undefined): string => `${name}:${lines.linePos(offset ?? 0).line}`;
  if (document.errors.length > 0) {
    const told = document.errors.map(({ code, pos }) => `${at(pos[0])}: not valid YAML (${code.toLowerCase()}).`);
    return { mistakes: told };
  }
  const { contents } = document;
  if (contents === null) return { file: { values: new Map(), where: () => name } };
  if (!isMap(contents)) return { mistakes: [`${name}: must be a mapping of options.`] };

  const values = new Map<string, unknown>();
  const places = new Map<string, string>();
  const mistakes: string[] = [];
  for (const { key, value } of contents.items as Pair<ParsedNode, ParsedNode | null>[]) {
    const place = at(key.range[0]);
    const written = isScalar(key) && typeof key.value === "string" ? key.value : undefined;
    const option = TABLE.find((known) =>
      !known.noFile && written !== undefined && fileKey(written) === fileKey(known.name)
    );
    if (!option) mistakes.push(`${place}: ${written === undefined ? "a key" : shown(written)} is not a known option.`);
    else if (values.has(option.name)) mistakes.push(`${place}: ${fileKey(option.name)} is there twice.`);
    else {
      const plain = plainValue(value, document);
      if (plain === undefined) mistakes.push(`${place}: ${fileKey(option.name)} names an anchor that is not there.`);
      values.set(option.name, plain);
      places.set(option.name, `${place}: ${fileKey(option.name)}`);
    }
  }
  return mistakes.length > 0 ? { mistakes } : { file: { values, where: (option) => places.get(option) ?? name } };
}

/** A value as JavaScript has it; undefined for an alias that leads nowhere, or to too much. */
function plainValue(value: ParsedNode | null, document: Document): unknown {
  try {
    return value === null ? null : value.toJS(document);
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

/** JSON is not checked by a YAML parser: that one takes more. */
function jsonMistake(text: string, name: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const line = error instanceof Error ? /\(line (\d+) /.exec(error.message)?.[1] : undefined;
    return `${name}${line === undefined ? "" : `:${line}`}: not valid JSON.`;
  }
}

/** A key as a mistake may show it: what looks like a name. A token that lost its key does not. */
function shown(key: string): string {
  return /^[a-z][a-z_-]{0,40}$/i.test(key) ? key : "a key";
}
