/**
 * The operators of a subgraph to import, and their order: those that an output or a state depends on, each after the ones it reads
 * from.
 */
import { elementAt } from "@nnhal/operations";
import { ensure, fail } from "../error.ts";
import type { TfliteOperator, TfliteSubgraph } from "../model.ts";
import { operatorPath } from "./lowering.ts";
import { describeTensor } from "./operand-types.ts";
import { checkOperatorTensors } from "./operator-tensors.ts";
import type { TensorFacts } from "./row.ts";
import { rowOf } from "./rows.ts";

/** The operators to import. */
export interface Schedule {
  /** Indexes of operators in an order in which they can run; that of the file if possible. */
  readonly order: readonly number[];
  /** The tensors that these operators read. */
  readonly read: ReadonlySet<number>;
}

/** Which operator writes each tensor. */
function producers({ operators, tensors, inputs }: TfliteSubgraph, path: string): ReadonlyMap<number, number> {
  const writers = new Map<number, number>();
  const given = new Set(inputs);
  for (const [index, operator] of operators.entries()) {
    for (const [place, tensor] of operator.outputs.entries()) {
      const written = elementAt(tensors, tensor);
      const other = writers.get(tensor);
      const problem =
        other !== undefined
          ? `operator ${other} writes it too`
          : given.has(tensor)
            ? "it is an input of the subgraph"
            : written.data !== undefined
              ? `it has ${written.data.length} bytes of data, so it is a constant`
              : written.isVariable
                ? "it is a variable tensor, which only a state of the operator may change"
                : undefined;
      ensure(
        problem === undefined,
        operatorPath(path, operator, index),
        () => `output ${place} is ${describeTensor(written, tensor)}, but ${problem}`,
      );
      writers.set(tensor, index);
    }
  }
  return writers;
}

/** Refuses a form of an operator that cannot be imported, and one whose tensors are not those of such an operator. */
function checkForm(operator: TfliteOperator, place: string): void {
  const refusal = rowOf(operator.name)?.refusal?.(operator);
  if (refusal !== undefined) fail(place, refusal);
  checkOperatorTensors(operator, place);
}

/** The operators that each operator depends on, and the tensors that it reads. */
function createDependencies(subgraph: TfliteSubgraph, shapes: readonly (readonly number[])[], path: string) {
  const { operators, tensors } = subgraph;
  const writers = producers(subgraph, path);
  const given = new Set(subgraph.inputs);
  const isConstant = (tensor: number) => !given.has(tensor) && !writers.has(tensor) && !tensors[tensor]?.isVariable;
  const facts: TensorFacts = {
    isConstant,
    isStatic: (tensor) => shapes[tensor]?.includes(-1) === false,
  };
  const hasValue = (tensor: number) =>
    tensors[tensor]?.data !== undefined || tensors[tensor]?.shape.includes(0) || !isConstant(tensor);

  function readBy(index: number): number[] {
    const operator = elementAt(operators, index);
    const ignored = rowOf(operator.name)?.ignores?.(operator, facts) ?? [];
    return operator.inputs.filter((tensor, place) => tensor >= 0 && !ignored.includes(place));
  }
  return {
    writers,
    hasValue,
    readBy,
    before(index: number): number[] {
      const before: number[] = [];
      const operator = elementAt(operators, index);
      const place = operatorPath(path, operator, index);
      checkForm(operator, place);
      for (const tensor of readBy(index)) {
        ensure(
          hasValue(tensor),
          place,
          () =>
            `reads ${describeTensor(elementAt(tensors, tensor), tensor)}, which no operator writes and which has no data`,
        );
        const writer = given.has(tensor) ? undefined : writers.get(tensor);
        if (writer !== undefined) before.push(writer);
      }
      return before;
    },
  };
}

/** Determines the operators to import and their order. `shapes`: extents of the tensors, -1 where unknown. */
export function scheduleOperators(
  subgraph: TfliteSubgraph,
  shapes: readonly (readonly number[])[],
  path: string,
): Schedule {
  const { operators } = subgraph;
  const { writers, hasValue, readBy, before } = createDependencies(subgraph, shapes, path);
  const roots = new Set<number>();
  for (const tensor of subgraph.outputs) {
    ensure(hasValue(tensor), path, () => `tensor ${tensor} is an output, but nothing writes it and it has no data`);
    const writer = writers.get(tensor);
    if (writer !== undefined) roots.add(writer);
  }
  for (const [index, { name }] of operators.entries()) if (rowOf(name)?.isStateful) roots.add(index);

  // Depth first and without recursion: an operator is placed once all that it reads from are.
  const order: number[] = [];
  const state = new Map<number, "open" | "placed">();
  const place = (root: number) => {
    const stack = [{ index: root, waiting: before(root), next: 0 }];
    state.set(root, "open");
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { index, waiting } = top;
      const other = waiting[top.next++];
      if (other === undefined) {
        state.set(index, "placed");
        order.push(index);
        stack.pop();
        continue;
      }
      const known = state.get(other);
      ensure(
        known !== "open",
        operatorPath(path, elementAt(operators, index), index),
        () => `reads what depends on it (operator ${other})`,
      );
      if (known === "placed") continue;
      state.set(other, "open");
      stack.push({ index: other, waiting: before(other), next: 0 });
    }
  };
  for (const root of [...roots].sort((a, b) => a - b)) if (!state.has(root)) place(root);
  const ordered = inFileOrder(order, before);
  return { order: ordered, read: new Set(ordered.flatMap(readBy)) };
}

/** The order of the file if the operators can run in it, else the given one. */
function inFileOrder(order: readonly number[], before: (index: number) => readonly number[]): readonly number[] {
  const sorted = order.toSorted((a, b) => a - b);
  return sorted.every((index) => before(index).every((other) => other < index)) ? sorted : order;
}
