/**
 * The extents of tensors during an import: those that the file stores, or unknown ones that callers may choose.
 */
import { describeValue, ensure, fail } from "../error.ts";
import type { TfliteSubgraph, TfliteTensor } from "../model.ts";

/** How to treat shapes. */
export interface ShapeOptions {
  /**
   * Shapes of inputs by tensor name, or by the input's place in decimal. Tensors whose extents the file leaves open are
   * then of unknown extent. Default: the shapes that the file stores.
   */
  readonly inputShapes?: Readonly<Record<string, readonly number[]>>;
  /** Leave extents that the file leaves open unknown (0), rather than taking the stored ones. Default false. */
  readonly dynamicShapes?: boolean;
}

/** Refuses options that are not those of the type. Shapes are checked when they are used. */
export function checkShapeOptions(options: unknown): void {
  const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  ensure(isObject(options), "options", () => `the options have to be an object, not ${describeValue(options)}`);
  const { inputShapes, dynamicShapes }: { inputShapes?: unknown; dynamicShapes?: unknown } = { ...Object(options) };
  ensure(
    dynamicShapes === undefined || typeof dynamicShapes === "boolean",
    "options.dynamicShapes",
    () => `it has to be a boolean, not ${describeValue(dynamicShapes)}`,
  );
  ensure(
    inputShapes === undefined || isObject(inputShapes),
    "options.inputShapes",
    () => `it has to be an object of shapes by input, not ${describeValue(inputShapes)}`,
  );
}

/** The stored shape with -1 for the extents that are open. */
export function openShape({ shape, shapeSignature }: TfliteTensor): readonly number[] {
  return shapeSignature?.length === shape.length ? shapeSignature : shape;
}

function checkShape(tensor: TfliteTensor, shape: readonly number[], path: string): readonly number[] {
  const open = openShape(tensor);
  ensure(
    Array.isArray(shape) &&
      shape.length === open.length &&
      shape.every((extent) => Number.isInteger(extent) && extent >= 1 && extent <= 0x7fff_ffff),
    path,
    () =>
      `${Array.isArray(shape) ? `[${shape.join(", ")}]` : describeValue(shape)} is not a shape of ${open.length} dimensions; extents are integers of at least 1`,
  );
  // Without a signature the file does not say which extents are open: any may be chosen.
  const isFixed = tensor.shapeSignature !== undefined;
  for (const [dimension, extent] of shape.entries()) {
    ensure(
      !isFixed || open[dimension] === -1 || open[dimension] === extent,
      path,
      () => `dimension ${dimension} is fixed at ${open[dimension]}, not ${extent}`,
    );
  }
  return shape;
}

/** Whether extents that the file leaves open are unknown. */
export function hasOpenShapes({ dynamicShapes, inputShapes }: ShapeOptions): boolean {
  return dynamicShapes === true || Object.keys(inputShapes ?? {}).length > 0;
}

/** Extents of every tensor of a subgraph; -1 is unknown. */
export function shapesOf(subgraph: TfliteSubgraph, options: ShapeOptions, isMain: boolean): (readonly number[])[] {
  const { tensors } = subgraph;
  const chosen = Object.entries(isMain ? (options.inputShapes ?? {}) : {});
  const isOpen = hasOpenShapes(options);
  // The shape of a constant is that of its data, whatever its signature leaves open.
  const shapes = tensors.map((tensor) => (isOpen && tensor.data === undefined ? openShape(tensor) : tensor.shape));
  for (const [key, shape] of chosen) {
    const byName = subgraph.inputs.find((index) => tensors[index]?.name === key);
    const index = byName ?? (/^\d+$/.test(key) ? subgraph.inputs[Number(key)] : undefined);
    const tensor = index === undefined ? undefined : tensors[index];
    if (index === undefined || tensor === undefined) {
      const names = subgraph.inputs.map((input) => JSON.stringify(tensors[input]?.name));
      fail("options.inputShapes", `there is no input ${JSON.stringify(key)}; inputs are ${names.join(", ")}`);
    }
    shapes[index] = checkShape(tensor, shape, `options.inputShapes[${JSON.stringify(key)}]`);
  }
  return shapes;
}
