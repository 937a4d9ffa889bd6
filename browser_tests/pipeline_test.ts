import assert from "node:assert/strict";
import { type ConsolePage, openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

/** The steps of the pipeline's line with their states. */
async function line({ conversation }: ConsolePage): Promise<string[]> {
  return await conversation.locator(".entry.progress .steps li").evaluateAll((steps) =>
    steps.map((step) => (step.textContent ?? "").replace(/^\W+/, ""))
  );
}

Deno.test("two at once, then the candidates side by side, a selection, a deployment", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page, form, conversation } = ui;
  await page.getByLabel("Mode", { exact: true }).selectOption("pipeline");
  const [request] = await Promise.all([
    page.waitForRequest((sent) => sent.method() === "POST"),
    ui.tell("pipeline"),
  ]);
  const { iacCode } = request.postDataJSON().forwardedProps;
  assert.deepEqual([iacCode.runMode, iacCode.pipelineName, iacCode.candidatePresentation], [
    "pipeline",
    "selling",
    "rich",
  ]);

  assert.equal(await form.getByRole("heading").innerText(), "The agent asks 2 questions");
  assert.deepEqual((await line(ui)).slice(2, 4), ["evaluate candidates: waits", "confirm and select: not begun"]);
  await form.getByLabel("Allow once").first().check();
  await form.getByRole("button", { name: "Send the answers" }).click();
  assert.match(await form.getByRole("alert").innerText(), /missing/);
  await form.getByLabel("Allow once").last().check();
  await page.keyboard.press("Enter");

  await form.getByText("Which solution shall be deployed?").waitFor();
  assert.match(
    await conversation.locator(".entry.answer").innerText(),
    /single-ecs\.yml\s+Allow once[\s\S]*slb-two-ecs\.yml\s+Allow once/,
  );
  const cards = conversation.locator(".candidates > li");
  assert.equal(await cards.count(), 2);
  assert.match(
    await cards.first().innerText(),
    /Single ECS[\s\S]*¥96\/month[\s\S]*Trade-off[\s\S]*EIP\s+1 Mbit\/s\s+¥24/,
  );
  const boxes = await Promise.all([0, 1].map((at) => cards.nth(at).boundingBox()));
  assert.ok(boxes[0] && boxes[1] && boxes[0].y === boxes[1].y && boxes[0].x < boxes[1].x, "side by side");
  assert.deepEqual(await cards.last().locator("svg .node").allTextContents(), [
    "Visitors",
    "SLB",
    "ECS, zone A",
    "ECS, zone B",
  ]);
  assert.equal(await cards.last().locator("svg .edge").count(), 3);
  await cards.first().getByText("Template", { exact: true }).click();
  assert.match(await cards.first().locator("pre").last().innerText(), /ROSTemplateFormatVersion/);

  await form.getByRole("button", { name: "SLB + 2 ECS" }).click();
  await form.waitFor({ state: "detached" });
  await ui.ended();
  const stack = conversation.locator(".entry.stack");
  assert.match(await stack.innerText(), /demo-web-site[\s\S]*CREATE_COMPLETE[\s\S]*100 %/);
  assert.deepEqual(await line(ui), [
    "intent parsing: done",
    "architecture planning: done",
    "evaluate candidates: done",
    "confirm and select: done",
    "deploying: done",
  ]);
  await ui.tell("hello");
});

Deno.test("one allowed, one denied: each candidate has its own answer", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("pipeline");
  const questions = ui.form.locator("fieldset");
  await questions.filter({ hasText: "single-ecs.yml" }).getByLabel("Allow once").check();
  await questions.filter({ hasText: "slb-two-ecs.yml" }).getByLabel("Deny").check();
  await ui.page.keyboard.press("Enter");
  await ui.form.getByText("Which solution shall be deployed?").waitFor();
  await ui.conversation.getByText("single-ecs.yml is written.").waitFor();
  await ui.conversation.getByText("Then I keep slb-two-ecs.yml to myself.").waitFor();
});

Deno.test("a reload between the pipeline's questions brings steps and candidates back with the answer", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  await ui.tell("pipeline");
  await ui.page.reload();
  await ui.conversation.getByRole("button", { name: "Show the question" }).click();
  await ui.form.getByLabel("Allow once").first().check();
  await ui.form.getByLabel("Allow once").last().check();
  await ui.page.keyboard.press("Enter");
  await ui.form.getByText("Which solution shall be deployed?").waitFor();
  assert.equal(await ui.conversation.locator(".candidates > li svg").count(), 2);
  assert.deepEqual((await line(ui)).slice(0, 3), [
    "intent parsing: done",
    "architecture planning: done",
    "evaluate candidates: done",
  ]);
});
