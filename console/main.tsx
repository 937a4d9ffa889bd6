/** Joins the page's parts: what is kept where, which thread is shown, and when the page is drawn again. */
import { render } from "preact";
import { App } from "./app.tsx";
import { createSession, type Session } from "./session.ts";
import { defaultFields, type Fields, NO_SECRETS, readFields, type Secrets } from "./state/fields.ts";
import { forgetThread, keepThread, readThreads } from "./threads.ts";

const FIELDS_KEY = "iac-code-agui.fields";

/** What the service tells the page in its head. */
function told(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}

/** The service is where the page is, without its last part. */
const serviceUrl = new URL("./", location.href).href;
const defaults = defaultFields(told("workspace"), navigator.languages);
const sessions = new Map<string, Session>();
let fields: Fields = readFields(sessionStorage.getItem(FIELDS_KEY), defaults);
let secrets: Secrets = NO_SECRETS;
let threads = readThreads(localStorage);
let version: string | undefined;
let isDrawing = false;

/** The thread that the address names, so that a reload comes back to it. */
function currentThread(): string {
  const named = new URLSearchParams(location.hash.slice(1)).get("thread") ?? "";
  if (named !== "") return named;
  const fresh = crypto.randomUUID();
  history.replaceState(null, "", addressOf(fresh));
  return fresh;
}

function addressOf(threadId: string): string {
  return `#${new URLSearchParams({ thread: threadId })}`;
}

function openThread(threadId: string): void {
  history.pushState(null, "", addressOf(threadId));
  draw();
}

function sessionOf(threadId: string): Session {
  const known = sessions.get(threadId);
  if (known) return known;
  const session = createSession(threadId, { serviceUrl, settings: () => ({ fields, secrets }), changed });
  sessions.set(threadId, session);
  return session;
}

function changed({ threadId, view }: Session): void {
  if (view.phase === "idle" || !threads.some(({ id }) => id === threadId)) {
    threads = keepThread(localStorage, { id: threadId, waiting: view.interrupts.map(({ id }) => id) });
  }
  drawSoon();
}

/** Draws once a frame, however many events come. */
function drawSoon(): void {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    draw();
  });
}

function setFields(change: Partial<Fields>): void {
  fields = { ...fields, ...change };
  sessionStorage.setItem(FIELDS_KEY, JSON.stringify(fields));
  draw();
}

function draw(): void {
  const root = document.getElementById("page");
  if (!root) return;
  const session = sessionOf(currentThread());
  document.documentElement.lang = fields.language === "zh" ? "zh" : "en";
  render(
    <App
      session={session}
      threads={threads}
      fields={fields}
      secrets={secrets}
      wantsToken={told("token") === "required"}
      version={version}
      onFields={setFields}
      onSecrets={(change) => {
        secrets = { ...secrets, ...change };
        draw();
      }}
      onNewThread={() => openThread(crypto.randomUUID())}
      onOpenThread={openThread}
      onForgetThread={(threadId) => {
        threads = forgetThread(localStorage, threadId);
        draw();
      }}
    />,
    root,
  );
}

async function askVersion(): Promise<void> {
  try {
    const health = await (await fetch("health", { credentials: "omit" })).json() as { serverVersion?: string };
    version = health.serverVersion;
    draw();
  } catch {
    // The first message will tell that the service is not there.
  }
}

addEventListener("popstate", draw);
draw();
void askVersion();
