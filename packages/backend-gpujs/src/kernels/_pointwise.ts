/**
 * Elementwise operations as code. They are separate kernels, or follow in the kernel before them, which then writes only the final
 * result.
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
import type { Grid, Write, Writer } from "./_code.ts";
import { type Expression, expressions } from "./_expressions.ts";
import { enclose, literal, ravel } from "./_index.ts";

/** Applies a fused activation. */
export function activate(value: string, activation: unknown): string {
  if (typeof activation !== "number") return enclose(value);
  const [least, greatest] = activationRange(activation);
  const raised = least === Number.NEGATIVE_INFINITY ? enclose(value) : `Math.max(${value}, ${literal(least)})`;
  return greatest === Number.POSITIVE_INFINITY ? raised : `Math.min(${raised}, ${literal(greatest)})`;
}

/** Relation of a tensor to a result: elementwise, one number, along the last axis, or broadcast. */
type Fit = "all" | "one" | "last" | "spread";

function fitOf({ dimensions }: TensorInfo, whole: readonly number[]): Fit {
  const count = elementCount(dimensions);
  if (count === elementCount(whole)) return "all";
  if (count === 1) return "one";
  const last = whole[whole.length - 1];
  return count === last && dimensions[dimensions.length - 1] === last ? "last" : "spread";
}

/** The element, or the four elements, of a tensor that a thread reads. */
function elementsOf(
  writer: Writer,
  tensor: KernelTensor,
  { dimensions, width }: Required<Pick<Grid, "dimensions" | "width">>,
): readonly string[] {
  const { at, flat, group, read, four, fourHere, define } = writer;
  const fit = fitOf(tensor, dimensions);
  if (fit === "one") return [define(read(tensor)("0"))];
  if (width === 4) {
    const elements = fit === "all" ? fourHere(tensor) : four(tensor, elementCount(tensor.dimensions))("0", group);
    return elements.map((element) => define(element));
  }
  if (fit === "all") return [define(read(tensor)(flat))];
  const strides = stridesOf(tensor.dimensions).map((stride, axis) => (tensor.dimensions[axis] === 1 ? 0 : stride));
  return [define(read(tensor)(ravel(at.slice(at.length - strides.length), strides)))];
}

/** An operation as a separate kernel. `whole`: its code on whole numbers, with the activation. */
export function pointwise(
  name: string,
  args: AnyArgs,
  { dimensions }: TensorInfo,
  packs: boolean,
  whole?: Expression,
): { readonly write: Write; readonly grid: Pick<Grid, "flat" | "width"> } {
  const expression = whole ?? expressionOf(name);
  const tensors = tensorsOf(expression, args);
  const fits = tensors.map((tensor) => fitOf(tensor, dimensions));
  const flat = fits.every((fit) => fit === "all" || fit === "one");
  const isEven = packs && dimensions.length > 0 && dimensions[dimensions.length - 1] % 4 === 0;
  const width = isEven && !fits.includes("spread") ? 4 : 1;
  return {
    grid: { flat, width },
    write(writer) {
      const elements = tensors.map((tensor) => elementsOf(writer, tensor, { dimensions, width }));
      const make = (place: number) => {
        const given = elements.map((each) => each[place % each.length]);
        const value = expression.value(given, args, writer);
        return whole === undefined ? activate(value, args.activation) : value;
      };
      return width === 1 ? make(0) : [make(0), make(1), make(2), make(3)];
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

export function isTensor(arg: unknown): arg is TensorInfo {
  return typeof arg === "object" && arg !== null && "dimensions" in arg;
}

/** Returns whether an operation may follow in another's kernel: see `Kernel.follows`. */
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
          : fitOf(tensor, output.dimensions) !== "spread"),
    )
  );
}

/** Returns whether a following operation reads along the last axis. */
export function needsCoordinates(following: readonly Following[]): boolean {
  return following.some(({ name, args, outputs, chained }) => {
    const { output } = outputs;
    return tensorsOf(expressionOf(name), args).some(
      (tensor) => tensor.index !== chained && isTensor(output) && fitOf(tensor, output.dimensions) === "last",
    );
  });
}

/** Appends the following operations to the code of a kernel. */
export function appendFollowing(
  writer: Writer,
  values: ReturnType<Write>,
  following: readonly Following[],
  { dimensions }: Grid,
): ReturnType<Write> {
  const width = typeof values === "string" ? 1 : 4;
  const append = (before: readonly string[], { name, args, chained }: Following): readonly string[] => {
    const expression = expressionOf(name);
    const current = before.map((value) => writer.define(value));
    const elements = tensorsOf(expression, args).map((tensor) =>
      tensor.index === chained ? current : elementsOf(writer, tensor, { dimensions, width }),
    );
    return current.map((_, place) => {
      const given = elements.map((each) => each[place % each.length]);
      return activate(expression.value(given, args, writer), args.activation);
    });
  };
  const [a, b, c, d] = following.reduce(append, typeof values === "string" ? [values] : values);
  return width === 1 ? a : [a, b, c, d];
}
