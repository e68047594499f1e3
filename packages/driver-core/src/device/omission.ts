/**
 * Which inputs of a model an execution may omit (RequestArgument.hasNoValue): those that are optional to every
 * operation that reads them. Determined once, when the model is prepared.
 */
import type { GraphView, OperandView, OperationView } from "@nnhal/backend";
import { layOut, type Param } from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";

/** For each input of a graph, why it must not be omitted; undefined if it may be omitted. */
export function mandatoryInputs(graph: GraphView): readonly (string | undefined)[] {
  return reasonsIn(graph, new Map());
}

type Reasons = readonly (string | undefined)[];

/** `known`: results for subgraphs, because several operations may name the same one. References do not form a cycle. */
function reasonsIn(graph: GraphView, known: Map<GraphView, Reasons>): Reasons {
  const kept = known.get(graph);
  if (kept !== undefined) return kept;
  const byOperand = new Map<number, string>();
  for (const operation of graph.operations) {
    const { params, counts } = operation.match.form;
    const positions = layOut(params, counts, operation.inputs.length) ?? [];
    for (const [position, operand] of operation.inputs.entries()) {
      if (operand.lifetime !== OperandLifeTime.SUBGRAPH_INPUT || byOperand.has(operand.index)) continue;
      const reason = reasonAt(operation, position, positions[position], graph, known);
      if (reason !== undefined) byOperand.set(operand.index, reason);
    }
  }
  const reasons = graph.inputs.map((index) => byOperand.get(index));
  known.set(graph, reasons);
  return reasons;
}

function reasonAt(
  operation: OperationView,
  position: number,
  param: Param | undefined,
  graph: GraphView,
  known: Map<GraphView, Reasons>,
): string | undefined {
  const { index, definition, inputs } = operation;
  if (param === undefined || param.omittable) return undefined;
  const what = `operation ${index + 1}, ${definition.name},`;
  if (!param.any) return `${what} needs it as ${param.name}`;
  // IF and WHILE pass inputs on to every subgraph that they name, in the order of the inputs after the subgraphs.
  for (const subgraph of subgraphsOf(inputs, graph)) {
    const input = subgraph.inputs.length - (inputs.length - position);
    const inside = reasonsIn(subgraph, known)[input];
    if (inside !== undefined) return `inside ${what} ${inside}`;
  }
  return undefined;
}

function subgraphsOf(inputs: readonly OperandView[], { referenced }: GraphView): GraphView[] {
  return inputs.flatMap(({ lifetime, data }) => {
    if (lifetime !== OperandLifeTime.SUBGRAPH || data === undefined) return [];
    return referenced[Number(data[0])] ?? [];
  });
}
