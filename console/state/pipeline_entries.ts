/** Where a view shows its pipelines: an entry for the steps, and one for the candidates as soon as there are some. Pure. */
import { newPipeline, type Pipeline } from "./pipeline.ts";
import { append, has, type View } from "./view.ts";

/** The view with its newest pipeline changed. */
export function withPipeline(view: View, update: (pipeline: Pipeline) => Pipeline): View {
  const at = view.pipelines.length - 1;
  const pipeline = view.pipelines[at];
  if (pipeline === undefined) return view;
  const next = update(pipeline);
  return next === pipeline ? view : { ...view, pipelines: view.pipelines.with(at, next) };
}

/** The view with one pipeline more. */
export function addPipeline(view: View): View {
  const index = view.pipelines.length;
  const pipelines = [...view.pipelines, newPipeline()];
  return append({ ...view, pipelines }, { kind: "progress", id: `progress-${index}`, pipeline: index });
}

/** The view with a pipeline that a step can belong to: the newest one while it runs, else a new one. */
export function openPipeline(view: View): View {
  const newest = view.pipelines.at(-1);
  if (newest === undefined || newest.status === "done") return addPipeline(view);
  return withPipeline(view, (pipeline) => pipeline.status === "failed" ? { ...pipeline, status: "running" } : pipeline);
}

/** The view with a place for the newest pipeline's candidates, once it has some. */
export function withCandidates(view: View): View {
  const index = view.pipelines.length - 1;
  const id = `candidates-${index}`;
  if ((view.pipelines.at(-1)?.candidates.length ?? 0) === 0 || has(view, "candidates", id)) return view;
  return append(view, { kind: "candidates", id, pipeline: index });
}
