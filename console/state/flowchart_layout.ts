/** Places a flowchart's nodes in layers along its direction. Simple, and good enough for a dozen boxes. Pure. */
import type { Flowchart, Node } from "./flowchart.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (Box & { readonly id: string; readonly lines: readonly string[] })[];
  readonly groups: readonly (Box & { readonly title: string })[];
  readonly edges: readonly {
    readonly path: string;
    readonly label: string;
    readonly at: Point;
    readonly dashed: boolean;
  }[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const LINE = 17;
const PADDING = 12;
const GAP = 26;
const LAYER_GAP = 46;
const GROUP_PADDING = 14;
const GROUP_TITLE = 18;
const MARGIN = 20;

/** Positions in pixels. */
export function layOut(chart: Flowchart): Layout {
  const layers = inLayers(chart);
  const boxes = place(chart, layers);
  const groups = frameGroups(chart, boxes);
  const all = [...boxes.values(), ...groups];
  const left = Math.min(...all.map(({ x }) => x)) - MARGIN;
  const top = Math.min(...all.map(({ y }) => y)) - MARGIN;
  const moved = <B extends Box>(box: B): B => ({ ...box, x: box.x - left, y: box.y - top });
  const nodes = chart.nodes.map((node) => ({ ...moved(boxOf(boxes, node.id)), id: node.id, lines: linesOf(node) }));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return {
    width: Math.max(...all.map(({ x, width }) => x + width)) - left + MARGIN,
    height: Math.max(...all.map(({ y, height }) => y + height)) - top + MARGIN,
    nodes,
    groups: groups.map(moved),
    edges: chart.edges.flatMap(({ from, to, label, dashed }) => {
      const [start, end] = [byId.get(from), byId.get(to)];
      return start && end ? [{ ...connect(start, end, chart.across), label, dashed }] : [];
    }),
  };
}

/** Each node's layer: behind all that lead to it. */
function inLayers({ nodes, edges }: Flowchart): Node[][] {
  const ahead = withoutCircles(nodes, edges);
  const layer = new Map<string, number>();
  const depth = (id: string): number => {
    const known = layer.get(id);
    if (known !== undefined) return known;
    const sources = ahead.filter(({ to }) => to === id);
    const found = sources.reduce((most, { from }) => Math.max(most, depth(from) + 1), 0);
    layer.set(id, found);
    return found;
  };
  const layers: Node[][] = [];
  for (const node of nodes) (layers[depth(node.id)] ??= []).push(node);
  return order(Array.from(layers, (found) => found ?? []), edges);
}

/** The edges without those that lead back to where one came from, beginning at the nodes that are named first. */
function withoutCircles(nodes: Flowchart["nodes"], edges: Flowchart["edges"]): Flowchart["edges"] {
  const done = new Set<string>();
  const path = new Set<string>();
  const back = new Set<Flowchart["edges"][number]>();
  const walk = (id: string): void => {
    if (done.has(id)) return;
    path.add(id);
    for (const edge of edges.filter(({ from }) => from === id)) {
      if (path.has(edge.to)) back.add(edge);
      else walk(edge.to);
    }
    path.delete(id);
    done.add(id);
  };
  for (const { id } of nodes) walk(id);
  return edges.filter((edge) => !back.has(edge));
}

/** Orders each layer by subgraph, and in it by where its sources stand, so that few edges cross. */
function order(layers: Node[][], edges: Flowchart["edges"]): Node[][] {
  const position = new Map<string, number>();
  for (const layer of layers) {
    const wanted = new Map(layer.map(({ id }, at) => {
      const from = edges.filter(({ to }) => to === id).flatMap((edge) => position.get(edge.from) ?? []);
      return [id, from.length === 0 ? at : from.reduce((sum, value) => sum + value, 0) / from.length];
    }));
    const rank = ({ id, group = -1 }: Node): number => group * 1000 + (wanted.get(id) ?? 0);
    layer.sort((a, b) => rank(a) - rank(b));
    layer.forEach(({ id }, at) => position.set(id, at));
  }
  return layers;
}

function place({ across }: Flowchart, layers: readonly Node[][]): Map<string, Box> {
  const boxes = new Map<string, Box>();
  const sizes = layers.map((layer) => layer.map((node) => ({ node, ...sizeOf(node) })));
  let along = 0;
  for (const layer of sizes) {
    const length = (size: { width: number; height: number }): number => across ? size.height : size.width;
    const total = layer.reduce((sum, size) => sum + length(size), 0) + GAP * (layer.length - 1);
    const depth = Math.max(0, ...layer.map((size) => across ? size.width : size.height));
    let side = -total / 2;
    for (const { node, width, height } of layer) {
      const offset = (depth - (across ? width : height)) / 2;
      const [x, y] = across ? [along + offset, side] : [side, along + offset];
      boxes.set(node.id, { x, y, width, height });
      side += length({ width, height }) + GAP;
    }
    along += depth + LAYER_GAP;
  }
  return boxes;
}

function linesOf({ label }: Node): string[] {
  return label.split("\n").map((line) => line.trim()).filter((line) => line !== "").slice(0, 4);
}

function sizeOf(node: Node): { width: number; height: number } {
  const lines = linesOf(node);
  const width = Math.max(40, ...lines.map(widthOf)) + 2 * PADDING;
  return { width, height: Math.max(1, lines.length) * LINE + 2 * PADDING - 4 };
}

/** About how wide a text is; wide letters count twice. */
function widthOf(text: string): number {
  return [...text].reduce((sum, letter) => sum + (letter.charCodeAt(0) > 0x2e7f ? 13.5 : 7.3), 0);
}

function boxOf(boxes: ReadonlyMap<string, Box>, id: string): Box {
  return boxes.get(id) ?? { x: 0, y: 0, width: 0, height: 0 };
}

/** Frames around subgraphs, inner ones first. */
function frameGroups({ groups, nodes }: Flowchart, boxes: ReadonlyMap<string, Box>): (Box & { title: string })[] {
  const framed: ((Box & { title: string }) | undefined)[] = groups.map(() => undefined);
  for (let at = groups.length - 1; at >= 0; at--) {
    const inside: Box[] = nodes.filter(({ group }) => group === at).map(({ id }) => boxOf(boxes, id));
    groups.forEach(({ parent }, child) => {
      const frame = framed[child];
      if (parent === at && frame) inside.push(frame);
    });
    if (inside.length === 0) continue;
    const title = groups[at]?.title ?? "";
    const x = Math.min(...inside.map((box) => box.x)) - GROUP_PADDING;
    const y = Math.min(...inside.map((box) => box.y)) - GROUP_PADDING - GROUP_TITLE;
    const right = Math.max(...inside.map((box) => box.x + box.width), x + widthOf(title)) + GROUP_PADDING;
    const bottom = Math.max(...inside.map((box) => box.y + box.height)) + GROUP_PADDING;
    framed[at] = { title, x, y, width: right - x, height: bottom - y };
  }
  return framed.filter((frame) => frame !== undefined);
}

/** A curve from box to box, along the direction. */
function connect(from: Box, to: Box, across: boolean): { path: string; at: Point } {
  const [start, end] = across
    ? [{ x: from.x + from.width, y: from.y + from.height / 2 }, { x: to.x, y: to.y + to.height / 2 }]
    : [{ x: from.x + from.width / 2, y: from.y + from.height }, { x: to.x + to.width / 2, y: to.y }];
  const bend = Math.max(16, (across ? end.x - start.x : end.y - start.y) / 2);
  const [one, two] = across
    ? [{ x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }]
    : [{ x: start.x, y: start.y + bend }, { x: end.x, y: end.y - bend }];
  const path = `M${point(start)}C${point(one)} ${point(two)} ${point(end)}`;
  return { path, at: { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 } };
}

function point({ x, y }: Point): string {
  return `${Math.round(x)},${Math.round(y)}`;
}
