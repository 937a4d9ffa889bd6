/**
 * Takes the place of the command `iac-code`: the demo kernel, started as the service starts a real one. It tells how it was
 * started, and STAND_IN makes it misbehave: `dies`, `silent` (never answers), `stubborn` (does not end when asked).
 */
import { parseArgs } from "node:util";
import { startDemoKernel } from "../../demo/kernel.ts";

const say = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(text));
const { values } = parseArgs({
  args: Deno.args,
  options: {
    host: { type: "string" },
    port: { type: "string" },
    "thinking-exposure": { type: "string", multiple: true },
  },
  allowPositionals: true,
});
const roots = Deno.env.get("IACCODE_A2A_ALLOWED_CWDS");
const foreign = [Deno.env.get("IAC_CODE_AGUI_AUTH_TOKEN"), Deno.env.get("IAC_CODE_AGUI_A2A_TOKEN")];
say(`started ${JSON.stringify({ pid: Deno.pid, args: Deno.args })}\nfound ${JSON.stringify({ roots, foreign })}\n`);

switch (Deno.env.get("STAND_IN")) {
  case "dies":
    say("no model is configured\n");
    Deno.exit(3);
    break;
  case "silent":
    setInterval(() => undefined, 1_000);
    break;
  case "stubborn":
    Deno.addSignalListener("SIGTERM", () => say("I stay\n"));
    serve();
    break;
  default:
    serve();
}

function serve(): void {
  startDemoKernel({ port: Number(values.port), token: Deno.env.get("IACCODE_A2A_HTTP_TOKEN") ?? "", pace: 0 });
}
