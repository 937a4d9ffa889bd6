/** Log lines, for people or for machines, on standard error (docs/observability.md). The only place that writes a line. */
import {
  configureSync,
  type Filter,
  fromAsyncSink,
  getAnsiColorFormatter,
  getLogger,
  getTextFormatter,
  getThrottlingFilter,
  type LogRecord,
} from "@logtape/logtape";
import {
  LOG_FLUSH_MS,
  LOG_LINES_WAITING,
  LOG_MESSAGES,
  LOG_REPEATS,
  LOG_REPEATS_MS,
  LOG_VALUE_CHARS,
} from "./limits.ts";

export type LogLevel = "debug" | "info" | "warning" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Never content, never a secret: names, codes, ids, counts and durations only. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** A log that writes in the background. */
export interface OpenLog extends Log {
  /** Resolves when all lines so far are written, or after a second when nobody takes them. */
  flush(): Promise<void>;
}

/** Where lines go. */
export interface LogDestination {
  /** Whether somebody looks at it, so that colour helps. */
  readonly isTerminal: boolean;
  /** Writes some of the bytes and says how many. */
  write(bytes: Uint8Array): Promise<number>;
}

export interface LogSettings {
  readonly format: "text" | "json";
  readonly level: LogLevel;
  /** Standard error by default. */
  readonly to?: LogDestination;
}

/** The message of the one line that every run leaves at its end. */
export const RUN_LINE = "run";
/** The message of a line that passes on what a kernel of our own wrote. */
export const KERNEL_LINE = "kernel";

const standardError: LogDestination = {
  get isTerminal() {
    return Deno.stderr.isTerminal();
  },
  // In the background: whoever reads a pipe slowly, or not at all, must not hold up the service.
  write: (bytes) => Deno.stderr.write(bytes),
};

/** Sets the log up, once a process, and gives it. */
export function createLog({ format, level, to = standardError }: LogSettings): OpenLog {
  const lines = lineSink(format === "json" ? jsonLine : textLine(to.isTerminal), to);
  const repeats = repeatFilter((line, count) => logger.warn("repeated lines were left out", { line, lines: count }));
  configureSync({
    reset: true,
    sinks: { lines: (record) => lines(record) },
    filters: { repeats: repeats.filter },
    loggers: [
      { category: "agui", sinks: ["lines"], filters: ["repeats"], lowestLevel: level },
      { category: ["logtape", "meta"], sinks: ["lines"], lowestLevel: "error" },
    ],
  });
  const logger = getLogger("agui");
  return {
    debug: (message, fields = {}) => logger.debug(message, { ...fields }),
    info: (message, fields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields = {}) => logger.error(message, { ...fields }),
    async flush() {
      repeats.tell();
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, LOG_FLUSH_MS);
      await Promise.race([lines.drain(), late.promise]);
      clearTimeout(timer);
    },
  };
}

/** A log that says nothing, for programs that embed the service. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Writes line after line. What a closed, full or slow destination does not take is lost and counted, and told as soon as a
 * line gets through: there is nobody else to tell.
 */
function lineSink(line: (record: LogRecord) => string, to: LogDestination): ReturnType<typeof fromAsyncSink> {
  const encoder = new TextEncoder();
  let lost = 0;
  let isTorn = false;

  async function write(text: string): Promise<void> {
    const bytes = encoder.encode(isTorn ? `\n${text}` : text);
    for (let at = 0; at < bytes.length;) {
      at += await to.write(bytes.subarray(at));
      isTorn = at < bytes.length;
    }
  }

  return fromAsyncSink(async (record) => {
    const told = lost;
    try {
      if (told > 0) await write(line(aboutLost(record.timestamp, told)));
      lost -= told;
      await write(line(record));
    } catch {
      lost++;
    }
  }, { maxQueueSize: LOG_LINES_WAITING, overflow: "drop-newest", onDrop: ({ count }) => void (lost += count) });
}

function aboutLost(timestamp: number, lines: number): LogRecord {
  const message = "log lines were lost";
  return {
    category: ["agui"],
    level: "warning",
    timestamp,
    message: [message],
    rawMessage: message,
    properties: { lines },
  };
}

const WHOLE: ReadonlySet<unknown> = new Set([RUN_LINE, KERNEL_LINE]);

/** Lets through the first lines with the same message a minute; `tell` gets how many the others were. */
function repeatFilter(tell: (line: string, count: number) => void): { filter: Filter; tell(): void } {
  const throttle = getThrottlingFilter({
    limit: LOG_REPEATS,
    windowMs: LOG_REPEATS_MS,
    maxKeys: LOG_MESSAGES,
    summary: {
      logger: { warning: (_, { firstRecord, suppressed }) => tell(messageOf(firstRecord), Number(suppressed)) },
    },
  });
  return {
    // Whoever asked for debug lines wants them all, and each run is one line by intent, as is each line of a kernel.
    filter: (record) => record.level === "debug" || WHOLE.has(record.rawMessage) || throttle(record),
    tell: () => throttle[Symbol.dispose](),
  };
}

function messageOf(record: unknown): string {
  return typeof record === "object" && record !== null && "rawMessage" in record ? String(record.rawMessage) : "";
}

function jsonLine({ timestamp, level, message, properties }: LogRecord): string {
  const time = new Date(timestamp).toISOString();
  return `${JSON.stringify({ time, level, message: clean(message.join("")), ...cleanFields(properties) })}\n`;
}

function textLine(isTerminal: boolean): (record: LogRecord) => string {
  // A file is read on another day; a terminal is read now.
  const layout = {
    timestamp: isTerminal ? "time" : "rfc3339",
    category: () => "",
    format: ({ timestamp, level, message }: { timestamp: string | null; level: string; message: string }) =>
      `${timestamp} ${level} ${message}`,
  } as const;
  const format = isTerminal && !Deno.noColor ? getAnsiColorFormatter(layout) : getTextFormatter(layout);
  return (record) => {
    const fields = Object.entries(cleanFields(record.properties));
    const tail = fields.map(([name, value]) => ` ${name}=${typeof value === "string" ? word(value) : value}`).join("");
    return format({ ...record, message: [`${clean(record.message.join(""))}${tail}`] });
  };
}

function cleanFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "string" ? clean(value) : value]),
  );
}

/** A value that a client or the kernel chose can neither begin a line of its own nor move a cursor, nor go on for pages. */
function clean(value: string): string {
  return value.slice(0, LOG_VALUE_CHARS).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}

function word(value: string): string {
  return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Where in our own code an error came from; undefined when its stack does not show it. */
export function errorPlace(error: unknown): string | undefined {
  const stack = error instanceof Error ? error.stack : undefined;
  return stack?.match(/\/((?:src\/[\w/]+|main)\.ts:\d+:\d+)\)?$/m)?.[1];
}

/** What of an unknown error may be logged: its kind and the system's code, never its text, which could quote a request. */
export function errorKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = "code" in error && typeof error.code === "string" ? ` ${error.code}` : "";
  return `${error.name}${code}`;
}
