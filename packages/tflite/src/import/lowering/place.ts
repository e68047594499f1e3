/** The places of operators and tensors, in messages and in problems. */
import { type ProblemOperator, quote, type Where } from "../../error.ts";
import type { TfliteOperator, TfliteTensor } from "../../model.ts";
import type { Graph } from "../graph.ts";

/** The place of an operator in messages. */
export function operatorPath(graphPath: string, operator: TfliteOperator, index: number): string {
  return `${graphPath}.operators[${index}] (${operator.name} version ${operator.version})`;
}

/** An operator as problems describe it. A composite is known by its own name, as a custom operator is. */
export function problemOperator(
  { name, customCode: custom, version, options }: TfliteOperator,
  index: number,
  subgraph: number,
): ProblemOperator {
  const composite = name === "STABLEHLO_COMPOSITE" ? options["name"] : undefined;
  const customCode = typeof composite === "string" ? composite : custom;
  return { subgraph, index, name, ...(customCode !== undefined && { customCode }), version };
}

/** The place of an operator in problems; that of its subgraph if the file does not have the operator: `index` is -1. */
export function operatorWhere(graph: Pick<Graph, "path" | "index">, operator: TfliteOperator, index: number): Where {
  if (index < 0) return { path: graph.path };
  return { path: operatorPath(graph.path, operator, index), operator: problemOperator(operator, index, graph.index) };
}

/** The place of a tensor in problems. */
export function tensorWhere(
  { path, index }: Pick<Graph, "path" | "index">,
  tensors: readonly TfliteTensor[],
  tensor: number,
): Where {
  const name = tensors[tensor]?.name ?? "";
  return { path: `${path}.tensors[${tensor}] ${quote(name)}`, tensor: { subgraph: index, index: tensor, name } };
}
