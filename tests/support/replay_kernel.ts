/**
 * Plays a recorded wire through the stand-in kernel: each call gets what the kernel answered to the same call, frame by
 * frame, and its stream ends as it did. Frames that came after a later call wait for that call.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../../src/json.ts";
import { type Call, frame, type Script, type StandInKernel } from "./stand_in_kernel.ts";
import type { CallName, Recorded, Wire } from "./wires.ts";

const CALLS: readonly CallName[] = [
  "SendStreamingMessage",
  "SendMessage",
  "GetTask",
  "SubscribeToTask",
  "CancelTask",
  "ensure-restored",
  "pipeline-state",
];

export interface ReplayOptions {
  /** Exchanges whose frames do not wait for later calls. */
  readonly eager?: readonly number[];
  /** Exchanges that break at the first frame that came after a later call, whatever the recording did. */
  readonly cut?: readonly number[];
  /** Exchanges at whose end the kernel dies. */
  readonly dies?: readonly number[];
  /** Exchanges that answer any number of calls. */
  readonly repeated?: readonly number[];
  /** Answers to calls that the recorded adapter did not make. */
  readonly beyond?: Partial<Readonly<Record<Call["name"], Script>>>;
}

export interface Replay {
  /** The exchanges that nobody has asked for, by number. */
  unplayed(): number[];
  /** Fails when a message was sent that differs from the recorded one in more than its id. */
  checkMessages(): void;
}

interface Played {
  readonly exchange: Recorded;
  readonly call: Call;
}

/** Makes a stand-in kernel play a wire. A call that no exchange fits fails the stand-in, and so the test. */
export function play(kernel: StandInKernel, wire: Wire, options: ReplayOptions = {}): Replay {
  const played: Played[] = [];
  const waiters = new Set<() => void>();
  const waiting = new Set(wire.exchanges);

  function find(call: Call): Recorded | undefined {
    const fitting = [...waiting].filter((exchange) => fits(exchange, call));
    // What was recorded before a message that has been sent since tells of the time before it.
    const fresh = fitting.filter(({ n }) => n > lastMessage());
    const timely = fresh.length > 0 ? fresh : fitting;
    return timely.find(({ params }) => params.afterSequence === call.params.afterSequence) ?? timely[0];
  }

  function lastMessage(): number {
    return Math.max(
      0,
      ...played.filter(({ exchange }) => exchange.call.startsWith("Send")).map(({ exchange }) => exchange.n),
    );
  }

  async function asked(n: number): Promise<void> {
    while (!played.some(({ exchange }) => exchange.n >= n)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.add(resolve);
      await promise;
      waiters.delete(resolve);
    }
  }

  async function answer(call: Call): Promise<void> {
    const exchange = find(call);
    if (!exchange) {
      const beyond = options.beyond?.[call.name];
      assert.ok(beyond, `${call.name} ${JSON.stringify(call.params)} is not in the wire`);
      return await beyond(call);
    }
    played.push({ exchange, call });
    if (!options.repeated?.includes(exchange.n)) waiting.delete(exchange);
    for (const wake of waiters) wake();
    await answerAs(exchange, call);
  }

  async function answerAs(exchange: Recorded, call: Call): Promise<void> {
    if (exchange.status === undefined) return await call.cut();
    if (exchange.body !== undefined) {
      return await call.answer(exchange.status, "application/json", bodyOf(exchange, call));
    }
    for (const { data, after } of exchange.frames) {
      if (after > 0 && options.cut?.includes(exchange.n)) return await call.cut();
      if (after > 0 && !options.eager?.includes(exchange.n)) await Promise.race([asked(after), call.gone]);
      await call.raw(frame(call, isObject(data.result) ? data.result : {}));
    }
    if (options.dies?.includes(exchange.n)) void kernel.down();
    if (exchange.ending === "cut") return await call.cut();
    if (exchange.ending === "left") await call.gone;
  }

  for (const name of CALLS) kernel.on(name, answer);
  return {
    unplayed: () => [...waiting].map(({ n }) => n).filter((n) => !options.repeated?.includes(n)),
    checkMessages() {
      for (const { exchange, call } of played) {
        if (!isObject(exchange.params.message)) continue;
        assert.deepEqual(essence(call.params), essence(exchange.params), `the message of exchange ${exchange.n}`);
      }
    },
  };
}

function fits({ call: name, params }: Recorded, call: Call): boolean {
  if (name !== call.name) return false;
  if (!isObject(params.message)) return params.id === call.params.id && params.taskId === call.params.taskId;
  const isSame = (field: string): boolean => isObject(params.message) && params.message[field] === call.message[field];
  return isSame("contextId") && isSame("taskId") && isDeepStrictEqual(params.message.parts, call.message.parts);
}

function bodyOf({ body }: Recorded, { rpcId }: Call): string {
  return JSON.stringify(isObject(body) && body.jsonrpc !== undefined ? { ...body, id: rpcId } : body);
}

/** A message's params without its id, and without the language that the Python adapter made up when none was asked for. */
function essence({ message, ...rest }: JsonObject): JsonObject {
  const { messageId: _, metadata, ...others } = isObject(message) ? message : {};
  const iac = isObject(metadata) && isObject(metadata["iac_code"]) ? metadata["iac_code"] : {};
  const { preferredLanguage: __, ...given } = iac;
  return { ...rest, message: { ...others, metadata: { "iac_code": given } } };
}
