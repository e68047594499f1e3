/**
 * A plan of a graph for an engine. Shapes are inferred through the whole graph as far as the model determines them, and kernels are
 * prepared if the shapes of their operands are known.
 */
import {
  bindArguments,
  bindOutputs,
  createData,
  elementAt,
  elementFactsOf,
  heldBytes,
  inferOutputs,
  isInferable,
  isUnspecified,
  layOut,
  type Operation,
  OperationError,
  type TensorData,
  type TensorInfo,
  tensorInfo,
} from "@nnhal/operations";
import { ErrorStatus, OperandLifeTime, type OutputShape } from "@nnhal/types";
import type { RunResult } from "../contract.ts";
import { decodeConstant, type GraphView, type OperandView, type OperationView } from "../graph.ts";
import { settleOutput } from "../settle.ts";
import {
  type BoundOperation,
  type Chain,
  type ChainedOperation,
  chainOperations,
  listFollowing,
  type PlannedOperation,
  viewOfChain,
} from "./chain.ts";
import {
  type Kernel,
  type KernelEngine,
  type KernelRun,
  type KernelSetup,
  type KernelTensor,
  kernelsByName,
} from "./kernel.ts";
import type { Steps } from "./steps.ts";
import { type Constants, createConstants, type Memory } from "./values.ts";

/** A kernel that is ready to run. */
export interface PreparedStep<Handle> {
  readonly run: KernelRun<Handle>;
  /** Extents of 0 are unknown if `isDynamic`. */
  readonly outputs: readonly TensorInfo[];
  /** Total size of the outputs; 0 if it is unknown before the kernel has run. */
  readonly bytes: number;
  /** Only the kernel can tell the shapes of its outputs. */
  readonly isDynamic: boolean;
  /** Frees memory that the next run can allocate again. */
  idle(): void;
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
  /** Undefined if only an execution knows the shapes, or the values that they depend on. */
  readonly prepared: PreparedStep<Handle> | undefined;
  /** Inputs of the graph that the operation allows to be omitted. If a request omits one, the step is prepared again. */
  readonly omittable: readonly number[];
  /** Operands that no later step reads and that are not outputs of the graph. */
  readonly lastUses: readonly number[];
}

/** A number of bytes, and the operation that reaches it, by name and index. */
export interface Peak {
  readonly bytes: number;
  readonly operation: string;
}

/** The plan of a subgraph. */
export interface KernelPlan<Handle> {
  readonly graph: GraphView;
  readonly steps: readonly KernelStep<Handle>[];
  readonly constants: Constants<Handle>;
  /** The plans of `graph.referenced`. */
  readonly referenced: readonly KernelPlan<Handle>[];
  /** The facts of each input of the graph; undefined if the model does not determine its extents. */
  readonly inputs: readonly (TensorInfo | undefined)[];
  /** The facts of each output of the graph; undefined if only an execution knows them. */
  readonly outputs: readonly (TensorInfo | undefined)[];
  /** The result of each run that succeeds; undefined if only an execution knows the shapes of all outputs. */
  readonly success: RunResult | undefined;
  /** True if an output is an OEM scalar, whose length only its kernel knows. */
  readonly hasOemOutput: boolean;
  /** The most memory that the values with known shapes take together. */
  readonly peak: Peak;
}

/**
 * Creates the plan of a graph, with a pause after each operation. Throws if an operation has no kernel, or if the model has shapes that
 * are not possible.
 */
export function* planKernels<Handle>(graph: GraphView, memory: Memory<Handle>): Steps<KernelPlan<Handle>> {
  const referenced: KernelPlan<Handle>[] = [];
  try {
    for (const subgraph of graph.referenced) referenced.push(yield* planSubgraph(subgraph, memory, referenced));
    return yield* planSubgraph(graph, memory, referenced);
  } catch (error) {
    for (const plan of referenced) closePlan(plan);
    throw error;
  }
}

/** Frees the memory that a plan and its subgraphs keep for the next run. */
export function idlePlans<Handle>(main: KernelPlan<Handle>): void {
  for (const { steps } of [main, ...main.referenced]) for (const { prepared } of steps) prepared?.idle();
}

/** Closes a plan and those of its subgraphs. */
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

function* planSubgraph<Handle>(
  graph: GraphView,
  memory: Memory<Handle>,
  referenced: readonly KernelPlan<Handle>[],
): Steps<KernelPlan<Handle>> {
  const { engine } = memory;
  const constants = createConstants(memory, graph.operands);
  /** The facts of temporaries, from the operations before. */
  const known = new Map<number, TensorInfo>();
  const bound: PlannedOperation<Handle>[] = [];
  for (const view of graph.operations) {
    for (const input of view.inputs) yield* decodeConstant(input);
    const operation = bindOperation(view, engine, known);
    noteInfos(known, view, operation.bound?.outputs);
    bound.push(operation);
    yield;
  }
  const steps: Omit<KernelStep<Handle>, "lastUses">[] = [];
  try {
    for (const chain of chainOperations(graph, bound)) {
      steps.push(...planChain(chain, engine, constants));
      yield;
    }
  } catch (error) {
    closePlan({ steps, constants });
    throw error;
  }
  const uses = lastUses(graph, steps);
  const infos = new Map<number, TensorInfo>();
  for (const { view, prepared } of steps) {
    noteInfos(infos, view, prepared?.outputs);
  }
  const outputs = graph.outputs.map((index) => infos.get(index));
  const ended = steps.map((step, position) => ({ ...step, lastUses: elementAt(uses, position) }));
  return {
    graph,
    steps: ended,
    constants,
    referenced,
    inputs: graph.inputs.map((index) => declaredInfo(graph.operands[index])),
    outputs,
    success: successOf(outputs),
    hasOemOutput: graph.outputs.some((index) => graph.operands[index]?.type === "OEM"),
    peak: peakOf(ended, infos),
  };
}

/** The facts of an operand as the model declares them, if it determines all extents. */
function declaredInfo(operand: OperandView | undefined): TensorInfo | undefined {
  if (operand === undefined || isUnspecified(elementFactsOf(operand.type), operand.dimensions)) return undefined;
  return tensorInfo(operand, operand.dimensions);
}

function successOf(outputs: readonly (TensorInfo | undefined)[]): RunResult | undefined {
  const outputShapes: OutputShape[] = [];
  for (const info of outputs) {
    if (info === undefined) return undefined;
    outputShapes.push({ dimensions: info.dimensions, isSufficient: true });
  }
  return { status: ErrorStatus.NONE, outputShapes };
}

/** Notes the facts of an operation's outputs, if they are known. */
function noteInfos(
  known: Map<number, TensorInfo>,
  { outputs }: OperationView,
  infos: readonly TensorInfo[] = [],
): void {
  for (const [position, info] of infos.entries()) known.set(elementAt(outputs, position).index, info);
}

function peakOf<Handle>(steps: readonly KernelStep<Handle>[], infos: ReadonlyMap<number, TensorInfo>): Peak {
  let peak: Peak = { bytes: 0, operation: "" };
  let bytes = 0;
  for (const { view, name, prepared, lastUses } of steps) {
    bytes += prepared?.bytes ?? 0;
    if (bytes > peak.bytes) peak = { bytes, operation: `operation ${view.index + 1} (${name})` };
    for (const index of lastUses) {
      const info = infos.get(index);
      if (info !== undefined) bytes -= heldBytes(info);
    }
  }
  return peak;
}

/** The name of an operation in messages, logs and traces. */
export function nameOf({ name, extension }: Operation): string {
  return extension === undefined ? name : `${extension} ${name}`;
}

/** The kernel of an operation; undefined if the engine has none. */
export function kernelOf<Handle>(
  { kernels, extensions = [], oem }: KernelEngine<Handle>,
  { definition }: OperationView,
): Kernel<Handle> | undefined {
  const { name, extension } = definition;
  if (extension !== undefined) return extensions.find((each) => each.extension.name === extension)?.kernels(definition);
  if (definition === oem?.operation) return oem.kernel;
  return typeof kernels === "function" ? kernels(definition) : kernelsByName(kernels)[name];
}

/** Finds the kernel of an operation, and its arguments if the model determines them. */
function bindOperation<Handle>(
  view: OperationView,
  engine: KernelEngine<Handle>,
  known: ReadonlyMap<number, TensorInfo>,
): PlannedOperation<Handle> {
  const { definition, match, inputs } = view;
  if (definition.controlFlow) return { view, kernel: undefined, omittable: [], bound: undefined };
  const kernel = kernelOf(engine, view);
  if (kernel === undefined) throw new Error(`${nameOf(definition)}: there is no kernel for it`);
  const tensors = inputs.map((input) => (isOmitted(input) ? undefined : withFacts(input, known.get(input.index))));
  const operation = { view, kernel, omittable: omittableInputs(view) };
  if (definition.dynamic || !isInferable(match.form, tensors)) return { ...operation, bound: undefined };
  return { ...operation, bound: unlessInvalid(() => bindArgumentsOf(view, tensors)) };
}

/** One step for a chain, or one for each operation if the engine cannot prepare the chain as a whole. */
function planChain<Handle>(
  chain: Chain<Handle>,
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
): Omit<KernelStep<Handle>, "lastUses">[] {
  const [{ view, kernel, bound, omittable }, ...rest] = chain;
  const following = listFollowing(chain);
  const prepared =
    kernel && bound && unlessInvalid(() => prepareBound(bound, false, kernel, engine, constants, following));
  if (rest.length === 0 || prepared === undefined) {
    const step = { view, name: nameOf(view.definition), kernel, prepared, omittable };
    return rest.length === 0 ? [step] : chain.flatMap((operation) => planChain([operation], engine, constants));
  }
  const name = chain.map((operation) => nameOf(operation.view.definition)).join("+");
  return [{ view: viewOfChain(chain), name, kernel, prepared, omittable: [] }];
}

/**
 * The result of `make`; undefined if it throws an OperationError. A model can be valid and still not be computable; its execution fails
 * with the same message.
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
    .filter(({ lifetime }, position) => lifetime === OperandLifeTime.SUBGRAPH_INPUT && params[position]?.omittable)
    .map(({ index }) => index);
}

/** Returns whether an operand has lifetime NO_VALUE. */
export function isOmitted(operand: OperandView): boolean {
  return operand.lifetime === OperandLifeTime.NO_VALUE;
}

/** An operand as a kernel sees it. `info` are the facts of its value, if they are known better than the model declares them. */
export function withFacts(
  { index, data, ...operand }: OperandView,
  info: TensorInfo = operand,
  value?: TensorData,
): KernelTensor {
  const known = data ?? value;
  return { index, ...tensorInfo(info, info.dimensions), ...(known && { data: known }) };
}

/** Infers an operation's outputs and prepares its kernel. `check` throws if there is no room for such outputs. */
export function prepareStep<Handle>(
  view: OperationView,
  kernel: Kernel<Handle>,
  inputs: readonly (KernelTensor | undefined)[],
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
  check: (step: Pick<PreparedStep<Handle>, "outputs" | "bytes" | "isDynamic">) => void,
): PreparedStep<Handle> {
  const bound = bindArgumentsOf(view, inputs);
  const { dynamic: isDynamic } = view.definition;
  check({ outputs: bound.outputs, bytes: bytesFor(bound.outputs, isDynamic), isDynamic });
  return prepareBound(bound, isDynamic, kernel, engine, constants, []);
}

/** The bytes of a step's outputs; 0 if only its run finds their shapes. */
export function bytesFor(outputs: readonly TensorInfo[], isDynamic: boolean): number {
  return isDynamic ? 0 : outputs.reduce((sum, info) => sum + heldBytes(info), 0);
}

/** Binds the arguments of an operation, and infers its outputs. Throws OperationError. */
export function bindArgumentsOf(
  { definition, match: { form }, outputs: declared }: OperationView,
  inputs: readonly (KernelTensor | undefined)[],
): BoundOperation {
  const args = bindArguments(definition, form, inputs);
  const infos = inferOutputs(definition, form, args, declared);
  // The extents inferred for a dynamic operation are not those of its result.
  const findKnown = (output: OperandView) => (definition.dynamic ? [] : output.dimensions);
  return {
    form,
    args,
    outputs: declared.map((output, at) => settleOutput(output, findKnown(output), elementAt(infos, at))),
  };
}

function prepareBound<Handle>(
  { form, args, outputs: own }: BoundOperation,
  isDynamic: boolean,
  kernel: Kernel<Handle>,
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
  following: readonly ChainedOperation[],
): PreparedStep<Handle> {
  const outputs = following.at(-1)?.settled ?? own;
  const bytes = bytesFor(outputs, isDynamic);
  const closers: (() => void)[] = [];
  const idlers: (() => void)[] = [];
  const step = {
    outputs,
    bytes,
    isDynamic,
    idle: () => {
      for (const each of idlers) each();
    },
    close: () => {
      for (const each of closers.splice(0)) each();
    },
  };
  const setup: KernelSetup<Handle> = {
    constant: (tensor) => constants.get(tensor.index)?.handle,
    keep(handle) {
      closers.push(() => engine.release(handle));
      return handle;
    },
    onClose: (each) => closers.push(each),
    onIdle: (each) => idlers.push(each),
    following,
  };
  if (!isDynamic && outputs.every(isEmpty))
    return { ...step, run: () => outputs.map((info) => engine.upload(info, createData(info.type, 0))) };
  try {
    return { ...step, run: kernel.prepare(args, bindOutputs(form, own), setup) };
  } catch (error) {
    step.close();
    throw error;
  }
}

function isEmpty({ dimensions }: TensorInfo): boolean {
  return dimensions.includes(0);
}

/** The operands that each step reads last. Constants and outputs of the graph are not among them. */
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
