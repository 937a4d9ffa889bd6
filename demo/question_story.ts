/** The `question` story: a pipeline asks the user where to build. */
import { openPipeline } from "./pipeline.ts";
import type { Turn } from "./turn.ts";

const NAME = "selling_solution_first";
const STEP = "solution_planning_and_selection";
const OPTIONS = [
  { id: "hz", label: "Hangzhou", summary: "cn-hangzhou" },
  { id: "bj", label: "Beijing", summary: "cn-beijing" },
];

/** What a question says; the `markup` story says it in its own way. */
export interface QuestionWords {
  readonly question: string;
  readonly options: readonly { readonly id: string; readonly label: string; readonly summary: string }[];
  readonly freeTextPrompt: string;
}

const WORDS: QuestionWords = {
  question: "In which region shall the web site live?",
  options: OPTIONS,
  freeTextPrompt: "Another region",
};

/** Asks, and repeats the answer. */
export async function tellQuestion(turn: Turn, { question, options, freeTextPrompt } = WORDS): Promise<void> {
  const pipeline = openPipeline(turn, NAME, [STEP, "materialize_selected_candidate", "deploying"]);
  const place = pipeline.startStep(STEP, "normal", "candidate_selection");
  await pipeline.think(place, "The region is missing. ");
  await pipeline.say(place, "One thing I have to know. ");
  const call = await pipeline.startTool(place, "ask_user_question", { question, options: [...options] });
  const about = {
    kind: "ask_user_question",
    inputId: `ask-${call.id}`,
    toolUseId: call.id,
    prompt: question,
    options: [...options],
    allowFreeText: true,
  };
  const data = { ...about, question, freeTextPrompt };
  const answer = await pipeline.ask(place, { ...about, freeTextPrompt }, data, { input: { ...data, required: true } });
  const chosen = options.find(({ id, label }) => [id, label].includes(answer.trim()));
  pipeline.emit("input_received", place, {
    ...data,
    selectedId: chosen?.id ?? "",
    selectedLabel: chosen?.label ?? "",
    freeText: chosen ? "" : answer,
    answerTextLength: answer.length,
    freeTextLength: chosen ? 0 : answer.length,
  });
  await pipeline.say(place, chosen ? `${chosen.label}, a fine place. ` : `You wrote: ${answer} `);
  await pipeline.conclude(place, "solution_selection", {
    status: "rejected",
    "rejection_reason": "The demo ends here.",
  });
  pipeline.complete({ earlyExit: true });
}
