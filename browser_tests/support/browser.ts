/** A real Chromium for the tests: Debian's, or the one that CHROMIUM names. */
import { type Browser, chromium, type Page } from "playwright-core";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a browser; `flags` are added to those that every test needs. */
export async function startBrowser(flags: readonly string[] = []): Promise<Browser> {
  const executablePath = Deno.env.get("CHROMIUM") ?? "/usr/bin/chromium";
  return await chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
}

export interface PageOptions {
  readonly scheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  readonly locale?: string;
}

export interface WatchedPage {
  readonly page: Page;
  /** Uncaught errors, refusals by the policy, and requests to anywhere but `allowed`. */
  readonly complaints: string[];
}

/** A page in a context of its own, at nothing yet. What it should never do is collected. */
export async function openPage(browser: Browser, allowed: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { scheme = "light", width = 1440, height = 900, locale = "en-GB" } = options;
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height },
    locale,
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) complaints.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${allowed}/`) && !url.startsWith("blob:")) complaints.push(`request to ${url}`);
  });
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints };
}
