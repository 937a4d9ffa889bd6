/** The conversation: every entry drawn once and again only when it changes, kept at its end while the user reads there. */
import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Pipeline } from "../state/pipeline.ts";
import type { Entry, View } from "../state/view.ts";
import { ArtifactCard } from "./artifact.tsx";
import { Candidates } from "./candidates.tsx";
import { Markdown } from "./markdown.tsx";
import { AnswerRecord, ErrorCard, Notice, RunEnd, Stack } from "./news.tsx";
import { Progress } from "./progress.tsx";
import { ToolCard } from "./tool.tsx";
import { useWords } from "./words.tsx";

/** Nearer to the end than this, in pixels, counts as reading at the end. */
const NEAR = 80;

/** The entries of a view. */
export function Conversation({ view, children }: { view: View; children?: VNode | undefined }): VNode {
  const { say } = useWords();
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  });
  function remember({ currentTarget }: { currentTarget: HTMLDivElement }): void {
    isAtEnd.current = currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < NEAR;
  }
  return (
    <div
      class="conversation"
      ref={scroller}
      onScroll={remember}
      tabIndex={0}
      role="log"
      aria-busy={view.phase === "running"}
      aria-label={say("conversation")}
    >
      <ol class="entries">
        {view.entries.map((entry) => (
          <Item key={`${entry.kind} ${entry.id}`} entry={entry} pipeline={pipelineOf(view, entry)} />
        ))}
      </ol>
      {children}
    </div>
  );
}

function pipelineOf({ pipelines }: View, entry: Entry): Pipeline | undefined {
  return "pipeline" in entry ? pipelines[entry.pipeline] : undefined;
}

function Item({ entry, pipeline }: { entry: Entry; pipeline: Pipeline | undefined }): VNode {
  const words = useWords();
  // The same element as before tells preact that nothing changed.
  return useMemo(() => <li class={`entry ${entry.kind}`}>{draw(entry, pipeline)}</li>, [entry, pipeline, words]);
}

function draw(entry: Entry, pipeline: Pipeline | undefined): VNode | undefined {
  switch (entry.kind) {
    case "user":
      return <UserMessage text={entry.text} />;
    case "text":
      return <AgentMessage text={entry.text} lane={entry.lane} open={entry.open} />;
    case "reasoning":
      return <Reasoning text={entry.text} lane={entry.lane} open={entry.open} />;
    case "tool":
      return <ToolCard tool={entry} />;
    case "artifact":
      return <ArtifactCard artifact={entry.artifact} />;
    case "progress":
      return pipeline && <Progress pipeline={pipeline} />;
    case "candidates":
      return pipeline && <Candidates candidates={pipeline.candidates} />;
    case "notice":
      return <Notice notice={entry} />;
    case "stack":
      return <Stack stack={entry} />;
    case "answer":
      return <AnswerRecord answers={entry.answers} />;
    case "end":
      return <RunEnd end={entry} />;
    case "error":
      return <ErrorCard error={entry} />;
  }
}

function UserMessage({ text }: { text: string }): VNode {
  const { say } = useWords();
  return (
    <>
      <span class="who">{say("you")}</span>
      <p class="said">{text}</p>
    </>
  );
}

interface Spoken {
  text: string;
  lane: string | undefined;
  open: boolean;
}

function AgentMessage({ text, lane, open }: Spoken): VNode {
  const { say } = useWords();
  return (
    <>
      <span class="who">{say("agent")}{lane !== undefined && <span class="lane">{lane}</span>}</span>
      <div class={open ? "said open" : "said"}>
        <Markdown text={text} />
      </div>
    </>
  );
}

function Reasoning({ text, lane, open }: Spoken): VNode {
  const { say } = useWords();
  return (
    <details>
      <summary>
        {say("reasoning")}
        {open && "…"}
        {lane !== undefined && <span class="lane">{lane}</span>}
      </summary>
      <div class="said">
        <Markdown text={text} />
      </div>
    </details>
  );
}
