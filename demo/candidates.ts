/** The two solutions that the demo's pipelines offer. */
import type { JsonObject } from "../src/json.ts";

export interface Candidate {
  readonly name: string;
  readonly summary: string;
  readonly cost: string;
  readonly tradeoff: string;
  readonly items: readonly { readonly name: string; readonly spec: string; readonly cost: string }[];
  readonly file: string;
  readonly template: string;
  readonly mermaid: string;
}

export const CANDIDATES: readonly [Candidate, Candidate] = [
  {
    name: "Single ECS",
    summary: "One server with a public address: the cheapest way to be online.",
    cost: "¥96/month",
    tradeoff: "Cheap, but it stops when its zone stops.",
    items: [
      { name: "ECS", spec: "ecs.e-c1m2.large", cost: "¥72" },
      { name: "EIP", spec: "1 Mbit/s", cost: "¥24" },
    ],
    file: "single-ecs.yml",
    template: templateOf("One web server", [
      "  Vpc:\n    Type: ALIYUN::ECS::VPC",
      "  Web:\n    Type: ALIYUN::ECS::Instance",
    ]),
    mermaid:
      'flowchart TD\n  user(["Visitors"]) --> eip["EIP"]\n  eip --> ecs["ECS"]\n  subgraph vpc["VPC"]\n    ecs\n  end',
  },
  {
    name: "SLB + 2 ECS",
    summary: "Two servers in two zones behind a load balancer.",
    cost: "¥312/month",
    tradeoff: "Survives the loss of a zone, at three times the price.",
    items: [
      { name: "SLB", spec: "slb.s1.small", cost: "¥90" },
      { name: "ECS × 2", spec: "ecs.e-c1m2.large", cost: "¥222" },
    ],
    file: "slb-two-ecs.yml",
    template: templateOf("Two web servers behind a load balancer", [
      "  Vpc:\n    Type: ALIYUN::ECS::VPC",
      "  Slb:\n    Type: ALIYUN::SLB::LoadBalancer",
      "  Web:\n    Type: ALIYUN::ECS::InstanceGroup",
    ]),
    mermaid:
      'flowchart TD\n  user(["Visitors"]) --> slb["SLB"]\n  subgraph vpc["VPC"]\n    slb --> a["ECS, zone A"]\n    slb --> b["ECS, zone B"]\n  end',
  },
];

function templateOf(description: string, resources: readonly string[]): string {
  return `ROSTemplateFormatVersion: '2015-09-01'\nDescription: ${description} (demo)\nResources:\n${
    resources.join("\n")
  }\n`;
}

/** A candidate's card: what it costs and why one would take it. */
export function detailOf(candidate: Candidate, index: number, setId: string, toolUseId: string): JsonObject {
  const stage = { candidateIndex: index, candidateSetId: setId, detailStage: "detail" };
  return {
    ...stage,
    toolUseId,
    detailId: `detail-${toolUseId}`,
    keyTradeoff: candidate.tradeoff,
    detail: {
      ...stage,
      candidateName: candidate.name,
      summary: candidate.summary,
      keyTradeoff: candidate.tradeoff,
      totalMonthlyCost: candidate.cost,
      costItems: candidate.items.map(({ name, spec, cost }) => ({ name, spec, "monthly_cost": cost })),
    },
  };
}

/** A candidate's architecture as a diagram. */
export function diagramOf(candidate: Candidate, index: number, setId: string): JsonObject {
  return {
    candidateIndex: index,
    candidateName: candidate.name,
    candidateSetId: setId,
    detailStage: "detail",
    diagramStage: "optimized",
    format: "mermaid",
    mermaidSource: candidate.mermaid,
    templateContent: candidate.template,
    views: [{ id: "overview", title: "Architecture", purpose: "", "mermaid_source": candidate.mermaid }],
  };
}
