import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { type ConsolePage, openConsole } from "./support/console_page.ts";
import { startConsoleService } from "./support/service.ts";

/** What axe finds on the page as it is, one line each. All of its rules count, best practices too. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate<unknown>(`${axe.source}; 0`);
  const { violations: found } = await page.evaluate<axe.AxeResults>("axe.run()");
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

async function assertAccessible({ page }: ConsolePage): Promise<void> {
  await page.locator(".conversation details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
  assert.deepEqual(await violations(page), []);
}

const SIZES = [["a desktop", 1440], ["a tablet", 1000], ["a phone", 390]] as const;

for (const scheme of ["light", "dark"] as const) {
  for (const [device, width] of SIZES) {
    Deno.test(`axe finds nothing on ${device}, ${scheme}`, async () => {
      await using service = await startConsoleService();
      await using ui = await openConsole(service.url, { scheme, width });
      const { page, form } = ui;
      await assertAccessible(ui);
      await ui.tell("help");
      await ui.tell("think, then use a tool");
      await ui.tell("error");
      await assertAccessible(ui);
      await ui.tell("question");
      await form.getByRole("radio", { name: "Another region" }).check();
      await assertAccessible(ui);
      await form.getByRole("button", { name: "Stop the work" }).click();
      await form.waitFor({ state: "detached" });
      await ui.tell("pipeline");
      await assertAccessible(ui);
      await form.getByLabel("Allow once").first().check();
      await form.getByLabel("Allow once").last().check();
      await page.keyboard.press("Enter");
      await form.getByText("Which solution").waitFor();
      await ui.ended();
      await assertAccessible(ui);
      await form.getByRole("button", { name: "Single ECS" }).click();
      await form.waitFor({ state: "detached" });
      await ui.ended();
      await assertAccessible(ui);
      for (const tab of width > 1180 ? [] : ["Settings", "Events"]) {
        await page.getByRole("button", { name: tab, exact: true }).click();
        await assertAccessible(ui);
      }
      await page.locator(".rows button").last().click();
      await assertAccessible(ui);
    });
  }
}

Deno.test("on a phone nothing is wider than the screen, and every part can be reached", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url, { width: 360, height: 740 });
  const { page, form } = ui;
  await ui.tell("pipeline");
  for (const box of await form.getByLabel("Allow once").all()) await box.check();
  await page.keyboard.press("Enter");
  await form.getByText("Which solution").waitFor();
  const wide = (): Promise<number> => page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(await wide() <= 360);
  const [first, second] = await Promise.all([0, 1].map((at) => page.locator(".candidates > li").nth(at).boundingBox()));
  assert.ok(first && second && first.y < second.y, "one candidate below the other");
  for (const [tab, part] of [["Events", ".events"], ["Settings", ".side"], ["Conversation", ".talk"]] as const) {
    await page.getByRole("button", { name: tab, exact: true }).click();
    await page.locator(part).waitFor();
    assert.ok(await wide() <= 360, tab);
  }
});

Deno.test("a whole story by the keyboard alone", async () => {
  await using service = await startConsoleService();
  await using ui = await openConsole(service.url);
  const { page } = ui;
  /** Presses Tab until the element that matches has the focus. */
  async function tabTo(selector: string): Promise<void> {
    for (let presses = 0; await page.locator(`${selector}:focus`).count() === 0; presses++) {
      assert.ok(presses < 60, `${selector} is not reached`);
      await page.keyboard.press("Tab");
    }
  }
  const writing = page.locator("#message:focus");
  await writing.waitFor();
  await page.keyboard.type("question");
  await page.keyboard.press("Enter");
  await ui.form.waitFor();
  await tabTo("form.asking input[type=radio]");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await ui.form.waitFor({ state: "detached" });
  await ui.ended();
  assert.match(await ui.conversation.locator(".entry.answer").innerText(), /Beijing/);
  await writing.waitFor();
  await page.keyboard.type("a tool, please");
  await page.keyboard.press("Enter");
  await ui.conversation.locator(".entry.tool", { hasText: "list_files" }).waitFor();
  await ui.ended();
  await page.locator(".entry.tool summary").last().focus();
  await page.keyboard.press("Enter");
  await ui.conversation.getByText("main.yml").waitFor();
  await page.locator(".composer button").focus();
  await tabTo(".rows button");
  await page.keyboard.press("Enter");
  await page.locator(".detail pre").waitFor();
});
