/** The console on the real kernel, `iac-code a2a` with a scripted model (kernel_tests/support). */
import assert from "node:assert/strict";
import { KERNEL_TOKEN, startKernel } from "../kernel_tests/support/kernel.ts";
import { type ConsolePage, openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

/** A message that makes the model say and do this. */
function script(...turns: object[][]): string {
  return `SCRIPT${JSON.stringify(turns)}END`;
}

async function closed({ form, ended }: ConsolePage): Promise<void> {
  await form.waitFor({ state: "detached" });
  await ended();
}

Deno.test("a conversation with the real kernel: text, a file allowed and one denied, a question, the next turn", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "console-kernel-" }));
  const kernel = await startKernel({ folder });
  try {
    await using service = await startConsoleService({ kernel: { url: kernel.url, token: KERNEL_TOKEN }, folder });
    await using ui = await openConsole(service.url);
    const { page, form, conversation } = ui;
    page.setDefaultTimeout(60_000);
    await ui.tell(script([{ text: "Hello from **the model**." }]));
    assert.equal(await conversation.locator(".entry.text strong").innerText(), "the model");

    const write = (
      path: string,
    ): object[] => [{ text: "I write. " }, { tool: "write_file", args: { path, content: "# hi\n" } }];
    await ui.tell(script(write("a.md"), [{ text: "Written." }]));
    assert.match(await form.innerText(), /write_file[\s\S]*a\.md|a\.md[\s\S]*write_file/);
    await form.getByRole("button", { name: "Allow once" }).click();
    await closed(ui);
    assert.equal(await Deno.readTextFile(`${service.workspace}/a.md`), "# hi\n");
    const artifact = conversation.locator(".entry.artifact");
    assert.match(await artifact.innerText(), /a\.md/);
    await artifact.getByText("Preview").click();
    assert.equal(await artifact.getByRole("heading").innerText(), "hi");
    await conversation.getByText("Written.", { exact: true }).waitFor();

    await ui.tell(script(write("b.md"), [{ text: "Not written." }]));
    await form.getByRole("button", { name: "Deny" }).click();
    await closed(ui);
    await assert.rejects(Deno.stat(`${service.workspace}/b.md`), Deno.errors.NotFound);

    await page.getByRole("button", { name: "New thread" }).click();
    await page.getByLabel("Mode", { exact: true }).selectOption("pipeline");
    await page.getByRole("textbox", { name: "Pipeline" }).fill("selling_solution_first");
    const question = {
      question: "Which region?",
      options: [{ id: "hz", label: "Hangzhou" }, { id: "bj", label: "Beijing" }],
    };
    const done = { tool: "complete_step", args: { conclusion: { status: "rejected", "rejection_reason": "none" } } };
    await ui.tell(`Design. ${script([{ tool: "ask_user_question", args: question }], [done])}`);
    await form.getByText("Which region?").waitFor();
    await page.reload();
    await conversation.getByRole("button", { name: "Show the question" }).click();
    await form.getByRole("radio", { name: "Hangzhou" }).or(form.getByRole("button", { name: "Hangzhou" })).first()
      .click();
    const send = form.getByRole("button", { name: "Send the answer" });
    if (await send.count() > 0) await send.click();
    await closed(ui);
    assert.match(await conversation.locator(".entry.answer").innerText(), /Which region\?[\s\S]*Hangzhou/);
    assert.match(await conversation.locator(".entry.progress").innerText(), /solution planning and selection/);
  } finally {
    await kernel.close();
    await Deno.remove(folder, { recursive: true });
  }
});
