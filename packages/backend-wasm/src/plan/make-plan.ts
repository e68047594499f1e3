/** From a subgraph to its plan, with the code that is loaded by need. */
import type { GraphView } from "@nnhal/backend";
import { loadFor, loadRare } from "./deferred.ts";
import { functionsOf, isLong, type Plan } from "./plan.ts";
import { planGraph } from "./plan-graph.ts";

/** Makes a plan as `planGraph` does. Rejects where that throws. */
export async function makePlan(
  graph: GraphView,
  ...rest: Parameters<typeof planGraph> extends [unknown, ...infer Rest] ? Rest : never
): Promise<Plan> {
  await loadFor(graph);
  const plan = planGraph(graph, ...rest);
  const isDivided = !functionsOf(plan.steps).some((step) => isLong(step, rest[2]?.mostWork)) || !(await loadRare());
  return isDivided ? plan : planGraph(graph, ...rest);
}
