/** A pipeline's candidates side by side: what each is, what it costs, how it looks. */
import type { VNode } from "preact";
import type { Candidate } from "../state/candidate.ts";
import type { WordKey } from "../state/words_en.ts";
import { Diagram } from "./diagram.tsx";
import { Steps } from "./progress.tsx";
import { useWords } from "./words.tsx";

const STATUS: Readonly<Record<Candidate["status"], WordKey>> = {
  working: "candidateWorking",
  done: "candidateDone",
  failed: "candidateFailed",
  interrupted: "candidateInterrupted",
};

/** The cards of the candidates. */
export function Candidates({ candidates }: { candidates: readonly Candidate[] }): VNode {
  const { say } = useWords();
  return (
    <section aria-label={say("candidates")}>
      <ul class="candidates">
        {candidates.map((candidate) => (
          <li key={candidate.index} class={candidate.selected ? "selected" : undefined}>
            <Card candidate={candidate} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Card({ candidate }: { candidate: Candidate }): VNode {
  const { say } = useWords();
  const { name, status, selected, steps, summary, tradeoff, cost, diagrams, template } = candidate;
  return (
    <>
      <h3>
        {name}
        <span class={`state ${status}`}>{say(selected ? "candidateSelected" : STATUS[status])}</span>
      </h3>
      {cost !== undefined && (
        <p class="cost">
          <span class="unseen">{say("candidateCost")}:</span> {cost}
        </p>
      )}
      {summary !== undefined && <p>{summary}</p>}
      {tradeoff !== undefined && <p class="meta">{say("candidateTradeoff")}: {tradeoff}</p>}
      {steps.length > 0 && <Steps steps={steps} />}
      <Costs candidate={candidate} />
      {diagrams.map(({ title, source }) => (
        <Diagram key={source} source={source} title={title || say("diagram", { name })} />
      ))}
      {template !== undefined && (
        <details>
          <summary>{say("candidateTemplate")}</summary>
          <pre tabIndex={0}>{template}</pre>
        </details>
      )}
    </>
  );
}

function Costs({ candidate: { costItems } }: { candidate: Candidate }): VNode | null {
  const { say } = useWords();
  if (costItems.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{say("candidateItem")}</th>
            <th scope="col">{say("candidateSpec")}</th>
            <th scope="col">{say("candidateCost")}</th>
          </tr>
        </thead>
        <tbody>
          {costItems.map(({ name, spec, cost }) => (
            <tr key={`${name} ${spec}`}>
              <td>{name}</td>
              <td>{spec}</td>
              <td>{cost}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
