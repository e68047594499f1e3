/** A plan while it is made: regions without addresses, and steps. */
import type { KernelTensor } from "@nnhal/backend";
import {
  type AnyOperandType,
  type AnyTensorData,
  elementCount,
  isExtensionType,
  numbersPerElement,
  type Operation,
  stridesOf,
  type TensorData,
  type TensorInfo,
  typeText,
} from "@nnhal/operations";
import type { Expression } from "./expression.ts";
import { fuseSteps } from "./fuse.ts";
import { mergeAxes } from "./merge.ts";
import {
  type ElementType,
  elementBytes,
  FLAT_UNIT,
  type LateConstant,
  mostBytes,
  type Operand,
  type Region,
  type Step,
} from "./plan.ts";
import { refuse } from "./refusal.ts";
import { narrowSums, type TileSums, wideSums } from "./tiles.ts";

/** A region before it has an address. */
export interface PlannedRegion {
  /** 0 for a constant: its elements tell. */
  readonly bytes: number;
  /** Makes the elements of a constant. */
  readonly make?: () => ConstantData | LateConstant;
}

/** The elements of a constant. */
export type ConstantData = Float32Array | Int32Array | Int16Array | Uint16Array | Int8Array | Uint8Array;

/** A value in a region, without gaps. */
export interface Value {
  readonly region: Region;
  readonly type: ElementType;
  readonly dimensions: readonly number[];
}

/** A copy of an image with zeros around it, which a convolution can count in itself. */
export interface Padded {
  readonly source: Value;
  readonly pads: readonly (readonly [before: number, after: number])[];
}

/** Constant matrices as one. */
export interface JoinedConstants {
  readonly axis: number;
  readonly parts: readonly (TensorData | undefined)[];
  readonly tensor: KernelTensor;
}

/** The parts of a definition that lowerings look at. */
export type PlannedOperation = Pick<Operation, "name" | "reference">;

/** The plan so far. */
export interface Builder {
  /** True if only the refusal is wanted, and the plan is thrown away. */
  readonly isTrial: boolean;
  /** See `Plan`. */
  readonly threads: number;
  /** See `Plan`. */
  readonly isWide: boolean;
  readonly tileSums: TileSums;
  readonly regions: readonly PlannedRegion[];
  readonly steps: readonly Step[];
  /** The region of each operand that has a value. */
  readonly places: Map<number, Region>;
  /** By region: what it is a padded copy of. */
  readonly padded: Map<Region, Padded>;
  /** By the elements of the first of them: constant matrices that have been joined, so that many operations share one. */
  readonly joined: Map<AnyTensorData, JoinedConstants[]>;
  /** A region for elements that steps write. */
  room(type: ElementType, count: number): Region;
  /** A region with a constant. A large one is made when the plan is complete: whether an operation is supported does not depend on it. */
  constant(data: ConstantData | (() => ConstantData | LateConstant)): Region;
  /** A constant made of the elements of an operand, once for all operations that make it by the same key. */
  shared(source: AnyTensorData, key: string, make: () => LateConstant): Region;
  /** A new value. */
  value(type: ElementType, dimensions: readonly number[]): Value;
  /** The value of an argument. */
  read(tensor: KernelTensor): Value;
  add(step: Step): void;
  /** The steps that a function adds, which do not become steps of the plan by themselves. `wanted`: they are joined, and these results remain. */
  apart(fill: () => void, wanted?: ReadonlySet<Region>): readonly Step[];
  /** Fills a plan for another subgraph, whose operands have places of their own. */
  inside<Result>(fill: () => Result): Result;
  /** The definition of the operation that is being planned. */
  definition(): PlannedOperation;
  /** Begins an operation. */
  begin(definition: PlannedOperation): void;
}

/** Subgraphs that one IF or WHILE may reach, each as often as it is named: a few could name each other without end. */
const mostInside = 256;

/** Creates an empty plan. */
export function createBuilder({
  isTrial = false,
  threads = 1,
  isWide = false,
  tileSums = isWide ? wideSums : narrowSums,
}: Partial<Pick<Builder, "isTrial" | "threads" | "isWide" | "tileSums">> = {}): Builder {
  const regions: PlannedRegion[] = [];
  const steps: Step[] = [];
  const places = new Map<number, Region>();
  const shared = new Map<AnyTensorData, Map<string, Region>>();
  let added = steps;
  let current: PlannedOperation | undefined;
  let depth = 0;
  let inner = 0;
  const builder: Builder = {
    isTrial,
    threads,
    isWide,
    tileSums,
    regions,
    steps,
    places,
    padded: new Map(),
    joined: new Map(),
    room(type, count) {
      const bytes = count * elementBytes[type];
      if (bytes > mostBytes)
        refuse(`a tensor of ${bytes} bytes is more than the ${mostBytes} that WebAssembly can have here`);
      return regions.push({ bytes }) - 1;
    },
    constant(data) {
      const make = typeof data === "function" ? data : () => data;
      return regions.push({ bytes: 0, make }) - 1;
    },
    shared(source, key, make) {
      const made = shared.get(source) ?? new Map<string, Region>();
      shared.set(source, made);
      const region = made.get(key) ?? builder.constant(make);
      made.set(key, region);
      return region;
    },
    value(type, dimensions) {
      return { region: builder.room(type, elementCount(dimensions)), type, dimensions };
    },
    read(tensor) {
      const { index, data } = tensor;
      let region = places.get(index);
      if (region === undefined) {
        region = builder.constant(constantData(index, data));
        places.set(index, region);
      }
      return { region, ...layoutOf(tensor) };
    },
    add: (step) => void added.push(step),
    apart(fill, wanted) {
      const outer = added;
      const inner: Step[] = [];
      added = inner;
      fill();
      added = outer;
      return wanted === undefined ? inner : fuseSteps(inner, wanted);
    },
    inside(fill) {
      if (depth === 0) inner = 0;
      if (++inner > mostInside) refuse(`it reaches more than ${mostInside} subgraphs`);
      const outer = [...places];
      places.clear();
      depth++;
      const result = fill();
      depth--;
      places.clear();
      for (const [index, region] of outer) places.set(index, region);
      return result;
    },
    definition() {
      if (current === undefined) throw new TypeError("no operation is being planned");
      return current;
    },
    begin(definition) {
      current = definition;
    },
  };
  return builder;
}

/** Elements as numbers that a memory has; those of 64 bits are two each. */
export function constantData(index: number, data: AnyTensorData | undefined): ConstantData {
  if (data === undefined || data instanceof Float64Array || data instanceof Uint32Array)
    throw new TypeError(`operand ${index} has no value`);
  if (data instanceof BigInt64Array || data instanceof BigUint64Array)
    return new Int32Array(data.buffer, data.byteOffset, 2 * data.length);
  return data;
}

/** Numbers of the types of extensions, by the types' names. */
const extensionElements: Readonly<Record<string, ElementType | undefined>> = {
  "nnhal.tflite TENSOR_COMPLEX64": "f32",
  "nnhal.tflite TENSOR_INT64": "i32",
  "nnhal.tflite TENSOR_QUANT16_ASYMM_SIGNED": "i16",
};

/** The elements of a tensor in memory. Complex numbers, and integers of 64 bits, are two numbers along an axis of their own, the last. */
export function layoutOf({ type, dimensions }: Pick<TensorInfo, "type" | "dimensions">): Omit<Value, "region"> {
  if (!isExtensionType(type)) return { type: elementTypeOf(type), dimensions };
  const known = extensionElements[`${type.extension} ${type.name}`];
  if (known === undefined || type.array === undefined) return refuse(`${typeText(type)} is not available`);
  const numbers = (type.array.BYTES_PER_ELEMENT * numbersPerElement(type)) / elementBytes[known];
  return { type: known, dimensions: numbers === 1 ? dimensions : [...dimensions, numbers] };
}

/** Layout in memory of the elements of a type. */
export function elementTypeOf(type: AnyOperandType): ElementType {
  switch (type) {
    case "TENSOR_FLOAT32":
    case "TENSOR_FLOAT16":
      return "f32";
    case "TENSOR_INT32":
    case "INT32":
      return "i32";
    case "TENSOR_QUANT8_ASYMM":
    case "TENSOR_BOOL8":
      return "u8";
    case "TENSOR_QUANT8_ASYMM_SIGNED":
    case "TENSOR_QUANT8_SYMM":
    case "TENSOR_QUANT8_SYMM_PER_CHANNEL":
      return "i8";
    case "TENSOR_QUANT16_SYMM":
      return "i16";
    case "TENSOR_QUANT16_ASYMM":
      return "u16";
    default:
      return refuse(`${typeText(type)} is not available`);
  }
}

/** A new value for an output. */
export function outputOf(builder: Builder, info: TensorInfo): Value {
  const { type, dimensions } = layoutOf(info);
  return builder.value(type, dimensions);
}

/** Adds a step that computes an expression for each element of `target`. The operands broadcast to its shape. */
export function addElementwise(
  builder: Builder,
  name: string,
  operands: readonly Value[],
  target: Value,
  value: Expression,
  work?: number,
): void {
  const { dimensions } = target;
  const sources = operands.map((each) => operandOf(each, broadcastSteps(each.dimensions, dimensions)));
  addElementwiseAt(builder, name, dimensions, sources, operandOf(target, stridesOf(dimensions)), value, work);
}

/** The same for operands anywhere in their regions. Steps are those of each axis of `extents`. */
export function addElementwiseAt(
  builder: Builder,
  name: string,
  extents: readonly number[],
  operands: readonly Operand[],
  target: Operand,
  value: Expression,
  work = 4,
): void {
  const all = [...operands, target];
  const merged = mergeAxes(
    extents,
    all.map((operand) => operand.steps),
  );
  // The innermost loop runs over neighbours, if only over one.
  const isApart = merged.steps.some((each) => (each.at(-1) ?? 0) > 1);
  const loops = isApart ? [...merged.loops, 1] : merged.loops;
  const places = all.map((operand, place): Operand => {
    const steps = merged.steps[place] ?? [];
    return { ...operand, steps: isApart ? [...steps, 1] : steps };
  });
  const flat = loops.length === 1;
  const [first = 1, ...rest] = loops;
  builder.add({
    kind: "elementwise",
    name,
    loops,
    operands: places.slice(0, -1),
    target: places.at(-1) ?? target,
    value,
    units: flat ? Math.ceil(first / FLAT_UNIT) : first,
    work: work * (flat ? Math.min(first, FLAT_UNIT) : elementCount(rest)),
  });
}

/** For each axis of `shape` the elements of an operand of other dimensions from one index to the next; 0 where it is repeated. */
export function broadcastSteps(dimensions: readonly number[], shape: readonly number[]): number[] {
  const own = stridesOf(dimensions);
  const missing = shape.length - dimensions.length;
  return shape.map((_, axis) => {
    if (axis < missing || dimensions[axis - missing] === 1) return 0;
    return own[axis - missing] ?? 0;
  });
}

/** Adds a step that copies elements. Steps are those of each axis of `extents`. */
export function addMove(
  builder: Builder,
  name: string,
  extents: readonly number[],
  source: Operand,
  target: Operand,
): void {
  if (extents.includes(0)) return;
  const { loops, steps } = mergeAxes(extents, [source.steps, target.steps]);
  const [from = [], to = []] = steps;
  // The first loop is the one whose turns are units.
  const alone = loops.length === 1;
  // Elements that lie apart are copied one by one, from other lines of the caches.
  const isRun = from.at(-1) === 1 && to.at(-1) === 1;
  builder.add({
    kind: "move",
    name,
    loops: alone ? [1, ...loops] : loops,
    source: { ...source, steps: alone ? [0, ...from] : from },
    target: { ...target, steps: alone ? [0, ...to] : to },
    units: alone ? 1 : (loops[0] ?? 1),
    work: (isRun ? 1 : 4) * elementCount(alone ? loops : loops.slice(1)),
  });
}

/** A value as an operand, with steps for some loops. */
export function operandOf({ region, type }: Value, steps: readonly number[], offset = 0): Operand {
  return { region, type, offset, steps };
}

/** The same elements in another order of axes: axis n of the result is axis `order[n]` of the value. */
export function transpose(builder: Builder, value: Value, order: readonly number[], name = "transpose"): Value {
  const dimensions = order.map((axis) => value.dimensions[axis] ?? 1);
  const result = builder.value(value.type, dimensions);
  transposeInto(builder, value, order, result, name);
  return result;
}

/** The same, into a value that is there. */
export function transposeInto(
  builder: Builder,
  value: Value,
  order: readonly number[],
  result: Value,
  name = "transpose",
): void {
  const strides = stridesOf(value.dimensions);
  const steps = order.map((axis) => strides[axis] ?? 0);
  addMove(builder, name, result.dimensions, operandOf(value, steps), operandOf(result, stridesOf(result.dimensions)));
}
