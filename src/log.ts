/** Log lines, for people or for machines, on standard error (docs/operators.md). The only place that writes a line. */
import { configureSync, getAnsiColorFormatter, getLogger, getTextFormatter, type LogRecord } from "@logtape/logtape";

export type LogLevel = "debug" | "info" | "warning" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Never content, never a secret: names, codes, ids, counts and durations only. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LogSettings {
  readonly format: "text" | "json";
  readonly level: LogLevel;
}

/** Sets the log up, once a process, and gives it. */
export function createLog({ format, level }: LogSettings): Log {
  const encoder = new TextEncoder();
  const formatted = format === "json" ? jsonLine : textLine(Deno.stderr.isTerminal() && !isNoColor());
  const write = (record: LogRecord): void => {
    const bytes = encoder.encode(formatted(record));
    for (let at = 0; at < bytes.length;) at += Deno.stderr.writeSync(bytes.subarray(at));
  };
  configureSync({
    reset: true,
    sinks: { stderr: write },
    loggers: [
      { category: "agui", sinks: ["stderr"], lowestLevel: level },
      { category: ["logtape", "meta"], sinks: ["stderr"], lowestLevel: "error" },
    ],
  });
  const logger = getLogger("agui");
  return {
    debug: (message, fields = {}) => logger.debug(message, { ...fields }),
    info: (message, fields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields = {}) => logger.error(message, { ...fields }),
  };
}

/** A log that says nothing, for programs that embed the service. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

function isNoColor(): boolean {
  return Deno.noColor;
}

function jsonLine({ timestamp, level, message, properties }: LogRecord): string {
  return `${
    JSON.stringify({ time: new Date(timestamp).toISOString(), level, message: message.join(""), ...properties })
  }\n`;
}

function textLine(colored: boolean): (record: LogRecord) => string {
  const format = colored ? getAnsiColorFormatter({ timestamp: "time" }) : getTextFormatter({ timestamp: "time" });
  return (record) => {
    const fields = Object.entries(record.properties).filter(([, value]) => value !== undefined);
    const tail = fields.map(([name, value]) => ` ${name}=${typeof value === "string" ? word(value) : value}`).join("");
    return format({ ...record, message: [`${record.message.join("")}${tail}`] });
  };
}

function word(value: string): string {
  return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** What of an unknown error may be logged: its kind and the system's code, never its text, which could quote a request. */
export function errorKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = "code" in error && typeof error.code === "string" ? ` ${error.code}` : "";
  return `${error.name}${code}`;
}
