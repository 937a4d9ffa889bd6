/** A collector for OTLP over HTTP with JSON: keeps what Deno exports, for a test to look at. */
import { isObject, type JsonObject } from "../../src/json.ts";

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a span without a parent. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** ns since the epoch. */
  readonly began: bigint;
  readonly ended: bigint;
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number;
}

/** A metric's value for one set of attributes. */
export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>;
  /** A counter's sum, or how many values a histogram has. */
  readonly value: number;
  /** A histogram's sum. */
  readonly sum: number;
}

export interface OtlpReceiver extends AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** Everything that was received, as it came. */
  readonly bodies: readonly string[];
  spans(): ReceivedSpan[];
  /** What a metric was last. */
  points(metric: string): Point[];
  /** Names, units and descriptions of all metrics of a scope. */
  metrics(scope: string): Map<string, { unit: string; description: string }>;
}

/** Starts a collector on a free port of 127.0.0.1. */
export function startReceiver(): OtlpReceiver {
  const bodies: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    bodies.push(await request.text());
    return Response.json({});
  });

  /** The entries of nested lists: `resourceSpans` → `scopeSpans` → `spans`, with their scope's name. */
  function entries(resources: string, scopes: string, items: string): { scope: string; item: JsonObject }[] {
    return bodies.flatMap((body) => listOf(JSON.parse(body), resources)).flatMap((resource) => listOf(resource, scopes))
      .flatMap((scoped) => {
        const scope = isObject(scoped.scope) ? String(scoped.scope.name) : "";
        return listOf(scoped, items).map((item) => ({ scope, item }));
      });
  }

  const metrics = () => entries("resourceMetrics", "scopeMetrics", "metrics");
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    bodies,
    spans: () => entries("resourceSpans", "scopeSpans", "spans").map(({ item }) => spanOf(item)),
    points(metric) {
      const last = metrics().findLast(({ item }) => item.name === metric)?.item;
      const data = [last?.sum, last?.histogram].find(isObject);
      return listOf(data, "dataPoints").map(pointOf);
    },
    metrics(scope) {
      const found = metrics().filter((entry) => entry.scope === scope).map(({ item }) => item);
      return new Map(found.map(({ name, unit, description }) => [
        String(name),
        { unit: String(unit), description: String(description) },
      ]));
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function listOf(value: unknown, name: string): JsonObject[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function spanOf(span: JsonObject): ReceivedSpan {
  return {
    name: String(span.name),
    traceId: String(span.traceId),
    spanId: String(span.spanId),
    parentSpanId: String(span.parentSpanId),
    attributes: attributesOf(span),
    began: BigInt(String(span.startTimeUnixNano)),
    ended: BigInt(String(span.endTimeUnixNano)),
    status: isObject(span.status) ? Number(span.status.code) : 0,
  };
}

function pointOf(point: JsonObject): Point {
  const value = point.count ?? point.asInt ?? point.asDouble;
  return { attributes: attributesOf(point), value: Number(value), sum: Number(point.sum ?? value) };
}

function attributesOf(value: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    listOf(value, "attributes").map(({ key, value: typed }) => {
      const [[kind, plain] = ["", undefined]] = isObject(typed) ? Object.entries(typed) : [];
      return [String(key), kind === "intValue" ? Number(plain) : plain];
    }),
  );
}
