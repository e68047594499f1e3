/** From a subgraph to its plan. The shapes of all inputs are known; all others follow from them. */
import {
  bindArgumentsOf,
  type GraphView,
  isOmitted,
  type KernelTensor,
  type OperandView,
  type OperationView,
  withFacts,
} from "@nnhal/backend";
import {
  type AnyArgs,
  bindOutputs,
  elementAt,
  elementCount,
  isInferable,
  isTensorType,
  layOut,
  OperationError,
  type OperationName,
  type TensorData,
  type TensorInfo,
  tensorInfo,
} from "@nnhal/operations";
import { OperandLifeTime } from "@nnhal/types";
import { addElementwise, type Builder, createBuilder, layoutOf, outputOf, type Value } from "./builder.ts";
import { addControl, type Fact, type Planned } from "./control.ts";
import { copyElements } from "./copied.ts";
import { divideLong, fold } from "./deferred.ts";
import { element } from "./expression.ts";
import { fuseSteps, withoutDead } from "./fuse.ts";
import { fromHalf, toHalf, widenedArgument, widenInfo } from "./half.ts";
import type { Lowerings } from "./lowering.ts";
import { halLowerings } from "./lowerings.ts";
import { layOutMemory } from "./memory.ts";
import { elementBytes, type Plan, type Port, type Region } from "./plan.ts";
import { Refusal, refuse } from "./refusal.ts";
import type { TileSums } from "./tiles.ts";

/**
 * Why an operation cannot be compiled; undefined if it can. Extents that only a request determines count as 8: a plan is made when they are
 * known.
 */
export function refusalOf(
  view: OperationView,
  lowerings: Lowerings = halLowerings,
  referenced: readonly GraphView[] = [],
): string | undefined {
  const { definition, match, inputs } = view;
  const params = layOut(match.form.params, match.form.counts, inputs.length) ?? [];
  /** Requests may omit it. */
  const isOpen = ({ lifetime }: OperandView, position: number) =>
    lifetime === OperandLifeTime.SUBGRAPH_INPUT && params[position]?.omittable === true;
  // An input of the model that requests may omit has no extents if they do.
  const isLeftOut = (input: OperandView, position: number) =>
    isOmitted(input) || (isOpen(input, position) && input.dimensions.includes(0));
  const tensorsWithout = (isAbsent: typeof isOpen) =>
    inputs.map((input, position) => (isAbsent(input, position) ? undefined : withExtents(withFacts(input))));
  const refusal = refusalFor(view, tensorsWithout(isLeftOut), lowerings, referenced);
  if (refusal === undefined || definition.controlFlow || !inputs.some(isOpen)) return refusal;
  // Some of them may go only together.
  const without = tensorsWithout((input, position) => isOmitted(input) || isOpen(input, position));
  return refusalFor(view, without, lowerings, referenced) === undefined ? undefined : refusal;
}

/** Why an operation on some tensors cannot be compiled; undefined if it can. */
function refusalFor(
  view: OperationView,
  tensors: readonly (KernelTensor | undefined)[],
  lowerings: Lowerings,
  referenced: readonly GraphView[],
): string | undefined {
  const { definition, match } = view;
  try {
    const builder = createBuilder({ isTrial: true });
    for (const tensor of tensors) {
      if (tensor !== undefined && tensor.data === undefined)
        builder.places.set(tensor.index, outputOf(builder, tensor).region);
    }
    // With settings that only a request has, an operation cannot be planned now.
    if (hasOpenSettings(view) && lowerings(definition) !== undefined)
      return bySettings.has(definition.name) ? typeRefusal(view) : `${definition.name}: ${openSettings}`;
    if (!definition.controlFlow && !isInferable(match.form, tensors)) return `${definition.name}: ${openSettings}`;
    planOperation(view, tensors, builder, lowerings, referenced);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal || error instanceof OperationError) return `${definition.name}: ${error.message}`;
    throw error;
  }
}

const assumedExtent = 8;

const openSettings = "shapes and settings must be known when the model is prepared";

/** Operations that can be planned whatever their settings are, if the types of their operands are available. */
const bySettings: ReadonlySet<string> = new Set<OperationName>([
  "BATCH_TO_SPACE_ND",
  "CONCATENATION",
  "EXPAND_DIMS",
  "FILL",
  "GATHER",
  "MEAN",
  "PAD",
  "PAD_V2",
  "REDUCE_ALL",
  "REDUCE_ANY",
  "REDUCE_MAX",
  "REDUCE_MIN",
  "RESHAPE",
  "SLICE",
  "SPACE_TO_BATCH_ND",
  "SPLIT",
  "SQUEEZE",
  "STRIDED_SLICE",
  "TILE",
  "TOPK_V2",
  "TRANSPOSE",
]);

/** The inputs of an operation that decide shapes or are settings. */
function settingInputs<Input>(
  { match: { form }, definition }: OperationView,
  inputs: readonly Input[],
): readonly Input[] {
  if (definition.controlFlow) return [];
  const params = layOut(form.params, form.counts, inputs.length) ?? [];
  return inputs.filter((_, position) => {
    const param = params[position];
    return param !== undefined && (param.kind !== "tensor" || param.read === true);
  });
}

/** True if a setting is an input of the model. */
function hasOpenSettings(view: OperationView): boolean {
  return settingInputs(view, view.inputs).some(({ lifetime }) => lifetime === OperandLifeTime.SUBGRAPH_INPUT);
}

function typeRefusal({ inputs, outputs }: OperationView): string | undefined {
  for (const info of [...inputs, ...outputs]) if (isTensorType(info.type)) layoutOf(info);
  return undefined;
}

/** The inputs of a graph whose values decide shapes, or are settings: a plan is made for their values. */
export function settingsOf({ operations, inputs }: GraphView): ReadonlySet<number> {
  const found = new Set<number>();
  for (const view of operations) for (const { index } of settingInputs(view, view.inputs)) found.add(index);
  return new Set(inputs.filter((index) => found.has(index)));
}

function withExtents(tensor: KernelTensor): KernelTensor {
  if (!tensor.dimensions.includes(0)) return tensor;
  return { ...tensor, dimensions: tensor.dimensions.map((extent) => extent || assumedExtent) };
}

/** Options of a plan. */
export interface PlanOptions {
  /** Default: those of the HAL's operations. */
  readonly lowerings?: Lowerings | undefined;
  /** See `Plan`. Default: 1. */
  readonly threads?: number | undefined;
  /** See `Plan`. Default: false. */
  readonly isWide?: boolean | undefined;
  /** Default: those of the table. */
  readonly tileSums?: TileSums | undefined;
  /** The most work of a unit, where steps can be divided. Default: see `mostWork`. */
  readonly mostWork?: number | undefined;
}

/**
 * Plans a subgraph. `dimensions` are those of its inputs; undefined for an input that is omitted. `given`: the values of inputs that decide shapes, by the index of
 * their operands; they have no port. Throws a Refusal or an OperationError.
 */
export function planGraph(
  graph: GraphView,
  dimensions: readonly (readonly number[] | undefined)[],
  given: ReadonlyMap<number, TensorData> = new Map(),
  { lowerings = halLowerings, threads = 1, isWide = false, tileSums, mostWork }: PlanOptions = {},
): Plan {
  const builder = createBuilder({ threads, isWide, ...(tileSums && { tileSums }) });
  const settings = new Map(given);
  /** The facts of inputs and of results; undefined for omitted inputs. */
  const known = new Map<number, TensorInfo | undefined>();
  const inputs = graph.inputs.map((index, position): Port | undefined => {
    const operand = graph.operands[index];
    const extents = dimensions[position];
    known.set(index, undefined);
    if (operand === undefined || extents === undefined) return undefined;
    const info = tensorInfo(operand, extents);
    known.set(index, info);
    if (settings.has(index)) return undefined;
    const value = outputOf(builder, info);
    const port = isHalf(info) ? builder.value("u16", info.dimensions) : value;
    if (port !== value) addElementwise(builder, "from float16", [port], value, fromHalf(element(0, "i32")));
    builder.places.set(index, value.region);
    return portOf(port.region, info);
  });
  planOperations(graph, known, settings, builder, lowerings);
  // Each output has a region of its own, which is not an input's or a constant.
  const taken = new Set<Region>(inputs.flatMap((port) => (port === undefined ? [] : [port.region])));
  const outputs = graph.outputs.map((index): Port => {
    const info = known.get(index);
    if (info === undefined) throw new Error(`output operand ${index} has no value`);
    const data = settings.get(index);
    const value = builder.read({ index, ...info, ...(data && { data }) });
    if (isHalf(info)) {
      const port = builder.value("u16", info.dimensions);
      addElementwise(builder, "to float16", [value], port, toHalf(element(0, "f32")));
      return portOf(port.region, info);
    }
    const isOwn = !taken.has(value.region) && builder.regions[value.region]?.make === undefined;
    const result = isOwn ? value : copyElements(builder, value);
    taken.add(result.region);
    return portOf(result.region, info);
  });
  const wanted = new Set(outputs.map(({ region }) => region));
  const steps = divideLong(builder, fuseSteps(withoutDead(builder.steps, wanted), wanted), mostWork);
  const used = inputs.flatMap((port) => (port === undefined ? [] : [port.region]));
  return { ...layOutMemory(builder.regions, steps, used, wanted), steps, inputs, outputs, threads, isWide };
}

/** The port of a region. */
export function portOf(region: Region, info: TensorInfo): Port {
  const { type, dimensions } = layoutOf(info);
  const bytes = isHalf(info) ? 2 : elementBytes[type];
  return { region, info, bytes: bytes * elementCount(dimensions) };
}

function isHalf({ type }: TensorInfo): boolean {
  return type === "TENSOR_FLOAT16";
}

/** Plans the operations of a subgraph. `known` has the facts of its inputs, and gets those of results; `settings` their elements, if those are known. */
function planOperations(
  graph: GraphView,
  known: Map<number, TensorInfo | undefined>,
  settings: Map<number, TensorData>,
  builder: Builder,
  lowerings: Lowerings,
): void {
  for (const view of graph.operations) {
    const tensors = view.inputs.map((input) => {
      if (isOmitted(input) || (known.has(input.index) && known.get(input.index) === undefined)) return undefined;
      return withFacts(input, known.get(input.index), settings.get(input.index));
    });
    const { infos, values, data } = planOperation(view, tensors, builder, lowerings, graph.referenced);
    for (const [position, { index }] of view.outputs.entries()) {
      known.set(index, elementAt(infos, position));
      builder.places.set(index, elementAt(values, position).region);
      if (data !== undefined) settings.set(index, elementAt(data, position));
    }
  }
}

/** Plans a subgraph of an IF or WHILE. */
function planSubgraph(
  graph: GraphView,
  inputs: readonly Fact[],
  builder: Builder,
  lowerings: Lowerings,
): readonly Fact[] {
  const known = new Map<number, TensorInfo>();
  const settings = new Map<number, TensorData>();
  for (const [position, index] of graph.inputs.entries()) {
    const { info, value, data } = elementAt(inputs, position);
    known.set(index, info);
    builder.places.set(index, value.region);
    if (data !== undefined) settings.set(index, data);
  }
  planOperations(graph, known, settings, builder, lowerings);
  return graph.outputs.map((index): Fact => {
    const operand = graph.operands[index];
    const info = known.get(index) ?? (operand && tensorInfo(operand, operand.dimensions));
    if (info === undefined) throw new Error(`output operand ${index} has no value`);
    const data = operand?.data ?? settings.get(index);
    return { info, value: builder.read({ index, ...info, ...(data && { data }) }) };
  });
}

/** Adds the steps of an operation. Returns the facts and the values of its outputs. */
function planOperation(
  view: OperationView,
  tensors: readonly (KernelTensor | undefined)[],
  builder: Builder,
  lowerings: Lowerings,
  referenced: readonly GraphView[],
): Planned {
  const { definition, match } = view;
  if (definition.controlFlow) {
    return addControl(view, tensors, builder, referenced, (graph, inputs) =>
      planSubgraph(graph, inputs, builder, lowerings),
    );
  }
  const folded = fold(view, tensors, builder);
  if (folded !== undefined) return folded;
  const lowering = lowerings(definition);
  if (lowering === undefined) return refuse("wasm does not have this operation");
  if (definition.dynamic) return refuse("the shapes of its outputs depend on the data");
  // Extents of 0 are known here: such tensors have no elements.
  const isOpen = settingInputs(view, tensors).some((tensor) => tensor !== undefined && tensor.data === undefined);
  if (isOpen) return refuse(openSettings);
  const { args, outputs: infos } = bindArgumentsOf(view, tensors);
  if (infos.length > 0 && infos.every(({ dimensions }) => dimensions.includes(0))) {
    return { infos, values: infos.map((info) => outputOf(builder, info)) };
  }
  builder.begin(definition);
  const planned = lowering(widenedArguments(args), bindOutputs(match.form, infos.map(widenInfo)), builder);
  return { infos, values: isList(planned) ? planned : [planned] };
}

function widenedArguments(args: AnyArgs): AnyArgs {
  // Tensors become tensors, and all else stays.
  return Object.fromEntries(
    Object.entries(args).map(([name, argument]) => [name, widenedArgument(argument)]),
  ) as AnyArgs;
}

function isList(planned: Value | readonly Value[]): planned is readonly Value[] {
  return Array.isArray(planned);
}
