/** The stories of the `selling` pipeline: two candidates side by side, each asks a permission, then one is chosen. */
import assert from "node:assert/strict";
import { filesIn } from "./lab.ts";
import { CANCELLED, choose, type Person, type Status, type Turn } from "./person.ts";
import { forget, goOn, pipelineEvents, type Story } from "./stories.ts";

export const CANDIDATES_FIELDS = { runMode: "pipeline", pipelineName: "selling" };
const DENIED = "result The user explicitly denied this tool operation";

/** The file that each open permission is about, in the order in which they are open. */
export function targets(person: Person): string[] {
  return person.open.map(({ metadata }) => String(metadata?.target));
}

function selling(title: string, answers: readonly [Status, Status], fields = {}): Story {
  let files: string[] = [];
  return {
    title,
    fields: { ...CANDIDATES_FIELDS, ...fields },
    async begin(person) {
      const asked = await untilBothAsk(person);
      files = targets(person);
      return asked;
    },
    async finish(person) {
      const turn = await person.answer(({ metadata }) => metadata?.target === files[0] ? answers[0] : answers[1]);
      assert.equal(turn.end, "interrupt", turn.message);
      assertSelectionAsked(person);
      const written = files.filter((_, at) => answers[at]?.status === "resolved" && isAllowed(answers[at]));
      assert.deepEqual(await filesIn(person.workspace), written.toSorted());
      assertCandidates(person, files, written);
      await chooseAndGoOn(person);
    },
  };
}

/**
 * Until both candidates have asked. On a busy machine one may be so late that it missed the first interrupt: then an answer
 * is not sent, but announced again together with the other's question.
 */
export async function untilBothAsk(person: Person): Promise<Turn> {
  const turn = await person.say("Design a web site.");
  assert.equal(turn.end, "interrupt", turn.message);
  if (person.open.length === 2) return turn;
  const both = await person.answer(ALLOWS);
  assert.equal(both.end, "interrupt", both.message);
  assert.equal(person.open.length, 2);
  return turn;
}

function isAllowed(answer: Status): boolean {
  return answer.status === "resolved" && answer.payload.decision === "allow_once";
}

function assertSelectionAsked(person: Person): void {
  assert.deepEqual(person.open.map(({ metadata }) => metadata?.kind), ["candidate_selection"]);
}

/** Each call has its one result, and what was said stands in its order; the candidates' parts may come in any. */
function assertCandidates(person: Person, files: readonly string[], written: readonly string[]): void {
  const history = person.history().map((line) => line.replace(/^(call complete_step) .*/, "$1"));
  const step = (
    name: string,
  ): string[] => ["agent Working on it.", "call complete_step", `result Step ${name} completed.`];
  const shortened = history.map((line) =>
    line.replace(/^(result Step .* completed\.).*/, "$1").slice(0, DENIED.length)
  );
  const cut = (lines: readonly string[]): string[] => lines.map((line) => line.slice(0, DENIED.length));
  const opening = cut(["user Design a web site.", ...step("Intent parsing"), ...step("Architecture planning")]);
  const ending = cut(step("Confirm and select"));
  assert.deepEqual(shortened.slice(0, opening.length), opening);
  assert.deepEqual(shortened.slice(-ending.length), ending);
  const candidates = files.flatMap((file) => [
    "agent Writing.",
    `call write_file {"content":"a: 1","path":"${file}"}`,
    written.includes(file) ? `result Successfully wrote 1 lines to ~/${file}` : DENIED,
    ...step("Template generation"),
    ...step("Cost estimation"),
  ]);
  assert.deepEqual(shortened.slice(opening.length, -ending.length).toSorted(), cut(candidates).toSorted());
}

/** The deployment cannot succeed here, since there is no cloud: the pipeline ends with that reason, and the thread goes on. */
async function chooseAndGoOn(person: Person): Promise<void> {
  const turn = await person.answer(choose("0"));
  assert.equal(turn.end, "A2A_EXECUTION_FAILED");
  assert.match(turn.message, /CREATE_COMPLETE/);
  assert.deepEqual(pipelineEvents(turn), ["step_failed"]);
  const steps = turn.events.flatMap(({ type, stepName }) => type === "STEP_STARTED" ? [stepName] : []);
  assert.deepEqual(steps, ["confirm_and_select", "deploying"]);
  await forget(person);
  await goOn(person);
}

const ALLOWS = { status: "resolved", payload: { decision: "allow_once" } } as const;
const DENIES = { status: "resolved", payload: { decision: "deny" } } as const;

/**
 * What is left of the candidates' permissions when the kernel was started again: it knows them no more. The answer is told
 * so, giving up frees the thread, and the pipeline goes on with the next message.
 */
export const LOST: Story = {
  title: "candidates' permissions that the kernel has lost are told so, and the pipeline can go on",
  fields: CANDIDATES_FIELDS,
  begin: untilBothAsk,
  async finish(person) {
    for (let tries = 0; tries < 2; tries++) {
      const turn = await person.answer(ALLOWS);
      assert.equal(turn.end, "EXECUTION_LOST", turn.message);
    }
    assert.deepEqual(await filesIn(person.workspace), []);
    await forget(person);
    const turn = await person.say("Continue.");
    assert.equal(turn.end, "interrupt", turn.message);
    assertSelectionAsked(person);
    await chooseAndGoOn(person);
  },
};

/** Stories that begin at the candidates' permissions; the kernel cannot tell them on after its own restart. */
export const CANDIDATES: readonly Story[] = [
  selling("both candidates are allowed, and one is chosen, presented richly", [ALLOWS, ALLOWS], {
    candidatePresentation: "rich",
  }),
  selling("both candidates are denied", [DENIES, DENIES]),
  selling("one candidate is allowed and one is denied", [ALLOWS, DENIES]),
  selling("one candidate is allowed and one is cancelled", [ALLOWS, CANCELLED]),
];

/** A story that begins at the choice. */
export const SELECTION: Story = {
  title: "one of two candidates is chosen",
  fields: CANDIDATES_FIELDS,
  async begin(person): Promise<Turn> {
    await untilBothAsk(person);
    const turn = await person.answer(ALLOWS);
    assert.equal(turn.end, "interrupt", turn.message);
    assertSelectionAsked(person);
    return turn;
  },
  finish: chooseAndGoOn,
};
