/** A pipeline's candidates: what each is, costs and looks like, gathered from several events. Pure. */
import { integer, isObject, type JsonObject, text } from "../../src/json.ts";

export interface Step {
  readonly name: string;
  readonly status: "pending" | "running" | "paused" | "done" | "failed";
}

export interface Candidate {
  readonly index: number;
  /** Id in the names of its steps, and the run id in the ids of its messages. */
  readonly id: string | undefined;
  readonly runId: string | undefined;
  readonly name: string;
  readonly status: "working" | "done" | "failed" | "interrupted";
  readonly selected: boolean;
  readonly steps: readonly Step[];
  readonly summary: string | undefined;
  readonly tradeoff: string | undefined;
  readonly cost: string | undefined;
  readonly costItems: readonly { readonly name: string; readonly spec: string; readonly cost: string }[];
  readonly diagrams: readonly { readonly title: string; readonly source: string }[];
  readonly template: string | undefined;
}

/** The candidates after a pipeline event; the same array when it is about none of them. */
export function followCandidates(
  candidates: readonly Candidate[],
  type: string,
  envelope: JsonObject,
): readonly Candidate[] {
  const data = isObject(envelope.data) ? envelope.data : {};
  const named = isObject(envelope.candidate) ? envelope.candidate : {};
  const index = integer(named.index) ?? integer(data.candidateIndex) ?? integer(data.selectedIndex) ??
    integer(data["selected_candidate_index"]);
  if (index === undefined) return candidates;
  const identity = {
    ...(text(named.id) && { id: text(named.id) }),
    ...(text(named.runId) && { runId: text(named.runId) }),
    ...(text(named.name ?? data.candidateName) && { name: String(named.name ?? data.candidateName) }),
  };
  const news = newsOf(type, data);
  if (news === undefined) return candidates;
  if (type === "candidate_selected") candidates = candidates.map((other) => ({ ...other, selected: false }));
  return update(candidates, index, { ...identity, ...news });
}

function newsOf(type: string, data: JsonObject): Partial<Candidate> | undefined {
  switch (type) {
    case "candidate_started":
      return { status: "working" };
    case "candidate_completed":
      return { status: data.failed === true ? "failed" : "done", ...conclusionsOf(data.conclusions) };
    case "candidate_failed":
      return { status: "failed" };
    case "candidate_interrupted":
      return { status: "interrupted" };
    case "candidate_restart_requested":
      return { status: "working", steps: [] };
    case "candidate_selected":
      return { selected: true };
    case "candidate_detail_shown":
      return detailOf(data);
    case "diagram_shown":
      return diagramOf(data);
  }
}

/** The candidates with one of them changed, or added in its place. */
export function update(
  candidates: readonly Candidate[],
  index: number,
  news: Partial<Candidate>,
): readonly Candidate[] {
  const known = candidates.find((candidate) => candidate.index === index);
  const { name = "", ...rest } = news;
  const candidate = { ...(known ?? blank(index)), ...rest, ...(name !== "" && { name }) };
  return [...candidates.filter((other) => other !== known), candidate].sort((a, b) => a.index - b.index);
}

function blank(index: number): Candidate {
  return {
    index,
    id: undefined,
    runId: undefined,
    name: `${index + 1}`,
    status: "working",
    selected: false,
    steps: [],
    summary: undefined,
    tradeoff: undefined,
    cost: undefined,
    costItems: [],
    diagrams: [],
    template: undefined,
  };
}

function detailOf(data: JsonObject): Partial<Candidate> {
  const detail = isObject(data.detail) ? data.detail : data;
  const items = Array.isArray(detail.costItems) ? detail.costItems.filter(isObject) : [];
  return {
    ...given("name", detail.candidateName),
    ...given("summary", detail.summary),
    ...given("tradeoff", detail.keyTradeoff ?? data.keyTradeoff),
    ...given("cost", detail.totalMonthlyCost),
    ...(items.length > 0 && {
      costItems: items.map((item) => ({
        name: shown(item.name) ?? "",
        spec: shown(item.spec) ?? "",
        cost: shown(item["monthly_cost"] ?? item.monthlyCost ?? item.cost) ?? "",
      })),
    }),
  };
}

function diagramOf(data: JsonObject): Partial<Candidate> {
  const views = Array.isArray(data.views) ? data.views.filter(isObject) : [];
  const drawn = views.flatMap((view) => {
    const source = text(view["mermaid_source"]) ?? text(view.mermaidSource);
    return source === undefined ? [] : [{ title: text(view.title) ?? "", source }];
  });
  const whole = text(data.mermaidSource);
  const diagrams = drawn.length > 0 || whole === undefined ? drawn : [{ title: "", source: whole }];
  return { ...(diagrams.length > 0 && { diagrams }), ...given("template", data.templateContent) };
}

/** A completed candidate says its cost and template once more, or only then. */
function conclusionsOf(conclusions: unknown): Partial<Candidate> {
  if (!isObject(conclusions)) return {};
  const cost = isObject(conclusions.cost) ? conclusions.cost : {};
  const template = isObject(conclusions.template) ? conclusions.template : {};
  return {
    ...given("cost", cost["monthly_estimate"]),
    ...given("summary", template.description),
    ...given("template", template.template),
  };
}

/** A field for the candidate when the event says something of it. */
function given(field: "name" | "summary" | "tradeoff" | "cost" | "template", value: unknown): Partial<Candidate> {
  const found = shown(value);
  return found === undefined ? {} : { [field]: found };
}

/** A value as text; undefined when it says nothing. */
export function shown(value: unknown): string | undefined {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : text(value);
}
