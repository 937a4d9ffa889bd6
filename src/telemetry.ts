/**
 * Traces and metrics through Deno's own OpenTelemetry (docs/observability.md). Loaded only when Deno exports it; who has
 * none pays nothing. Names, codes, counts, times and our own ids only: never content, never a secret.
 */
import type { Span } from "@opentelemetry/api";
import type { ErrorCode } from "./errors.ts";
import type { KernelStream } from "./kernel/answer_body.ts";
import type { Kernel } from "./kernel/client.ts";
import { KernelFailure } from "./kernel/failure.ts";
import { errorKind } from "./log.ts";
import type { StopCause, ThreadStore } from "./thread/registry.ts";
import { VERSION } from "./version.ts";

/** Why the kernel was asked once more. */
export type RetryCause = "connect" | "winding_down" | "recovery" | "answer" | "cancel";

/** What is known of a run when it begins. */
export interface RunBegin {
  readonly kind: "new" | "resume" | "guidance" | "nothing";
  /** The thread's A2A context, which is a hash. */
  readonly thread: string;
  readonly execution: string;
}

/** What is known of a run when it is over. */
export interface RunEnd {
  /** `success`, `interrupt` or an error code. */
  readonly end: string;
  /** Who stopped it, when somebody did. */
  readonly by: StopCause | undefined;
  readonly task: string | undefined;
  /** All of it, in ms. */
  readonly ms: number;
  /** Until the kernel's first event for the client, in ms; undefined when none came. */
  readonly firstMs: number | undefined;
  readonly events: number;
  readonly retries: number;
}

/** What the stations tell. Absent wherever nothing is exported. */
export interface Telemetry {
  /** Names the request's span by its route. */
  routed(method: string, route: string): void;
  /** A request was answered with an error instead of a stream. */
  refused(code: ErrorCode): void;
  /** Carries a run out within a span of its own, which outlives the request's; `end` is asked when it is over. */
  run(begin: RunBegin, work: () => Promise<void>, end: () => RunEnd): Promise<void>;
  /** The kernel is asked once more. */
  retried(why: RetryCause): void;
  /** The kernel with a span for each call, parent of Deno's own for the request, which carries the trace on. */
  kernel(kernel: Kernel): Kernel;
  /** The store with its times measured. */
  store(store: ThreadStore): ThreadStore;
  /** The trace that a log line belongs to. */
  traceId(): string | undefined;
}

/** Bounds of the histograms, in seconds. */
const RUN_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
const FIRST_EVENT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60];
const DISK_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The telemetry, or undefined when Deno exports none (`OTEL_DENO` is not `true`). */
export async function loadTelemetry(): Promise<Telemetry | undefined> {
  return isExported() ? createTelemetry(await import("@opentelemetry/api")) : undefined;
}

/** Whether Deno exports; an executable has it built in, whatever its environment says. */
function isExported(): boolean {
  const variable = { name: "env", variable: "OTEL_DENO" } as const;
  const isReadable = !Deno.build.standalone && Deno.permissions.querySync(variable).state === "granted";
  if (isReadable && Deno.env.get(variable.variable) !== "true") return false;
  try {
    // Never ended, so never exported. Where nothing is exported, this throws, after some milliseconds.
    Deno.telemetry.tracerProvider.getTracer("iac-code-agui").startSpan("probe");
    return true;
  } catch {
    return false;
  }
}

type Api = typeof import("@opentelemetry/api");

function createTelemetry({ trace, context, metrics, SpanKind, SpanStatusCode }: Api): Telemetry {
  const tracer = trace.getTracer("iac-code-agui", VERSION);
  const told = createInstruments(metrics.getMeter("iac-code-agui", VERSION));

  /** Runs `work` with the span as the parent of what it does. */
  const within = <T>(span: Span, work: () => T): T => context.with(trace.setSpan(context.active(), span), work);

  function fail(span: Span, error: unknown): void {
    span.setAttribute("error.type", error instanceof KernelFailure ? error.message : errorKind(error));
    // Whoever stops a run ends its calls on purpose.
    const isStopped = error instanceof Error && error.name === "AbortError";
    if (!isStopped) span.setStatus({ code: SpanStatusCode.ERROR });
  }

  const startCall = (method: string): Span =>
    tracer.startSpan(`kernel ${method}`, { kind: SpanKind.INTERNAL, attributes: { "rpc.method": method } });

  async function call<T>(method: string, work: () => Promise<T>): Promise<T> {
    const span = startCall(method);
    try {
      return await within(span, work);
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  async function openStream(method: string, open: () => Promise<KernelStream>): Promise<KernelStream> {
    const span = startCall(method);
    try {
      return tracedStream(await within(span, open), (error) => {
        if (error !== undefined) fail(span, error);
        span.end();
      });
    } catch (error) {
      fail(span, error);
      span.end();
      throw error;
    }
  }

  async function timed<T>(operation: "read" | "write", work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    let failed = true;
    try {
      const result = await work();
      failed = false;
      return result;
    } finally {
      told.stateSeconds.record((performance.now() - began) / 1000, {
        "agui.operation": operation,
        "agui.failed": failed,
      });
    }
  }

  return {
    routed(method, route) {
      const span = trace.getActiveSpan();
      span?.updateName(`${method} ${route}`);
      span?.setAttribute("http.route", route);
    },
    refused: (code) => told.refusals.add(1, { "agui.code": code }),
    async run(begin, work, end) {
      const kind = { "agui.run.kind": begin.kind };
      const attributes = { ...kind, "agui.thread": begin.thread, "agui.execution": begin.execution };
      const span = tracer.startSpan("agui.run", { kind: SpanKind.INTERNAL, attributes });
      told.active.add(1, kind);
      try {
        await within(span, work);
      } finally {
        told.active.add(-1, kind);
        const over = end();
        countRun(told, kind, over);
        span.setAttributes(endAttributes(over));
        if (isFault(over)) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      }
    },
    retried: (why) => told.retries.add(1, { "agui.retry.cause": why }),
    kernel: (kernel) => ({
      ...kernel,
      stream: (method, params, signal) => openStream(method, () => kernel.stream(method, params, signal)),
      call: (method, ...rest) => call(method, () => kernel.call(method, ...rest)),
      ensureRestored: (...given) => call("session/ensure-restored", () => kernel.ensureRestored(...given)),
      pipelineState: (...given) => call("pipeline/state", () => kernel.pipelineState(...given)),
      execution: (...given) => call("execution/state", () => kernel.execution(...given)),
      sessionOf: (...given) => call("session/recovery", () => kernel.sessionOf(...given)),
    }),
    store: (store) => ({
      load: (threadId, about) => timed("read", () => store.load(threadId, about)),
      save: (thread) => timed("write", () => store.save(thread)),
    }),
    traceId: () => trace.getActiveSpan()?.spanContext().traceId,
  };
}

/** A stream that tells once when it is over, and with which error. */
function tracedStream(stream: KernelStream, over: (error?: unknown) => void): KernelStream {
  let isOver = false;
  const once = (error?: unknown): void => {
    if (!isOver) over(error);
    isOver = true;
  };
  return {
    async next() {
      try {
        const frames = await stream.next();
        if (!frames) once();
        return frames;
      } catch (error) {
        once(error);
        throw error;
      }
    },
    close() {
      once();
      stream.close();
    },
  };
}

type Meter = ReturnType<Api["metrics"]["getMeter"]>;
type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(meter: Meter) {
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries } });
  return {
    runs: meter.createCounter("agui.runs", { description: "Runs that are over", unit: "{run}" }),
    active: meter.createUpDownCounter("agui.runs.active", { description: "Runs under way", unit: "{run}" }),
    runSeconds: seconds("agui.run.duration", "From the admission to the last event", RUN_SECONDS),
    firstSeconds: seconds("agui.run.first_event", "Until the kernel's first event for the client", FIRST_EVENT_SECONDS),
    events: meter.createCounter("agui.events", { description: "Events sent to clients", unit: "{event}" }),
    refusals: meter.createCounter("agui.refusals", { description: "Requests refused", unit: "{request}" }),
    retries: meter.createCounter("agui.kernel.retries", { description: "Requests repeated", unit: "{request}" }),
    stateSeconds: seconds("agui.state.duration", "Reading or writing a thread's file", DISK_SECONDS),
  };
}

function countRun(told: Instruments, kind: { "agui.run.kind": string }, { end, ms, firstMs, events }: RunEnd): void {
  const attributes = { ...kind, "agui.run.end": end };
  told.runs.add(1, attributes);
  told.runSeconds.record(ms / 1000, attributes);
  if (firstMs !== undefined) told.firstSeconds.record(firstMs / 1000, kind);
  told.events.add(events, kind);
}

function endAttributes({ end, by, task, firstMs, events, retries }: RunEnd): Record<string, string | number> {
  return {
    "agui.run.end": end,
    "agui.run.events": events,
    "agui.run.retries": retries,
    ...(firstMs !== undefined && { "agui.run.first_event_ms": firstMs }),
    ...(by !== undefined && { "agui.run.stopped_by": by }),
    ...(task !== undefined && { "agui.task": task }),
  };
}

/** A run that a user or a client cancelled is none that failed. */
function isFault({ end }: RunEnd): boolean {
  return end !== "success" && end !== "interrupt" && end !== "CANCELLED";
}
