/** A pipeline's steps as one line. */
import type { VNode } from "preact";
import type { Step } from "../state/candidate.ts";
import type { Pipeline } from "../state/pipeline.ts";
import type { WordKey } from "../state/words_en.ts";
import { useWords } from "./words.tsx";

const STATUS: Readonly<Record<Step["status"], WordKey>> = {
  pending: "stepPending",
  running: "stepRunning",
  paused: "stepPaused",
  done: "stepDone",
  failed: "stepFailed",
};
const MARK: Readonly<Record<Step["status"], string>> = {
  pending: "○",
  running: "●",
  paused: "…",
  done: "✓",
  failed: "✕",
};

/** The line of a pipeline. */
export function Progress({ pipeline }: { pipeline: Pipeline }): VNode {
  const { say } = useWords();
  return (
    <section class={pipeline.status} aria-label={`${say("pipeline")} ${pipeline.name}`}>
      <p class="head">
        <span class="label">{say("pipeline")}</span> <strong class="name">{pipeline.name}</strong>
      </p>
      <Steps steps={pipeline.steps} />
    </section>
  );
}

/** Steps with their marks. */
export function Steps({ steps }: { steps: readonly Step[] }): VNode {
  const { say } = useWords();
  return (
    <ol class="steps">
      {steps.map(({ name, status }) => (
        <li key={name} class={status} aria-current={status === "running" ? "step" : undefined}>
          <span class="mark" aria-hidden="true">{MARK[status]}</span>
          {name.replaceAll("_", " ")}
          <span class="unseen">: {say(STATUS[status])}</span>
        </li>
      ))}
    </ol>
  );
}
