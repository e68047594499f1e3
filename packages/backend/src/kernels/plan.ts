/**
 * A graph made ready for an engine: shapes are inferred through the whole graph where the model fixes them, and kernels whose
 * operands are all known are prepared.
 */
import {
  bindArguments,
  bindOutputs,
  createData,
  inferOutputs,
  isInferable,
  layOut,
  OperationError,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import type { GraphView, OperandView, OperationView } from "../graph.ts";
import { settleOutput } from "../settle.ts";
import {
  type BoundOperation,
  type ChainedOperation,
  chainOperations,
  followingOf,
  type PlannedOperation,
  viewOfChain,
} from "./chain.ts";
import type { Kernel, KernelEngine, KernelRun, KernelSetup, KernelTensor } from "./kernel.ts";
import { type Constants, createConstants } from "./values.ts";

/** A kernel that is ready to run. */
export interface PreparedStep<Handle> {
  readonly run: KernelRun<Handle>;
  readonly outputs: readonly TensorInfo[];
  close(): void;
}

/** One operation of a plan, and those that follow it in its kernel. */
export interface KernelStep<Handle> {
  /** Its inputs and outputs are those of the step as a whole. */
  readonly view: OperationView;
  /** The names of all operations in it. */
  readonly name: string;
  /** Undefined for IF and WHILE. */
  readonly kernel: Kernel<Handle> | undefined;
  /** Undefined where only an execution knows the shapes, or the values that they depend on. */
  readonly prepared: PreparedStep<Handle> | undefined;
  /** Inputs of the graph that the operation can do without: where a request omits one, the step is prepared anew. */
  readonly omittable: readonly number[];
  /** Operands that no later step reads and that are no outputs of the graph. */
  readonly lastUses: readonly number[];
}

/** A subgraph made ready. */
export interface KernelPlan<Handle> {
  readonly graph: GraphView;
  readonly steps: readonly KernelStep<Handle>[];
  readonly constants: Constants<Handle>;
  /** The plans of `graph.referenced`. */
  readonly referenced: readonly KernelPlan<Handle>[];
}

/** Makes a graph ready. Throws where an operation has no kernel, or where the model fixes shapes that cannot be. */
export function planKernels<Handle>(graph: GraphView, engine: KernelEngine<Handle>): KernelPlan<Handle> {
  const referenced: KernelPlan<Handle>[] = [];
  try {
    for (const subgraph of graph.referenced) referenced.push(planSubgraph(subgraph, engine, referenced));
    return planSubgraph(graph, engine, referenced);
  } catch (error) {
    for (const plan of referenced) closePlan(plan);
    throw error;
  }
}

/** Releases what a plan and its subgraphs hold. */
export function closePlans<Handle>(main: KernelPlan<Handle>): void {
  for (const plan of [main, ...main.referenced]) closePlan(plan);
}

function closePlan<Handle>({
  steps,
  constants,
}: {
  readonly steps: readonly Pick<KernelStep<Handle>, "prepared">[];
  readonly constants: Constants<Handle>;
}): void {
  for (const { prepared } of steps) prepared?.close();
  constants.close();
}

function planSubgraph<Handle>(
  graph: GraphView,
  engine: KernelEngine<Handle>,
  referenced: readonly KernelPlan<Handle>[],
): KernelPlan<Handle> {
  const constants = createConstants(engine, graph.operands);
  /** What is known of the operands so far; shapes of temporaries come from the operations before. */
  const known = new Map<number, TensorInfo>();
  const bound = graph.operations.map((view) => {
    const operation = bindOperation(view, engine, known);
    for (const [output, info] of operation.bound?.outputs.entries() ?? []) known.set(view.outputs[output].index, info);
    return operation;
  });
  const steps: Omit<KernelStep<Handle>, "lastUses">[] = [];
  try {
    for (const chain of chainOperations(graph, bound)) steps.push(...planChain(chain, engine, constants));
  } catch (error) {
    closePlan({ steps, constants });
    throw error;
  }
  const uses = lastUses(graph, steps);
  return {
    graph,
    steps: steps.map((step, position) => ({ ...step, lastUses: uses[position] })),
    constants,
    referenced,
  };
}

/** Finds the kernel of an operation, and its arguments where the model fixes them. */
function bindOperation<Handle>(
  view: OperationView,
  engine: KernelEngine<Handle>,
  known: ReadonlyMap<number, TensorInfo>,
): PlannedOperation<Handle> {
  const { definition, match, inputs } = view;
  if (definition.controlFlow) return { view, kernel: undefined, omittable: [], bound: undefined };
  const kernel = engine.kernels[definition.name];
  if (kernel === undefined) throw new Error(`${definition.name}: there is no kernel for it`);
  const tensors = inputs.map((input) => (isOmitted(input) ? undefined : withFacts(input, known.get(input.index))));
  const operation = { view, kernel, omittable: omittableInputs(view) };
  if (!isInferable(match.form, tensors)) return { ...operation, bound: undefined };
  return { ...operation, bound: unlessInvalid(() => bindArgumentsOf(view, tensors)) };
}

/** One step for a chain; where the engine cannot prepare it as a whole, one for each operation. */
function planChain<Handle>(
  chain: readonly PlannedOperation<Handle>[],
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
): Omit<KernelStep<Handle>, "lastUses">[] {
  const [{ view, kernel, bound, omittable }, ...rest] = chain;
  const following = followingOf(chain);
  const prepared = kernel && bound && unlessInvalid(() => prepareBound(bound, kernel, engine, constants, following));
  if (rest.length === 0 || prepared === undefined) {
    const step = { view, name: view.definition.name, kernel, prepared, omittable };
    return rest.length === 0 ? [step] : chain.flatMap((operation) => planChain([operation], engine, constants));
  }
  const name = chain.map((operation) => operation.view.definition.name).join("+");
  return [{ view: viewOfChain(chain), name, kernel, prepared, omittable: [] }];
}

/**
 * What `make` gives; undefined where the model is valid by its signature but cannot compute: the execution says so, with the same
 * message.
 */
function unlessInvalid<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof OperationError) return undefined;
    throw error;
  }
}

function omittableInputs({ match: { form }, inputs }: OperationView): number[] {
  const params = layOut(form.params, form.counts, inputs.length) ?? [];
  return inputs
    .filter(({ lifetime }, position) => lifetime === OperandLifeTime.SUBGRAPH_INPUT && params[position].omittable)
    .map(({ index }) => index);
}

/** Whether an operand has lifetime NO_VALUE. */
export function isOmitted(operand: OperandView): boolean {
  return operand.lifetime === OperandLifeTime.NO_VALUE;
}

/** An operand as a kernel sees it, with the facts of its value where they say more than the model. */
export function withFacts(
  { index, data, ...operand }: OperandView,
  info?: TensorInfo,
  value?: TensorData,
): KernelTensor {
  const { type, dimensions, scale, zeroPoint, channelQuant } = info ?? operand;
  const known = data ?? value;
  return {
    index,
    type,
    dimensions,
    scale,
    zeroPoint,
    ...(channelQuant && { channelQuant }),
    ...(known && { data: known }),
  };
}

/** Infers an operation's outputs and prepares its kernel. */
export function prepareStep<Handle>(
  view: OperationView,
  kernel: Kernel<Handle>,
  inputs: readonly (KernelTensor | undefined)[],
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
): PreparedStep<Handle> {
  return prepareBound(bindArgumentsOf(view, inputs), kernel, engine, constants, []);
}

function bindArgumentsOf(
  { definition, match: { form }, outputs: declared }: OperationView,
  inputs: readonly (KernelTensor | undefined)[],
): BoundOperation {
  const args = bindArguments(definition, form, inputs);
  const infos = inferOutputs(definition, form, args, declared);
  return { form, args, outputs: declared.map((output, at) => settleOutput(output, output.dimensions, infos[at])) };
}

function prepareBound<Handle>(
  { form, args, outputs: own }: BoundOperation,
  kernel: Kernel<Handle>,
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
  following: readonly ChainedOperation[],
): PreparedStep<Handle> {
  const outputs = following.at(-1)?.settled ?? own;
  const closers: (() => void)[] = [];
  const close = () => {
    for (const each of closers.splice(0)) each();
  };
  const setup: KernelSetup<Handle> = {
    constant: (tensor) => constants.get(tensor.index)?.handle,
    keep(handle) {
      closers.push(() => engine.release(handle));
      return handle;
    },
    onClose: (each) => closers.push(each),
    following,
  };
  if (outputs.every(isEmpty))
    return { run: () => outputs.map((info) => engine.upload(info, createData(info.type, 0))), outputs, close };
  try {
    return { run: kernel.prepare(args, bindOutputs(form, own), setup), outputs, close };
  } catch (error) {
    close();
    throw error;
  }
}

function isEmpty({ dimensions }: TensorInfo): boolean {
  return dimensions.includes(0);
}

/** For each step the operands that no later one reads. Constants, and outputs of the graph, are not among them. */
function lastUses(
  { operands, inputs, outputs }: GraphView,
  steps: readonly { readonly view: OperationView }[],
): number[][] {
  const lastUse = new Map<number, number>();
  const owned = (index: number) => operands[index]?.data === undefined && !outputs.includes(index);
  for (const index of inputs) if (owned(index)) lastUse.set(index, 0);
  steps.forEach(({ view }, position) => {
    for (const { index, lifetime } of [...view.outputs, ...view.inputs]) {
      if (lifetime !== OperandLifeTime.NO_VALUE && owned(index)) lastUse.set(index, position);
    }
  });
  const lists: number[][] = steps.map(() => []);
  for (const [index, position] of lastUse) lists[position]?.push(index);
  return lists;
}
