/** One turn, its events as they arrive. usage: deno run -A examples/turn.ts URL CWD [MESSAGE] */
import { HttpAgent } from "@ag-ui/client";

const [url = "http://127.0.0.1:8000/", cwd = Deno.cwd(), content = "List the files."] = Deno.args;
const agent = new HttpAgent({ url, threadId: crypto.randomUUID() });
agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
await agent.runAgent(
  { forwardedProps: { iacCode: { schemaVersion: 1, rosInvocationId: "invocation-1", cwd } } },
  { onEvent: ({ event }) => print(event) },
);

function print(line: unknown): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}
