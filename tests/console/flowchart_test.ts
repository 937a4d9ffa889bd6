import assert from "node:assert/strict";
import { type Flowchart, parseFlowchart } from "../../console/state/flowchart.ts";
import { layOut } from "../../console/state/flowchart_layout.ts";

function chartOf(...lines: string[]): Flowchart {
  const chart = parseFlowchart(["flowchart TD", ...lines].join("\n"));
  assert.ok(chart, lines.join("\n"));
  return chart;
}

function edgesOf({ edges }: Flowchart): string[] {
  return edges.map(({ from, to, label, dashed }) => `${from}${dashed ? "." : "-"}${label}>${to}`);
}

Deno.test("nodes of every shape, with and without quotes", () => {
  const chart = chartOf('a["A (x)"]', "b(B)", "c([C])", "d{D}", 'e[("E")]', "f((F))", "g[[G]]", "h", 'i["x<br/>y"]');
  assert.deepEqual(chart.nodes.map(({ label }) => label), ["A (x)", "B", "C", "D", "E", "F", "G", "h", "x\ny"]);
});

Deno.test("edges of every kind: chains, fans, labels, dashes", () => {
  assert.deepEqual(edgesOf(chartOf("a --> b --> c")), ["a->b", "b->c"]);
  assert.deepEqual(edgesOf(chartOf("a & b --> c & d")), ["a->c", "a->d", "b->c", "b->d"]);
  assert.deepEqual(edgesOf(chartOf("a -->|443| b", "b -- https --> c", 'c -.->|"x"| d', "d ==> e", "e --- f")), [
    "a-443>b",
    "b-https>c",
    "c.x>d",
    "d->e",
    "e->f",
  ]);
  assert.deepEqual(edgesOf(chartOf("my-node-->other-node;other-node-->x")), ["my-node->other-node", "other-node->x"]);
});

Deno.test("subgraphs hold what is named in them, also when it was named before", () => {
  const chart = chartOf(
    'user --> slb["SLB"]',
    'subgraph vpc["My VPC"]',
    "slb --> ecs",
    "subgraph zone",
    "db",
    "end",
    "end",
    "other",
  );
  assert.deepEqual(chart.groups, [{ title: "My VPC", parent: undefined }, { title: "zone", parent: 0 }]);
  assert.deepEqual(chart.nodes.map(({ id, group }) => [id, group]), [
    ["user", undefined],
    ["slb", 0],
    ["ecs", 0],
    ["db", 1],
    ["other", undefined],
  ]);
});

Deno.test("looks and comments are passed over", () => {
  const chart = chartOf(
    "%% about",
    "a:::big --> b",
    "classDef big fill:#f00",
    "class b big",
    "style a fill:#0f0",
    "direction LR",
  );
  assert.deepEqual(chart.nodes.map(({ id }) => id), ["a", "b"]);
});

Deno.test("what this cannot read is left to be shown as text", () => {
  for (
    const source of [
      "sequenceDiagram\n a->>b: x",
      "",
      "flowchart TD",
      "flowchart TD\n a --> [",
      "flowchart TD\n a ~~~ !",
    ]
  ) {
    assert.equal(parseFlowchart(source), undefined, source);
  }
  const many = Array.from({ length: 61 }, (_, at) => `n${at}`).join("\n");
  assert.equal(parseFlowchart(`flowchart TD\n${many}`), undefined);
});

Deno.test("sources stand before their targets, and no two boxes overlap", () => {
  for (const head of ["flowchart TD", "graph LR"]) {
    const chart = parseFlowchart(`${head}\n a --> b & c\n b --> d\n c --> d\n d --> a\n e["long label of a box"]`);
    assert.ok(chart);
    const { nodes, width, height } = layOut(chart);
    const at = (id: string): number => {
      const node = nodes.find((one) => one.id === id);
      assert.ok(node);
      return chart.across ? node.x : node.y;
    };
    assert.ok(at("a") < at("b") && at("b") < at("d"));
    for (const one of nodes) {
      assert.ok(one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.y + one.height <= height);
      for (const other of nodes.filter((candidate) => candidate !== one)) {
        const isApart = one.x + one.width <= other.x || other.x + other.width <= one.x ||
          one.y + one.height <= other.y || other.y + other.height <= one.y;
        assert.ok(isApart, `${one.id} and ${other.id}`);
      }
    }
  }
});

Deno.test("a subgraph's frame is around its boxes", () => {
  const { nodes, groups } = layOut(chartOf("x --> a", "subgraph g", "a --> b", "end"));
  const [frame] = groups;
  assert.ok(frame);
  for (const { id, x, y, width, height } of nodes) {
    const isInside: boolean = x > frame.x && y > frame.y && x + width < frame.x + frame.width &&
      y + height < frame.y + frame.height;
    assert.equal(isInside, id !== "x", id);
  }
});
