/**
 * The subgraphs of a model, inner ones first, without recursion: a model may nest them as deep as it has subgraphs.
 */
import { elementAt } from "@nnhal/operations";
import { type Model, OperandLifeTime, type Subgraph } from "@nnhal/types";

/** The indexes of the subgraphs that one operation of a subgraph names, in the order of its inputs. */
export function namedSubgraphs({ operands, operations }: Subgraph, operation: number): number[] {
  return elementAt(operations, operation)
    .inputs.map((input) => elementAt(operands, input))
    .filter(({ lifetime }) => lifetime === OperandLifeTime.SUBGRAPH)
    .map(({ location }) => location.offset);
}

/**
 * The indexes of the referenced subgraphs that a model's main subgraph reaches, each once and after all that it names
 * itself. The model is valid: its references do not form a cycle.
 */
export function subgraphsInnerFirst({ main, referenced }: Model): number[] {
  const order: number[] = [];
  const seen = new Set<number>();
  const inner = (subgraph: Subgraph) =>
    subgraph.operations.flatMap((_, operation) => namedSubgraphs(subgraph, operation));
  // A stack of subgraphs with the inner subgraphs of each that are left to visit; main's own index is -1.
  const stack = [{ index: -1, left: inner(main) }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.left.pop();
    if (next === undefined) {
      stack.pop();
      if (top.index >= 0) order.push(top.index);
    } else if (!seen.has(next)) {
      seen.add(next);
      stack.push({ index: next, left: inner(elementAt(referenced, next)) });
    }
  }
  return order;
}

/**
 * A model whose referenced subgraphs are empty if its main subgraph does not reach them. They keep their indexes. Their
 * operations are neither supported nor refused, so they must not be compiled: a part of a divided model still has the subgraphs
 * of the other parts.
 */
export function withoutUnreached(model: Model): Model {
  const reached = new Set(subgraphsInnerFirst(model));
  if (reached.size === model.referenced.length) return model;
  const empty: Subgraph = { operands: [], operations: [], inputIndexes: [], outputIndexes: [] };
  return { ...model, referenced: model.referenced.map((subgraph, index) => (reached.has(index) ? subgraph : empty)) };
}
