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
import type { Kernel, KernelEngine, KernelRun, KernelSetup, KernelTensor } from "./kernel.ts";
import { type Constants, createConstants } from "./values.ts";

/** A kernel that is ready to run. */
export interface PreparedStep<Handle> {
  readonly run: KernelRun<Handle>;
  readonly outputs: readonly TensorInfo[];
  close(): void;
}

/** One operation of a plan. */
export interface KernelStep<Handle> {
  readonly view: OperationView;
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

function closePlan<Handle>({ steps, constants }: Pick<KernelPlan<Handle>, "steps" | "constants">): void {
  for (const { prepared } of steps) prepared?.close();
  constants.close();
}

function planSubgraph<Handle>(
  graph: GraphView,
  engine: KernelEngine<Handle>,
  referenced: readonly KernelPlan<Handle>[],
): KernelPlan<Handle> {
  const constants = createConstants(engine, graph.operands);
  const lastUse = lastUses(graph);
  /** What is known of the operands so far; shapes of temporaries come from the operations before. */
  const known = new Map<number, TensorInfo>();
  const steps: KernelStep<Handle>[] = [];
  try {
    for (const [position, view] of graph.operations.entries()) {
      const step = planStep(view, engine, constants, known, lastUse[position]);
      steps.push(step);
      for (const [output, info] of step.prepared?.outputs.entries() ?? []) known.set(view.outputs[output].index, info);
    }
  } catch (error) {
    closePlan({ steps, constants });
    throw error;
  }
  return { graph, steps, constants, referenced };
}

function planStep<Handle>(
  view: OperationView,
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
  known: ReadonlyMap<number, TensorInfo>,
  lastUses: readonly number[],
): KernelStep<Handle> {
  const { definition, match, inputs } = view;
  if (definition.controlFlow) return { view, kernel: undefined, prepared: undefined, omittable: [], lastUses };
  const kernel = engine.kernels[definition.name];
  if (kernel === undefined) throw new Error(`${definition.name}: there is no kernel for it`);
  const tensors = inputs.map((input) => (isOmitted(input) ? undefined : withFacts(input, known.get(input.index))));
  const step = { view, kernel, omittable: omittableInputs(view), lastUses };
  if (!isInferable(match.form, tensors)) return { ...step, prepared: undefined };
  try {
    return { ...step, prepared: prepareStep(view, kernel, tensors, engine, constants) };
  } catch (error) {
    // The model is valid by its signature but cannot compute: the execution says so, with the same message.
    if (error instanceof OperationError) return { ...step, prepared: undefined };
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
  { definition, match, outputs: declared }: OperationView,
  kernel: Kernel<Handle>,
  inputs: readonly (KernelTensor | undefined)[],
  engine: KernelEngine<Handle>,
  constants: Constants<Handle>,
): PreparedStep<Handle> {
  const { form } = match;
  const args = bindArguments(definition, form, inputs);
  const infos = inferOutputs(definition, form, args, declared);
  const outputs = declared.map((output, position) => settleOutput(output, output.dimensions, infos[position]));
  const kept: Handle[] = [];
  const close = () => {
    for (const handle of kept.splice(0)) engine.release(handle);
  };
  const setup: KernelSetup<Handle> = {
    constant: (tensor) => constants.get(tensor.index)?.handle,
    keep(handle) {
      kept.push(handle);
      return handle;
    },
  };
  if (outputs.every(isEmpty))
    return { run: () => outputs.map((info) => engine.upload(info, createData(info.type, 0))), outputs, close };
  try {
    return { run: kernel.prepare(args, bindOutputs(form, outputs), setup), outputs, close };
  } catch (error) {
    close();
    throw error;
  }
}

function isEmpty({ dimensions }: TensorInfo): boolean {
  return dimensions.includes(0);
}

/** For each operation the operands that no later one reads. Constants, and outputs of the graph, are not among them. */
function lastUses({ operands, operations, inputs, outputs }: GraphView): number[][] {
  const lastUse = new Map<number, number>();
  const owned = (index: number) => operands[index]?.data === undefined && !outputs.includes(index);
  for (const index of inputs) if (owned(index)) lastUse.set(index, 0);
  operations.forEach((operation, position) => {
    for (const { index, lifetime } of [...operation.outputs, ...operation.inputs]) {
      if (lifetime !== OperandLifeTime.NO_VALUE && owned(index)) lastUse.set(index, position);
    }
  });
  const lists: number[][] = operations.map(() => []);
  for (const [index, position] of lastUse) lists[position]?.push(index);
  return lists;
}
