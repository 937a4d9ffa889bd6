/** More connections than the process may have files: it lives on, its streams go on, and it serves again. */
import assert from "node:assert/strict";
import { body } from "../support/run_bodies.ts";
import { startProgram, urlOf } from "./program.ts";

const FILES = 160;

async function connections(port: number, count: number, first: string): Promise<Deno.TcpConn[]> {
  const opened: Deno.TcpConn[] = [];
  const bytes = new TextEncoder().encode(first);
  for (let at = 0; at < count; at++) {
    // One that nobody accepts any more is refused, or closed before the bytes are sent.
    const connection = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
    if (!connection) continue;
    opened.push(connection);
    await connection.write(bytes).catch(() => undefined);
  }
  return opened;
}

async function served(url: string): Promise<void> {
  const until = performance.now() + 10_000;
  while (true) {
    try {
      const response = await fetch(`${url}/health`, { headers: { connection: "close" } });
      await response.body?.cancel();
      return assert.equal(response.status, 200);
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

for (
  const [title, first] of [
    ["connections that say nothing", ""],
    ["requests without an end", "GET /health HTTP/1.1\r\nhost: localhost\r\nx-endless: "],
  ] as const
) {
  Deno.test(`${title}, as many as the process may have files, end neither it nor its streams`, async () => {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agui-files-" }));
    const args = [
      "--demo",
      "--port",
      "0",
      "--state-dir",
      `${root}/state`,
      "--allowed-cwds",
      root,
    ];
    try {
      await using program = startProgram({ args, files: FILES });
      const url = await urlOf(program);
      const input = body({ messages: [{ id: "message-1", role: "user", content: "slow" }] }, { cwd: root });
      const headers = { "content-type": "application/json" };
      const run = await fetch(`${url}/`, { method: "POST", body: JSON.stringify(input), headers });
      const reader = run.body?.pipeThrough(new TextDecoderStream()).getReader();
      let told = "";
      const read = async (word: string): Promise<void> => {
        while (!told.includes(`"delta":"${word} `)) told += (await reader?.read())?.value ?? assert.fail(told);
      };
      // By now everything that the run has to write down is written.
      await read("slow1");
      const idle = await connections(Number(new URL(url).port), FILES + 40, first);
      await program.told(/no connection can be accepted/);
      await served(url);
      await read("slow6");
      await reader?.cancel();
      for (const connection of idle) connection.close();
      await served(url);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}
