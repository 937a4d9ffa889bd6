/** A kernel, a service and a folder for the tests of a file. */
import { isObject, type JsonObject } from "../../src/json.ts";
import { type RealKernel, startKernel } from "./kernel.ts";
import { newPerson, type Person } from "./person.ts";
import { type Service, startService } from "./service.ts";

export interface LabOptions {
  readonly linger?: boolean;
  readonly flags?: readonly string[];
}

export interface Lab {
  readonly kernel: RealKernel;
  readonly service: Service;
  readonly folder: string;
  /** Every service, as long as the lab is open. */
  readonly services: readonly Service[];
  /** Someone with a thread and an empty workspace of their own. */
  person(fields?: JsonObject): Promise<Person>;
  /** A further service on the same kernel; ends with the lab. */
  another(state: string, flags?: readonly string[]): Promise<Service>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts everything; to be disposed. */
export async function openLab({ linger = false, flags = [] }: LabOptions = {}): Promise<Lab> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-kernel-" }));
  const kernel = await startKernel({ folder, linger });
  const services: Service[] = [];

  async function another(state: string, more: readonly string[] = []): Promise<Service> {
    const service = await startService({ folder, kernelUrl: kernel.url, state, flags: more });
    services.push(service);
    return service;
  }

  async function close(): Promise<void> {
    for (const service of services) await service.kill();
    await kernel.close();
    await Deno.remove(folder, { recursive: true });
  }

  try {
    const service = await another("state", flags);
    return {
      kernel,
      service,
      services,
      folder,
      person: (fields) => newcomer(folder, service, fields),
      another,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Someone new at a service. */
export async function newcomer(folder: string, service: Service, fields?: JsonObject): Promise<Person> {
  const workspace = `${folder}/${crypto.randomUUID()}`;
  await Deno.mkdir(workspace);
  return newPerson(service.url, workspace, fields);
}

/** The names of the files in a workspace, hidden ones left out, in order. */
export async function filesIn(workspace: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(workspace)) if (!name.startsWith(".")) names.push(name);
  return names.sort();
}

/** A thread's file as it is on disk. */
export async function threadFile({ stateDir }: Service, threadId: string): Promise<JsonObject> {
  const value: unknown = JSON.parse(await Deno.readTextFile(`${stateDir}/threads/${threadId}.json`));
  if (!isObject(value)) throw new Error("the thread's file holds no object");
  return value;
}
