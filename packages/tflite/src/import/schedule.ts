/**
 * The operators of a subgraph to import, and their order: those that an output or a state depends on, each after the ones it reads
 * from.
 */
import { elementAt } from "@nnhal/operations";
import { ensure, fail, type Place } from "../error.ts";
import type { TfliteOperator, TfliteSubgraph } from "../model.ts";
import { operatorWhere, tensorWhere } from "./lowering/place.ts";
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
function producers(
  { operators, tensors, inputs }: TfliteSubgraph,
  placeOf: (index: number) => Place,
): ReadonlyMap<number, number> {
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
        placeOf(index),
        () => `output ${place} is ${describeTensor(written, tensor)}, but ${problem}`,
      );
      writers.set(tensor, index);
    }
  }
  return writers;
}

/** Refuses a form of an operator that cannot be imported, and one whose tensors are not those of such an operator. */
function checkForm(operator: TfliteOperator, place: Place): void {
  const refusal = rowOf(operator)?.refusal?.(operator);
  if (refusal !== undefined) fail(place, refusal);
  checkOperatorTensors(operator, place);
}

/** The operators that each operator depends on, and the tensors that it reads. */
function createDependencies(
  subgraph: TfliteSubgraph,
  shapes: readonly (readonly number[])[],
  placeOf: (index: number) => Place,
  { attempt }: ScheduleOptions,
) {
  const { operators, tensors } = subgraph;
  const writers = producers(subgraph, placeOf);
  const given = new Set(subgraph.inputs);
  const isConstant = (tensor: number) => !given.has(tensor) && !writers.has(tensor) && !tensors[tensor]?.isVariable;
  const facts: TensorFacts = {
    isConstant,
    isStatic: (tensor) => shapes[tensor]?.every((extent) => extent > 0) === true,
  };
  const hasValue = (tensor: number) =>
    tensors[tensor]?.data !== undefined || tensors[tensor]?.shape.includes(0) || !isConstant(tensor);

  function readBy(index: number): number[] {
    const operator = elementAt(operators, index);
    const ignored = rowOf(operator)?.ignores?.(operator, facts) ?? [];
    return operator.inputs.filter((tensor, place) => tensor >= 0 && !ignored.includes(place));
  }

  /** Inputs that are ignored too: another form of the operator, or the extension's, may read them after all. */
  function checkReads(index: number): void {
    const read = new Set(readBy(index));
    for (const tensor of elementAt(operators, index).inputs.filter((one) => one >= 0)) {
      // Values that are read are ordered; a value that is ignored must be written before.
      const writer = read.has(tensor) ? undefined : writers.get(tensor);
      ensure(
        writer === undefined || writer < index,
        placeOf(index),
        () =>
          `reads ${describeTensor(elementAt(tensors, tensor), tensor)}, which ${writer === index ? "it writes itself" : `operator ${writer} writes later`}`,
      );
      ensure(
        hasValue(tensor),
        placeOf(index),
        () =>
          `reads ${describeTensor(elementAt(tensors, tensor), tensor)}, which no operator writes and which has no data`,
      );
    }
  }

  /** The operators that this one reads from. One that is refused is reported, and what it reads is searched all the same. */
  function search(index: number): number[] {
    const operator = elementAt(operators, index);
    const isAccepted = attempt(() => {
      checkForm(operator, placeOf(index));
      checkReads(index);
    }, index);
    const read = isAccepted ? readBy(index) : operator.inputs.filter((tensor) => tensor >= 0);
    return read.flatMap((tensor) => (given.has(tensor) ? [] : (writers.get(tensor) ?? [])));
  }
  const found = new Map<number, number[]>();
  return {
    writers,
    hasValue,
    readBy,
    before(index: number): readonly number[] {
      const known = found.get(index) ?? search(index);
      found.set(index, known);
      return known;
    },
  };
}

/** Options of scheduling. */
export interface ScheduleOptions {
  /** Runs checks, of operator `index` if that is given. Records why they fail, and returns whether they succeed. */
  attempt(checks: () => void, index?: number): boolean;
}

/**
 * Determines the operators to import and their order. `shapes`: extents of the tensors, -1 where unknown; `place`: the subgraph's, with the place in the file of each
 * operator.
 */
export function scheduleOperators(
  subgraph: TfliteSubgraph,
  shapes: readonly (readonly number[])[],
  place: { readonly path: string; readonly index: number; originOf(operator: number): number },
  options: ScheduleOptions,
): Schedule {
  const { operators } = subgraph;
  const placeOf = (index: number) => () => operatorWhere(place, elementAt(operators, index), place.originOf(index));
  const { writers, hasValue, readBy, before } = createDependencies(subgraph, shapes, placeOf, options);
  const roots = new Set<number>();
  for (const tensor of subgraph.outputs) {
    const findMissing = () => "is an output, but nothing writes it and it has no data";
    options.attempt(() => ensure(hasValue(tensor), () => tensorWhere(place, subgraph.tensors, tensor), findMissing));
    const writer = writers.get(tensor);
    if (writer !== undefined) roots.add(writer);
  }
  for (const [index, operator] of operators.entries()) if (rowOf(operator)?.isStateful) roots.add(index);

  // Depth first and without recursion: an operator is placed once all that it reads from are.
  const order: number[] = [];
  const state = new Map<number, "open" | "placed">();
  const search = (root: number) => {
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
      ensure(known !== "open", placeOf(index), () => `reads what depends on it (operator ${other})`);
      if (known === "placed") continue;
      state.set(other, "open");
      stack.push({ index: other, waiting: before(other), next: 0 });
    }
  };
  for (const root of [...roots].sort((a, b) => a - b)) if (!state.has(root)) search(root);
  const ordered = inFileOrder(order, before);
  return { order: ordered, read: new Set(ordered.flatMap(readBy)) };
}

/** The order of the file if the operators can run in it, else the given one. */
function inFileOrder(order: readonly number[], before: (index: number) => readonly number[]): readonly number[] {
  const sorted = order.toSorted((a, b) => a - b);
  return sorted.every((index) => before(index).every((other) => other < index)) ? sorted : order;
}
