/** What the user sets for the runs, and the request's `forwardedProps.iacCode` made from it (reference). Pure. */
import { isObject, type JsonObject } from "../../src/json.ts";

export const LANGUAGES = ["en", "zh", "es", "fr", "de", "ja", "pt"] as const;
export type LanguageTag = typeof LANGUAGES[number];

/** Settings without secrets; empty texts are not sent. */
export interface Fields {
  readonly cwd: string;
  readonly runMode: "normal" | "pipeline";
  readonly pipelineName: string;
  readonly candidatePresentation: "standard" | "rich";
  readonly model: string;
  readonly language: LanguageTag;
  readonly thinking: boolean;
  readonly effort: string;
  /** A number as text. */
  readonly budget: string;
}

/** Kept in memory only. */
export interface Secrets {
  /** The service's bearer token. */
  readonly token: string;
  readonly llmApiKey: string;
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
  readonly regionId: string;
}

export const NO_SECRETS: Secrets = {
  token: "",
  llmApiKey: "",
  accessKeyId: "",
  accessKeySecret: "",
  securityToken: "",
  regionId: "",
};

/** The settings to begin with; `preferred` are the browser's languages. */
export function defaultFields(cwd: string, preferred: readonly string[]): Fields {
  const tags = preferred.map((language) => language.toLowerCase().split("-")[0]);
  const language = LANGUAGES.find((tag) => tag === tags.find((wanted) => LANGUAGES.some((known) => known === wanted)));
  return {
    cwd,
    runMode: "normal",
    pipelineName: "selling",
    candidatePresentation: "rich",
    model: "",
    language: language ?? "en",
    thinking: false,
    effort: "",
    budget: "",
  };
}

/** Settings as they were kept as JSON; what is missing or wrong is as in `defaults`. */
export function readFields(json: string | null, defaults: Fields): Fields {
  const kept = parse(json);
  const fields = Object.entries(defaults).map(([name, value]) => {
    const found = kept[name];
    return [name, typeof found === typeof value && found !== "" ? found : value];
  });
  const read = Object.fromEntries(fields) as unknown as Fields;
  return {
    ...read,
    language: LANGUAGES.includes(read.language) ? read.language : defaults.language,
    runMode: read.runMode === "pipeline" ? "pipeline" : "normal",
    candidatePresentation: read.candidatePresentation === "standard" ? "standard" : "rich",
  };
}

function parse(json: string | null): JsonObject {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The extension fields of a request. One `rosInvocationId` a thread: a resume after a reload needs the run's own. */
export function iacCodeProps(fields: Fields, secrets: Secrets, rosInvocationId: string): JsonObject {
  const { cwd, runMode, pipelineName, candidatePresentation, model, language, thinking, effort, budget } = fields;
  const { llmApiKey, accessKeyId, accessKeySecret, securityToken, regionId } = secrets;
  const alibabaCloud = given({ accessKeyId, accessKeySecret, securityToken, regionId });
  return {
    schemaVersion: 1,
    rosInvocationId,
    cwd,
    preferredLanguage: language,
    runMode,
    ...(runMode === "pipeline" && { candidatePresentation, ...given({ pipelineName }) }),
    ...given({ model, llmApiKey }),
    ...(thinking && { thinking: { enabled: true, ...given({ effort }), ...positive(budget) } }),
    ...(Object.keys(alibabaCloud).length > 0 && { alibabaCloud }),
  };
}

function given(texts: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, value.trim()]).filter(([, value]) => value),
  );
}

function positive(budget: string): JsonObject {
  const number = Number(budget);
  return Number.isSafeInteger(number) && number > 0 ? { budget: number } : {};
}

const SECRET_NAMES: ReadonlySet<string> = new Set(["llmApiKey", "accessKeyId", "accessKeySecret", "securityToken"]);
const MASK = "•••";

/** A request's headers and body as they may be shown: without secrets. */
export function maskRequest(headers: Readonly<Record<string, string>>, body: unknown): JsonObject {
  const shownHeaders = Object.entries(headers).map(([name, value]) => [
    name,
    name.toLowerCase() === "authorization" ? `Bearer ${MASK}` : value,
  ]);
  return { headers: Object.fromEntries(shownHeaders), body: mask(body) };
}

function mask(value: unknown): JsonObject[string] {
  if (Array.isArray(value)) return value.map(mask);
  if (!isObject(value)) return value as JsonObject[string];
  const entries = Object.entries(value).map(([name, item]) => [name, SECRET_NAMES.has(name) ? MASK : mask(item)]);
  return Object.fromEntries(entries);
}
