/** The console in a real browser, driven as a person does: by what is written on it and by the keyboard. */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { openPage, type PageOptions, startBrowser } from "./browser.ts";

export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** What the page should never do: see WatchedPage. */
  readonly complaints: readonly string[];
  readonly conversation: Locator;
  readonly form: Locator;
  readonly message: Locator;
  readonly status: Locator;
  /** What has the focus of the keyboard. */
  readonly focused: Locator;
  /** Writes a message and sends it with Enter. */
  say(message: string): Promise<void>;
  /** Waits until the run that was begun has ended, in whatever way. */
  ended(): Promise<void>;
  /** Writes a message and waits for the end of its run. */
  tell(message: string): Promise<void>;
  /** Types in the list of events, in the order of the rows in sight. */
  eventCount(type: string): Promise<number>;
}

/** Opens the console of a service in a browser of its own. */
export async function openConsole(url: string, options: PageOptions = {}): Promise<ConsolePage> {
  const browser = await startBrowser();
  const { page, complaints } = await openPage(browser, url, options);
  page.setDefaultTimeout(15_000);
  await page.goto(`${url}/console`);
  const message = page.locator("#message");
  const conversation = page.locator(".conversation");
  const form = page.locator("form.asking");
  let isReported = false;
  function assertClean(): void {
    if (isReported || complaints.length === 0) return;
    isReported = true;
    assert.deepEqual(complaints, []);
  }
  async function ended(): Promise<void> {
    await page.locator('.conversation[aria-busy="false"]').waitFor();
    assertClean();
  }
  async function say(text: string): Promise<void> {
    await message.fill(text);
    await message.press("Enter");
  }
  return {
    page,
    complaints,
    conversation,
    form,
    message,
    status: page.getByRole("status"),
    focused: page.locator(":focus"),
    say,
    ended,
    async tell(text) {
      // The mark of a run's end has to be a new one.
      const marks = conversation.locator(".entry.end, .entry.error");
      const before = await marks.count();
      await say(text);
      await marks.nth(before).waitFor();
      await ended();
    },
    async eventCount(type) {
      const names = await page.locator(".events select option").allTextContents();
      const found = names.find((name) => name.startsWith(`${type} (`));
      return Number(/\((\d+)\)$/.exec(found ?? "")?.[1] ?? 0);
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      assertClean();
    },
  };
}
