/** Reads the recorded wires of tests/wires: HTTP exchanges between an adapter and the kernel, in their order. */
import { isObject, type Json, type JsonObject, text } from "../../src/json.ts";

export type CallName =
  | "SendStreamingMessage"
  | "SendMessage"
  | "GetTask"
  | "SubscribeToTask"
  | "CancelTask"
  | "ensure-restored"
  | "pipeline-state";

/** One JSON-RPC answer in an event stream. */
export interface RecordedFrame {
  readonly data: JsonObject;
  /** The number of the last other exchange that was asked for before this frame came; 0 for none. */
  readonly after: number;
}

/** One HTTP exchange. */
export interface Recorded {
  readonly n: number;
  readonly call: CallName;
  /** JSON-RPC params, or the body or query of a plain path. */
  readonly params: JsonObject;
  /** Absent when nobody answered. */
  readonly status: number | undefined;
  readonly frames: readonly RecordedFrame[];
  /** A JSON answer. */
  readonly body: Json | undefined;
  /** Who ended a stream: the kernel, the client, or a connection that broke. */
  readonly ending: "end" | "left" | "cut";
}

/** What the Python adapter was asked, and what it answered. */
export interface RecordedRun {
  readonly request: JsonObject;
  readonly status: number;
  readonly events: readonly JsonObject[];
  readonly body: JsonObject | undefined;
}

export interface Wire {
  readonly name: string;
  readonly exchanges: readonly Recorded[];
  readonly runs: readonly RecordedRun[];
}

const FOLDER = new URL("../wires/", import.meta.url);

/** The names of all recorded wires. */
export function wireNames(): string[] {
  return [...Deno.readDirSync(FOLDER)].map(({ name }) => /^(.*)\.a2a\.jsonl$/.exec(name)?.[1])
    .filter((name) => name !== undefined).sort();
}

/** A recorded wire with some of its strings replaced (a workspace, a context id): `from` → `to`. */
export async function readWire(name: string, replaced: Readonly<Record<string, string>> = {}): Promise<Wire> {
  const rename = (all: string): string =>
    Object.entries(replaced).reduce((result, [from, to]) => result.replaceAll(from, to), all);
  const rows = rename(await Deno.readTextFile(new URL(`${name}.a2a.jsonl`, FOLDER)));
  return { name, exchanges: parseRows(rows), runs: await readRuns(name, rename) };
}

async function readRuns(name: string, rename: (all: string) => string): Promise<RecordedRun[]> {
  const recorded = await Deno.readTextFile(new URL(`${name}.agui-0.16.json`, FOLDER)).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "[]";
    throw error;
  });
  const rows: Json[] = JSON.parse(rename(recorded));
  return rows.flatMap((row) => {
    if (!isObject(row) || !isObject(row.request) || !isObject(row.response)) return [];
    const { status, events, body } = row.response;
    return [{
      request: row.request,
      status: Number(status),
      events: Array.isArray(events) ? events.filter(isObject) : [],
      body: isObject(body) ? body : undefined,
    }];
  });
}

interface Growing {
  n: number;
  call: CallName;
  params: JsonObject;
  status: number | undefined;
  frames: RecordedFrame[];
  body: Json | undefined;
  ending: Recorded["ending"];
}

function parseRows(rows: string): Recorded[] {
  const byNumber = new Map<number, Growing>();
  for (const line of rows.trim().split("\n")) {
    const row: JsonObject = JSON.parse(line);
    const n = Number(row.n);
    const exchange = byNumber.get(n);
    if (row.dir === "request") byNumber.set(n, begin(n, row));
    if (!exchange) continue;
    if (row.dir === "response") exchange.status = Number(row.status);
    if (row.dir === "body") exchange.body = typeof row.data === "string" ? JSON.parse(row.data) : row.data;
    if (row.dir === "frame" && isObject(row.data) && belongs(row.data, exchange)) {
      const others = [...byNumber.keys()].filter((other) => other !== n);
      exchange.frames.push({ data: row.data, after: Math.max(0, ...others.filter((other) => other > n)) });
    }
    if (row.dir === "closed-by-client") exchange.ending = row.why === "RemoteProtocolError" ? "cut" : "left";
  }
  return [...byNumber.values()];
}

function begin(n: number, { path, query, body }: JsonObject): Growing {
  const rest = { n, status: undefined, frames: [], body: undefined, ending: "end" as const };
  if (path === "/iac-code/pipeline/state") {
    const params = Object.fromEntries(new URLSearchParams(typeof query === "string" ? query : ""));
    return { ...rest, call: "pipeline-state", params };
  }
  const asked = isObject(body) ? body : {};
  if (path === "/iac-code/session/ensure-restored") return { ...rest, call: "ensure-restored", params: asked };
  return { ...rest, call: asked.method as CallName, params: isObject(asked.params) ? asked.params : {} };
}

/** The recorder numbered connections anew for each scenario, so frames of an older one can stand between. */
function belongs(data: JsonObject, { params }: Growing): boolean {
  const [result] = isObject(data.result) ? Object.values(data.result) : [];
  const own = isObject(params.message) ? text(params.message.contextId) : undefined;
  const given = isObject(result) ? text(result.contextId) : undefined;
  return own === undefined || given === undefined || given === own;
}
