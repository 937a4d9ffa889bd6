/** The part of Mermaid's flowchart language that architecture diagrams use → a graph. Pure. */

export interface Node {
  readonly id: string;
  label: string;
  /** Index of the subgraph that it belongs to. */
  group: number | undefined;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly dashed: boolean;
}

export interface Group {
  readonly title: string;
  readonly parent: number | undefined;
}

export interface Flowchart {
  readonly across: boolean;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly groups: readonly Group[];
}

/** More than this is a picture that nobody can read. */
const MAX_NODES = 60;
const MAX_CHARS = 20_000;

const HEAD = /^(?:flowchart|graph)\s+(TB|TD|BT|LR|RL)\b/i;
const SUBGRAPH = /^subgraph\s+(?:[\w.-]+\s*\[(.+)\]|(.+))$/i;
const IGNORED = /^(%%|classDef\b|class\b|style\b|linkStyle\b|click\b|direction\b)/i;
/** An arrow, with a label in it or behind it. */
const ARROW =
  /^\s*(?:<?(--|==|-\.)\s+(["\w\u0080-\uffff][^>|]*?)\s+)?(<?(?:-{2,}|={2,}|-\.+-)[>xo]?)(?:\s*\|([^|]*)\|)?\s*/;
const NODE = /^([\w\u0080-\uffff][\w.\u0080-\uffff]*(?:-(?![-.>])[\w.\u0080-\uffff]+)*)/;
const SHAPES: readonly (readonly [string, string])[] = [
  ["([", "])"],
  ["[[", "]]"],
  ["[(", ")]"],
  ["((", "))"],
  ["{{", "}}"],
  ["[/", "/]"],
  ["[\\", "\\]"],
  ["[", "]"],
  ["(", ")"],
  ["{", "}"],
  [">", "]"],
];

/** The graph of a diagram's source; undefined when it is another kind of diagram, or one that this cannot read. */
export function parseFlowchart(source: string): Flowchart | undefined {
  if (source.length > MAX_CHARS) return undefined;
  const lines = source.split(/[\n;]/).map((line) => line.trim()).filter((line) =>
    line !== "" && !line.startsWith("%%")
  );
  const direction = HEAD.exec(lines[0] ?? "")?.[1]?.toUpperCase();
  if (direction === undefined) return undefined;
  const nodes = new Map<string, Node>();
  const edges: Edge[] = [];
  const groups: Group[] = [];
  let group: number | undefined;
  for (const line of lines.slice(1)) {
    const opened = SUBGRAPH.exec(line);
    if (opened) {
      groups.push({ title: unquoted(opened[1] ?? opened[2] ?? ""), parent: group });
      group = groups.length - 1;
    } else if (/^end$/i.test(line)) group = group === undefined ? undefined : groups[group]?.parent;
    else if (!IGNORED.test(line) && !readStatement(line, group, nodes, edges)) return undefined;
  }
  if (nodes.size === 0 || nodes.size > MAX_NODES) return undefined;
  return { across: direction === "LR" || direction === "RL", nodes: [...nodes.values()], edges, groups };
}

/** `a & b --> c -->|label| d`: nodes and the edges between them. Whether the whole line was understood. */
function readStatement(line: string, group: number | undefined, nodes: Map<string, Node>, edges: Edge[]): boolean {
  let rest = line;
  let before: string[] | undefined;
  let arrow: { label: string; dashed: boolean } | undefined;
  while (true) {
    const ids: string[] = [];
    while (true) {
      const read = readNode(rest, group, nodes);
      if (!read) return false;
      ids.push(read.id);
      rest = read.rest.trimStart();
      if (!rest.startsWith("&")) break;
      rest = rest.slice(1).trimStart();
    }
    for (const from of before ?? []) for (const to of ids) edges.push({ from, to, label: "", dashed: false, ...arrow });
    if (rest === "") return true;
    const found = ARROW.exec(rest);
    if (!found) return false;
    const [whole, opening = "", inner, shaft = "", outer] = found;
    arrow = { label: unquoted(inner ?? outer ?? ""), dashed: `${opening}${shaft}`.includes(".") };
    before = ids;
    rest = rest.slice(whole.length);
  }
}

function readNode(
  text: string,
  group: number | undefined,
  nodes: Map<string, Node>,
): { id: string; rest: string } | undefined {
  const id = NODE.exec(text)?.[1];
  if (id === undefined) return undefined;
  let rest = text.slice(id.length);
  const known = nodes.get(id);
  const node = known ?? { id, label: id, group };
  // A node belongs to the subgraph that names it, wherever it was named first.
  node.group ??= group;
  const shape = SHAPES.find(([open]) => rest.startsWith(open));
  if (shape) {
    const [open, close] = shape;
    const end = closing(rest, open, close);
    if (end < 0) return undefined;
    node.label = unquoted(rest.slice(open.length, end));
    rest = rest.slice(end + close.length);
  }
  nodes.set(id, node);
  return { id, rest: rest.replace(/^:::\w+/, "") };
}

/** Where a shape closes: behind its quoted label when it has one. */
function closing(text: string, open: string, close: string): number {
  const quote = text.indexOf('"', open.length);
  const isQuoted = quote === open.length;
  const after = isQuoted ? text.indexOf('"', quote + 1) : open.length;
  return after < 0 ? -1 : text.indexOf(close, after);
}

function unquoted(label: string): string {
  return label.trim().replace(/^"(.*)"$/s, "$1").replaceAll(/<br\s*\/?>/gi, "\n").replaceAll("#quot;", '"');
}
