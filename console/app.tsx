/** The whole page: settings and threads, the conversation, the events. All state comes in; all changes go out. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { AnswerPanel } from "./parts/answer.tsx";
import { Composer } from "./parts/composer.tsx";
import { Conversation } from "./parts/conversation.tsx";
import { ArrowTip } from "./parts/diagram.tsx";
import { Events } from "./parts/events.tsx";
import { Markdown } from "./parts/markdown.tsx";
import { Settings } from "./parts/settings.tsx";
import { Threads } from "./parts/threads.tsx";
import { WordsContext } from "./parts/words.tsx";
import type { Session } from "./session.ts";
import type { Fields, Secrets } from "./state/fields.ts";
import { type Words, wordsFor } from "./state/words.ts";
import type { KnownThread } from "./threads.ts";

export interface AppProps {
  session: Session;
  threads: readonly KnownThread[];
  fields: Fields;
  secrets: Secrets;
  wantsToken: boolean;
  /** Version of the service, once it is known. */
  version: string | undefined;
  onFields: (change: Partial<Fields>) => void;
  onSecrets: (change: Partial<Secrets>) => void;
  onNewThread: () => void;
  onOpenThread: (threadId: string) => void;
  onForgetThread: (threadId: string) => void;
}

type Tab = "conversation" | "events" | "settings";

const TABS = [
  ["conversation", "showConversation"],
  ["events", "showEvents"],
  ["settings", "showSettings"],
] as const;

/** The page. */
export function App(props: AppProps): VNode {
  const words = wordsFor(props.fields.language);
  const { say } = words;
  const [tab, setTab] = useState<Tab>("conversation");
  const { session, version } = props;
  return (
    <WordsContext.Provider value={words}>
      <div class={`page show-${tab}`}>
        <header>
          <h1>{say("title")}</h1>
          {version !== undefined && <span class="meta">{say("version", { version })}</span>}
          <p class="status" role="status">{statusOf(session, words)}</p>
          <div class="tabs" role="group" aria-label={say("title")}>
            {TABS.map(([name, label]) => (
              <button
                key={name}
                type="button"
                aria-pressed={tab === name}
                onClick={() => setTab(name)}
              >
                {say(label)}
              </button>
            ))}
          </div>
        </header>
        <main>
          <div class="side">
            <Threads
              threads={props.threads}
              current={session.threadId}
              onNew={props.onNewThread}
              onOpen={props.onOpenThread}
              onForget={props.onForgetThread}
            />
            <Settings {...props} />
          </div>
          <Talk key={session.threadId} {...props} words={words} />
          <Events key={`events ${session.threadId}`} log={session.log} threadId={session.threadId} />
        </main>
        <ArrowTip />
      </div>
    </WordsContext.Provider>
  );
}

function statusOf({ view }: Session, { say }: Words): string {
  if (view.phase === "running") return say("working");
  return say(view.interrupts.length > 0 ? "asking" : "idle");
}

function Talk(props: AppProps & { words: Words }): VNode {
  const { session, words: { say }, threads, fields, secrets, wantsToken } = props;
  const { view } = session;
  const waiting = threads.find(({ id }) => id === session.threadId)?.waiting ?? [];
  const isBlank = view.entries.length === 0 && view.interrupts.length === 0;
  const missing = wantsToken && secrets.token === ""
    ? say("tokenNeeded")
    : fields.cwd.trim() === ""
    ? say("cwdNeeded")
    : undefined;
  return (
    <section class="talk" aria-labelledby="talk-title">
      <h2 id="talk-title" class="unseen">{say("conversation")}</h2>
      <Conversation view={view}>
        {isBlank
          ? <Blank {...props} isKnown={threads.some(({ id }) => id === session.threadId)} waiting={waiting} />
          : undefined}
      </Conversation>
      {view.interrupts.length > 0 && (
        <AnswerPanel
          key={view.interrupts.map(({ id }) => id).join(" ")}
          interrupts={view.interrupts}
          busy={view.phase === "running"}
          onAnswer={(answers) => void session.answer(answers)}
          onCancel={() => void session.cancel()}
        />
      )}
      {(view.interrupts.length === 0 || view.phase === "running") && (
        <Composer
          running={view.phase === "running"}
          refused={session.refused}
          missing={missing}
          onSend={(message) => void session.send(message)}
          onStop={() => void session.cancel()}
        />
      )}
    </section>
  );
}

interface BlankProps {
  session: Session;
  words: Words;
  isKnown: boolean;
  waiting: readonly string[];
}

/** What stands in a conversation without entries: an invitation, or a question that was open when the page was left. */
function Blank({ session, words: { say }, isKnown, waiting }: BlankProps): VNode {
  if (!isKnown) {
    return (
      <div class="blank">
        <h2>{say("emptyTitle")}</h2>
        <Markdown text={say("emptyText")} />
      </div>
    );
  }
  if (waiting.length === 0 || session.view.phase === "running") {
    return (
      <div class="blank">
        <p>{say("knownThread")}</p>
      </div>
    );
  }
  return (
    <div class="blank">
      <h2>{say("waitingTitle")}</h2>
      <p>{say("waitingText")}</p>
      <p>
        <button type="button" class="main" onClick={() => void session.pickUp(waiting)}>{say("waitingShow")}</button>
      </p>
    </div>
  );
}
