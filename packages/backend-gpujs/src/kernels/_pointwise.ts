/**
 * Operations that work element by element, as code. They are kernels of their own, or follow in the kernel before them, which then
 * writes only what comes out of all.
 */
import type { Following, KernelTensor } from "@nnhal/backend";
import {
  type AnyArgs,
  activationRange,
  elementCount,
  isFloat,
  sameShape,
  stridesOf,
  type TensorInfo,
} from "@nnhal/operations";
import { type At, type Grid, literal, ravel, type Write, type Writer } from "./_code.ts";
import { type Expression, expressions } from "./_expressions.ts";

/** Applies a fused activation. */
export function activate(value: string, activation: unknown): string {
  if (typeof activation !== "number") return value;
  const [least, greatest] = activationRange(activation);
  const raised = least === Number.NEGATIVE_INFINITY ? value : `Math.max(${value}, ${literal(least)})`;
  return greatest === Number.POSITIVE_INFINITY ? raised : `Math.min(${raised}, ${literal(greatest)})`;
}

/** The index in a tensor of the element that goes with one of the output, as code. */
function broadcastIndex(tensor: TensorInfo, { dimensions }: TensorInfo, { at, flat }: Writer): string {
  if (elementCount(tensor.dimensions) === 1) return "0";
  if (isAsLarge(tensor, dimensions)) return flat;
  const strides = stridesOf(tensor.dimensions).map((stride, axis) => (tensor.dimensions[axis] === 1 ? 0 : stride));
  return ravel(at.slice(at.length - strides.length), strides);
}

function isAsLarge(tensor: TensorInfo, dimensions: readonly number[]): boolean {
  return elementCount(tensor.dimensions) === elementCount(dimensions);
}

/** Code of an operation as a kernel of its own. */
export function pointwise(
  name: string,
  args: AnyArgs,
  output: TensorInfo,
): { readonly write: Write; readonly grid: Pick<Grid, "flat"> } {
  const expression = expressionOf(name);
  const tensors = tensorsOf(expression, args);
  const flat = tensors.every((tensor) => elementCount(tensor.dimensions) === 1 || isAsLarge(tensor, output.dimensions));
  return {
    grid: { flat },
    write(writer) {
      const elements = tensors.map((tensor) =>
        writer.define(writer.read(tensor)(broadcastIndex(tensor, output, writer))),
      );
      return activate(expression.value(elements, args, writer), args.activation);
    },
  };
}

function expressionOf(name: string): Expression {
  const expression = expressions[name];
  if (expression === undefined) throw new TypeError(`${name} does not work element by element`);
  return expression;
}

function tensorsOf({ tensors }: Expression, args: AnyArgs): KernelTensor[] {
  return tensors.map((name) => args[name]).filter(isKernelTensor);
}

function isKernelTensor(arg: unknown): arg is KernelTensor {
  return typeof arg === "object" && arg !== null && "index" in arg;
}

function isTensor(arg: unknown): arg is TensorInfo {
  return typeof arg === "object" && arg !== null && "dimensions" in arg;
}

/** How a tensor goes with a chain: element by element, as one number, or along the last axis. */
type Fit = "all" | "one" | "last";

function fitOf({ dimensions }: TensorInfo, whole: readonly number[]): Fit | undefined {
  if (sameShape(dimensions, whole)) return "all";
  const count = elementCount(dimensions);
  if (count === 1) return "one";
  return count === dimensions[dimensions.length - 1] && count === whole[whole.length - 1] ? "last" : undefined;
}

/** Whether an operation may follow in another's kernel: see `Kernel.follows`. */
export function canFollow(name: string, args: AnyArgs, outputs: AnyArgs, chained: number): boolean {
  const expression = expressions[name];
  const { output } = outputs;
  if (expression === undefined || !isTensor(output)) return false;
  const tensors = tensorsOf(expression, args);
  return (
    tensors.length === expression.tensors.length &&
    tensors.every(
      (tensor) =>
        isFloat(tensor.type) &&
        (tensor.index === chained
          ? sameShape(tensor.dimensions, output.dimensions)
          : fitOf(tensor, output.dimensions) !== undefined),
    )
  );
}

/** Whether what follows reads along the last axis. */
export function needsCoordinates(following: readonly Following[]): boolean {
  return following.some(({ name, args, outputs, chained }) => {
    const { output } = outputs;
    return tensorsOf(expressionOf(name), args).some(
      (tensor) => tensor.index !== chained && isTensor(output) && fitOf(tensor, output.dimensions) === "last",
    );
  });
}

/** Appends what follows to the code of a kernel. */
export function appendFollowing(
  writer: Writer,
  values: ReturnType<Write>,
  following: readonly Following[],
  { dimensions }: Grid,
): ReturnType<Write> {
  if (following.length === 0) return values;
  const append = (value: string, place: number): string => {
    const last = writer.at[writer.at.length - 1] ?? "0";
    const shift = (index: string) => (place === 0 ? index : `${index} + ${place}`);
    const indexes: Readonly<Record<Fit, string>> = { all: shift(writer.flat), one: "0", last: shift(last) };
    return following.reduce((before, { name, args, chained }) => {
      const expression = expressionOf(name);
      const current = writer.define(before);
      const elements = tensorsOf(expression, args).map((tensor) => {
        if (tensor.index === chained) return current;
        const read: At = writer.read(tensor);
        return writer.define(read(indexes[fitOf(tensor, dimensions) ?? "all"]));
      });
      return activate(expression.value(elements, args, writer), args.activation);
    }, value);
  };
  if (typeof values === "string") return append(values, 0);
  const [a, b, c, d] = values;
  return [append(a, 0), append(b, 1), append(c, 2), append(d, 3)];
}
