/** The `markup` story: HTML and script wherever a string can stand. A page that shows one of them as markup has a hole. */
import type { JsonObject } from "../src/json.ts";
import { randomHex, toolCall } from "./frames.ts";
import { tellQuestion } from "./question_story.ts";
import { DENIED, type Turn } from "./turn.ts";

/** A text that runs a script when a page takes it for HTML; `where` says which string it came from. */
export function hostile(where: string): string {
  const mark = `xss-${where}`;
  return `<b>${where}</b><img src=x onerror="globalThis.hit='${mark}'"><script>globalThis.hit='${mark}'</script>` +
    `"'\`<svg onload=alert(1)> [link](javascript:alert(1)) </textarea></script>`;
}

/** Speaks, thinks, uses a tool, makes an artifact, asks for a permission, then asks a question; all in markup. */
export async function tellMarkup(turn: Turn): Promise<void> {
  await turn.think(`${hostile("thinking")} `);
  await turn.say(`${hostile("text")}\n\n\`\`\`html\n${hostile("code")}\n\`\`\`\n`);
  const call = {
    ...toolCall(hostile("tool-name"), { [hostile("tool-key")]: hostile("tool-argument") }),
    id: `call_${randomHex(8)}`,
  };
  await turn.call(call);
  const allowed = await turn.permission(call, hostile("target"), display());
  if (allowed) {
    const artifact = await turn.artifact(`${hostile("artifact")}.html`, hostile("artifact-content"));
    await turn.result(call, hostile("tool-result"), { artifact });
  } else {
    await turn.result(call, `${DENIED} ${hostile("tool-denied")}`, { failed: true });
  }
  await tellQuestion(turn, {
    question: hostile("question"),
    options: [
      { id: hostile("option-id"), label: hostile("option-label"), summary: hostile("option-summary") },
      { id: "plain", label: "Plain", summary: "No markup" },
    ],
    freeTextPrompt: hostile("free-text-prompt"),
  });
}

function display(): JsonObject {
  return {
    title: hostile("title"),
    prompt: hostile("prompt"),
    purpose: hostile("purpose"),
    effect: hostile("effect"),
    safeSummary: hostile("summary"),
    options: [{ id: "allow_once", label: hostile("allow") }, { id: "deny", label: hostile("deny") }],
  };
}
