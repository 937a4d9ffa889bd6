/** An architecture diagram, drawn from its source as SVG elements; a source that cannot be read is shown as it is. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { parseFlowchart } from "../state/flowchart.ts";
import { type Layout, layOut } from "../state/flowchart_layout.ts";
import { useWords } from "./words.tsx";

const LINE = 17;

/** The diagram of a Mermaid source. */
export function Diagram({ source, title }: { source: string; title: string }): VNode {
  const { say } = useWords();
  const layout = useMemo(() => {
    const chart = parseFlowchart(source);
    return chart && layOut(chart);
  }, [source]);
  return (
    <figure class="diagram">
      {layout && (
        <div class="scroll" tabIndex={0}>
          <Drawing layout={layout} title={title} />
        </div>
      )}
      <figcaption>{title}</figcaption>
      <details open={layout === undefined}>
        <summary>{say("diagramSource")}</summary>
        <pre tabIndex={0}>{source}</pre>
      </details>
    </figure>
  );
}

function Drawing({ layout: { width, height, nodes, groups, edges }, title }: { layout: Layout; title: string }): VNode {
  return (
    <svg role="img" aria-label={title} viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
      {groups.map(({ x, y, width, height, title }) => (
        <g class="group">
          <rect x={x} y={y} width={width} height={height} rx="8" />
          <text x={x + 10} y={y + LINE}>{title}</text>
        </g>
      ))}
      {edges.map(({ path, dashed }) => (
        <path
          key={path}
          class={dashed ? "edge dashed" : "edge"}
          d={path}
          marker-end="url(#tip)"
        />
      ))}
      {nodes.map(({ id, x, y, width, height, lines }) => (
        <g key={id} class="node">
          <rect x={x} y={y} width={width} height={height} rx="7" />
          {lines.map((line, at) => (
            <text
              key={at}
              x={x + width / 2}
              y={y + height / 2 + (at - (lines.length - 1) / 2) * LINE + 5}
              text-anchor="middle"
            >
              {line}
            </text>
          ))}
        </g>
      ))}
      {edges.filter(({ label }) => label !== "").map(({ label, at }) => (
        <text key={`${label} ${at.x}`} class="edge-label" x={at.x} y={at.y + 4} text-anchor="middle">{label}</text>
      ))}
    </svg>
  );
}

/** The tip of every arrow; to be put once into the page. */
export function ArrowTip(): VNode {
  return (
    <svg class="unseen" aria-hidden="true">
      <defs>
        <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0,0L8,4L0,8z" class="tip" />
        </marker>
      </defs>
    </svg>
  );
}
