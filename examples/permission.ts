/**
 * A turn that asks for permission, and its answer. usage: deno run -A examples/permission.ts URL CWD MESSAGE [deny]
 * On the demo kernel the message "permission" asks for one.
 */
import { HttpAgent } from "@ag-ui/client";

const [url = "http://127.0.0.1:8000/", cwd = Deno.cwd(), content = "permission", decision = "allow_once"] = Deno.args;
const forwardedProps = { iacCode: { schemaVersion: 1, rosInvocationId: "invocation-1", cwd } };
const agent = new HttpAgent({ url, threadId: crypto.randomUUID() });

agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
await agent.runAgent({ forwardedProps });
while (agent.pendingInterrupts.length > 0) {
  for (const { message, metadata } of agent.pendingInterrupts) print({ message, summary: metadata?.safeSummary });
  const resume = agent.pendingInterrupts.map(({ id }) => ({
    interruptId: id,
    status: "resolved" as const,
    payload: { decision },
  }));
  await agent.runAgent({ forwardedProps, resume });
}
for (const message of agent.messages) print(message);

function print(line: unknown): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}
