/**
 * Chains: operations that are computed in one kernel. An elementwise operation joins the kernel of the operation before it if
 * no other operation reads that one's output.
 */
import { type AnyArgs, bindOutputs, elementCount, type Form, isTensorType, type TensorInfo } from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import type { GraphView, OperationView } from "../graph.ts";
import type { Following, Kernel } from "./kernel.ts";

/** An operation's arguments and the facts of its outputs. */
export interface BoundOperation {
  readonly form: Form;
  readonly args: AnyArgs;
  readonly outputs: readonly TensorInfo[];
}

/** An operation on its way into a plan. */
export interface PlannedOperation<Handle> {
  readonly view: OperationView;
  /** Undefined for IF and WHILE. */
  readonly kernel: Kernel<Handle> | undefined;
  /** See `KernelStep.omittable`. */
  readonly omittable: readonly number[];
  /** Undefined if only an execution knows the shapes, or the values that they depend on. */
  readonly bound: BoundOperation | undefined;
}

/** An operation that follows another in its kernel. */
export interface ChainedOperation extends Following {
  /** The facts of its outputs. */
  readonly settled: readonly TensorInfo[];
}

/** Operations in one kernel. Each follows the one before. */
export type Chain<Handle> = readonly [PlannedOperation<Handle>, ...PlannedOperation<Handle>[]];

/** All operations, each in one chain, in the order in which the last ones of the chains are executed. */
export function chainOperations<Handle>(
  graph: GraphView,
  operations: readonly PlannedOperation<Handle>[],
): Chain<Handle>[] {
  const readers = readersOf(operations);
  const follower = (operation: PlannedOperation<Handle>): PlannedOperation<Handle> | undefined => {
    const [output, ...others] = operation.view.outputs;
    if (output === undefined || others.length > 0 || graph.outputs.includes(output.index)) return undefined;
    if (output.lifetime !== OperandLifeTime.TEMPORARY_VARIABLE) return undefined;
    const [reader, ...more] = readers.get(output.index) ?? [];
    return reader !== undefined && more.length === 0 && follows(operation, reader) ? reader : undefined;
  };
  const chained = new Set<PlannedOperation<Handle>>();
  const chains: { readonly chain: Chain<Handle>; readonly last: number }[] = [];
  for (const operation of operations) {
    if (chained.has(operation)) continue;
    const chain: [PlannedOperation<Handle>, ...PlannedOperation<Handle>[]] = [operation];
    let { index: last } = operation.view;
    if (canChain(operation) && operation.kernel?.leads) {
      for (let next = follower(operation); next && !chained.has(next); next = follower(next)) {
        chain.push(next);
        last = next.view.index;
        chained.add(next);
      }
    }
    chains.push({ chain, last });
  }
  return chains.sort((a, b) => a.last - b.last).map(({ chain }) => chain);
}

/** The operations that read each operand. */
function readersOf<Handle>(
  operations: readonly PlannedOperation<Handle>[],
): ReadonlyMap<number, readonly PlannedOperation<Handle>[]> {
  const readers = new Map<number, PlannedOperation<Handle>[]>();
  for (const operation of operations) {
    for (const index of new Set(operation.view.inputs.map((input) => input.index))) {
      const list = readers.get(index) ?? [];
      list.push(operation);
      readers.set(index, list);
    }
  }
  return readers;
}

/** Omitted inputs are known only when a request is executed, so operations with omittable inputs are not chained. */
function canChain<Handle>({ bound, omittable }: PlannedOperation<Handle>): boolean {
  return bound !== undefined && omittable.length === 0;
}

function follows<Handle>(before: PlannedOperation<Handle>, operation: PlannedOperation<Handle>): boolean {
  const { kernel, bound, view } = operation;
  if (!canChain(operation) || bound === undefined || before.bound === undefined || view.outputs.length !== 1)
    return false;
  const [from] = before.bound.outputs;
  const [to] = bound.outputs;
  const [chained] = before.view.outputs;
  if (from === undefined || to === undefined || chained === undefined) return false;
  const count = elementCount(from.dimensions);
  if (count === 0 || count !== elementCount(to.dimensions)) return false;
  return kernel?.follows?.(bound.args, bindOutputs(bound.form, bound.outputs), chained.index) === true;
}

/** The operations of a chain after the first, as its kernel sees them. */
export function listFollowing<Handle>([first, ...rest]: Chain<Handle>): ChainedOperation[] {
  let chained = first.view.outputs[0]?.index;
  return rest.flatMap(({ view, bound }) => {
    if (bound === undefined || chained === undefined) return [];
    const { form, args, outputs: settled } = bound;
    const operation = { name: view.definition.name, args, outputs: bindOutputs(form, settled), chained, settled };
    chained = view.outputs[0]?.index;
    return [operation];
  });
}

/** A chain as one operation. Its inputs are those that no operation of the chain computes. */
export function viewOfChain<Handle>(chain: Chain<Handle>): OperationView {
  const [{ view }] = chain;
  const given = new Set(chain.slice(0, -1).flatMap((operation) => operation.view.outputs.map(({ index }) => index)));
  const inputs = chain.flatMap((operation) => operation.view.inputs).filter(({ index }) => !given.has(index));
  return {
    ...view,
    inputs: inputs.filter((input) => isTensorType(input.type)),
    outputs: chain.at(-1)?.view.outputs ?? [],
  };
}
