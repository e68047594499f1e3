/**
 * @nnhal/backend-wasm/text: the module that the backend makes of a network, as text.
 */
import type { GraphView } from "@nnhal/backend";
import { textOf } from "./assembler/text.ts";
import { moduleOf } from "./emit/emit.ts";
import { makePlan } from "./plan/make-plan.ts";
import { functionsOf } from "./plan/plan.ts";
import { refusalOf } from "./plan/plan-graph.ts";
import { withTflite } from "./tflite/lowerings.ts";

/**
 * The module of a network as text in the format of WebAssembly, with a function for each step. Its name begins with the number of the step and has those of the
 * operations that the step computes; a line before it says how many units the step has, and how many multiply-adds, or steps that take as long, each of them is. Rejects with an
 * Error that says why the network has no module: an operation is not available, or the extents of an input are open.
 */
export async function moduleText(graph: GraphView): Promise<string> {
  for (const view of graph.operations) {
    const reason = refusalOf(view, withTflite, graph.referenced);
    if (reason !== undefined) throw new Error(`operation ${view.index} is not available: ${reason}`);
  }
  for (const [place, index] of graph.inputs.entries()) {
    if (graph.operands[index]?.dimensions.includes(0))
      throw new Error(`input ${place} has extents that are open, and a module is made for certain ones`);
  }
  const extents = graph.inputs.map((index) => graph.operands[index]?.dimensions);
  const plan = await makePlan(graph, extents, new Map(), { lowerings: withTflite });
  const { memory, functions } = moduleOf(plan);
  const exported = functions.flatMap(({ isExported }, place) => (isExported ? [place] : []));
  const steps = new Map(functionsOf(plan.steps).map((step, place) => [exported[place], step]));
  const ports = [...plan.inputs, ...plan.outputs].flatMap((port, place) => {
    if (port === undefined) return [];
    const [what, number] = place < plan.inputs.length ? ["input", place] : ["output", place - plan.inputs.length];
    return [`;; ${what} ${number}: ${port.bytes} bytes at ${plan.regions[port.region]?.address}\n`];
  });
  const text = textOf(memory, functions, (place) => {
    const step = steps.get(place);
    return step && `${step.kind}: ${step.units} units of ${Math.round(step.work)}`;
  });
  return `${ports.join("")}${text}`;
}
