/**
 * Layers of few rows, each followed by ADD, SUB or MUL with a second tensor: compilers of graphs join them to one kernel, which
 * reads the second tensor in different steps. Numbers of rows and of channels take turns, so that no width of vectors is left
 * out.
 */
import { elementAt, type TensorInfo } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { drawTensor, randomScale } from "../random/elements.ts";
import { scalar } from "./adapt.ts";
import { addConstant, addInput, addOperation, orNothing, type Scope, valueAt } from "./scope.ts";

const mostRows = 9;
const widths = [1, 3, 4, 5, 8, 16, 32, 64, 128] as const;

/** The most elements of a result. */
export const mostOfResidual = mostRows * Math.max(...widths);

/** So many graphs with residuals have each number of rows with each number of channels once. */
export const residualTurns = mostRows * widths.length;

/** The rows and channels whose turn it is. */
export function residualShape(turn: number): { readonly rows: number; readonly channels: number } {
  const round = Math.floor(turn / mostRows);
  return { rows: 1 + (turn % mostRows), channels: elementAt(widths, (turn + round) % widths.length) };
}

/** Adds three layers, one with each operation. Returns the operands of their results. */
export function addResiduals(scope: Scope, turn: number): readonly number[] {
  const { rows, channels } = residualShape(turn);
  return (["ADD", "SUB", "MUL"] as const).flatMap((operation) => {
    // Results that say nothing, such as zeros alone, are drawn again.
    for (let tries = 0; tries < 16; tries++) {
      const added = orNothing(scope, () => addResidual(scope, operation, rows, channels));
      if (added !== undefined) return [added];
    }
    return [];
  });
}

const types: readonly OperandTypeName[] = [
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT32",
  "TENSOR_FLOAT16",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
];

function addResidual(
  scope: Scope,
  operation: "ADD" | "SUB" | "MUL",
  rows: number,
  channels: number,
): number | undefined {
  const { random } = scope;
  const type = random.pick(types);
  const layer = addLayer(scope, type, rows, channels);
  if (layer === undefined) return undefined;
  const value = valueAt(scope, layer);
  const second = addSecond(scope, value);
  if (second === undefined) return undefined;
  const operands = random.chance(0.75) ? [layer, second] : [second, layer];
  const activation = scalar(scope, "INT32", random.pick([0, 0, 1, 3]));
  const result = addOperation(scope, operation, [...operands, activation], [infoLike(scope, value)])?.[0];
  if (result === undefined || random.chance(0.7)) return result;
  return addOperation(scope, "RELU", [result], [{ ...valueAt(scope, result) }])?.[0] ?? result;
}

/** A layer of so many rows: CONV_2D, DEPTHWISE_CONV_2D or FULLY_CONNECTED. */
function addLayer(scope: Scope, type: OperandTypeName, rows: number, channels: number): number | undefined {
  const { random } = scope;
  const kind = random.pick(["CONV_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"] as const);
  const isDepthwise = kind === "DEPTHWISE_CONV_2D";
  const depth = isDepthwise ? channels : random.pick([1, 2, 3, 4, 8, 16]);
  const image = random.chance(0.5) ? [1, rows, 1, depth] : [1, 1, rows, depth];
  const isQuantised = type.includes("QUANT");
  const [inputScale, filterScale] = [randomScale(random), randomScale(random)];
  const draw = (of: OperandTypeName, dimensions: readonly number[], scale: number) =>
    drawTensor(of, { dimensions, scale }, random, "fine");
  const input = addInput(scope, draw(type, kind === "FULLY_CONNECTED" ? [rows, depth] : image, inputScale));
  const shape =
    kind === "FULLY_CONNECTED" ? [channels, depth] : isDepthwise ? [1, 1, 1, channels] : [channels, 1, 1, depth];
  const filter = addConstant(scope, draw(type, shape, filterScale));
  const bias = addConstant(
    scope,
    draw(isQuantised ? "TENSOR_INT32" : type, [channels], isQuantised ? inputScale * filterScale : 0),
  );
  const number = (value: number) => scalar(scope, "INT32", value);
  const window =
    kind === "FULLY_CONNECTED" ? [] : [number(2), number(1), number(1), ...(isDepthwise ? [number(1)] : [])];
  const activation = number(random.pick([0, 0, 1]));
  const output = {
    type,
    dimensions: [],
    ...quantise(type, 64 * inputScale * filterScale * Math.sqrt(isDepthwise ? 1 : depth)),
  };
  return addOperation(scope, kind, [input, filter, bias, ...window, activation], [output])?.[0];
}

/**
 * Adds a second tensor of the shape of the first, or one that broadcasts to it: an input, a constant, or the result of an
 * operation on an input.
 */
function addSecond(scope: Scope, { dimensions, ...first }: TensorInfo): number | undefined {
  const { random } = scope;
  const channels = elementAt(dimensions, dimensions.length - 1);
  const shape = random.chance(0.75)
    ? dimensions
    : random.pick([[channels], [...dimensions.slice(0, -1).map(() => 1), channels], [...dimensions.slice(0, -1), 1]]);
  const drawn = drawTensor(first.type as OperandTypeName, { dimensions: shape, scale: first.scale }, random, "fine");
  if (random.chance(0.25)) return addConstant(scope, drawn);
  const input = addInput(scope, drawn);
  return random.chance(0.7) ? input : addOperation(scope, "RELU", [input], [{ ...drawn }])?.[0];
}

/** The type of a value with a scale by which sums and products of it are within the range. */
function infoLike(scope: Scope, { type, scale }: TensorInfo): TensorInfo {
  return { type, dimensions: [], ...quantise(type, scale * scope.random.pick([1, 2, 8])) };
}

function quantise(type: TensorInfo["type"], scale: number): Pick<TensorInfo, "scale" | "zeroPoint"> {
  if (type === "TENSOR_QUANT8_ASYMM") return { scale: Math.fround(scale), zeroPoint: 128 };
  return { scale: type === "TENSOR_QUANT8_ASYMM_SIGNED" ? Math.fround(scale) : 0, zeroPoint: 0 };
}
