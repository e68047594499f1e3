/**
 * The extents of tensors during an import: those that the file stores, or unknown ones that callers may choose.
 */
import { describeValue, ensure, fail, quote } from "../error.ts";
import type { TfliteSubgraph, TfliteTensor } from "../model.ts";

/** Treatment of shapes. */
export interface ShapeOptions {
  /**
   * Shapes of inputs by tensor name, by the name in the signature, or by the input's place in decimal. The shapes of all other tensors
   * follow from them; an operator that does not take them is a problem. Default: the shapes that the file stores.
   */
  readonly inputShapes?: Readonly<Record<string, readonly number[]>>;
  /** Leave extents that the file leaves open unknown (0), rather than taking the stored ones. Default false. */
  readonly dynamicShapes?: boolean;
}

/** Refuses options that are not those of the type. Shapes are checked when they are used. */
export function checkShapeOptions(options: unknown): void {
  const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  ensure(isObject(options), "options", () => `expected an object, got ${describeValue(options)}`);
  const { inputShapes, dynamicShapes }: { inputShapes?: unknown; dynamicShapes?: unknown } = { ...Object(options) };
  ensure(
    dynamicShapes === undefined || typeof dynamicShapes === "boolean",
    "options.dynamicShapes",
    () => `expected a boolean, got ${describeValue(dynamicShapes)}`,
  );
  ensure(
    inputShapes === undefined || isObject(inputShapes),
    "options.inputShapes",
    () => `expected an object of shapes by input, got ${describeValue(inputShapes)}`,
  );
}

/** True if a tensor has no stored shape: it is a scalar, or of an unknown rank. */
export function isUnranked({ shape, hasRank }: TfliteTensor): boolean {
  return shape.length === 0 && hasRank !== true;
}

/** The stored shape with -1 for the extents that are open. */
export function openShape({ shape, shapeSignature }: TfliteTensor): readonly number[] {
  return shapeSignature?.length === shape.length ? shapeSignature : shape;
}

function checkShape(tensor: TfliteTensor, shape: readonly number[], path: string): readonly number[] {
  const open = openShape(tensor);
  const isAnyRank = isUnranked(tensor);
  ensure(
    Array.isArray(shape) &&
      (isAnyRank || shape.length === open.length) &&
      shape.every((extent) => Number.isInteger(extent) && extent >= 1 && extent <= 0x7fff_ffff),
    path,
    () =>
      `${Array.isArray(shape) ? `[${shape.join(", ")}]` : describeValue(shape)} is not a shape${isAnyRank ? "" : ` of ${open.length} dimensions`}; extents are integers of at least 1`,
  );
  // Without a signature the file does not say which extents are open: any may be chosen.
  const isFixed = tensor.shapeSignature !== undefined && !isAnyRank;
  for (const [dimension, extent] of shape.entries()) {
    ensure(
      !isFixed || open[dimension] === -1 || open[dimension] === extent,
      path,
      () => `dimension ${dimension} is fixed at ${open[dimension]}, not ${extent}`,
    );
  }
  return shape;
}

/** Extents of every tensor of a subgraph; -1 is unknown. */
export function shapesOf({ tensors }: TfliteSubgraph, { dynamicShapes = false }: ShapeOptions): (readonly number[])[] {
  // The shape of a constant is that of its data, whatever its signature leaves open.
  return tensors.map((tensor) => (dynamicShapes && tensor.data === undefined ? openShape(tensor) : tensor.shape));
}

/** Shapes that a caller chose, by the place of the input. */
export type ChosenShapes = ReadonlyMap<number, readonly number[]>;

/**
 * The shapes that the options choose for the inputs of a subgraph, which have names in a signature too. Throws a TfliteError for a
 * name that no input has, and for a shape that an input cannot have.
 */
export function chosenShapes(
  { inputs, tensors }: TfliteSubgraph,
  signatureNames: readonly (string | undefined)[],
  { inputShapes = {} }: ShapeOptions,
): ChosenShapes {
  const names = inputs.map((input) => tensors[input]?.name);
  const chosen = new Map<number, readonly number[]>();
  for (const [key, shape] of Object.entries(inputShapes)) {
    const byName = [names.indexOf(key), signatureNames.indexOf(key)].find((found) => found >= 0);
    const place = byName ?? (/^\d+$/.test(key) ? Number(key) : -1);
    const tensor = tensors[inputs[place] ?? -1];
    if (tensor === undefined) {
      const known = names.map((name, at) => namesText(name ?? "", signatureNames[at]));
      fail("options.inputShapes", `there is no input ${quote(key)}; inputs are ${known.join(", ")}`);
    }
    const path = `options.inputShapes[${quote(key)}]`;
    ensure(!chosen.has(place), path, () => `input ${place} (${quote(tensor.name)}) has been given a shape already`);
    chosen.set(place, checkShape(tensor, shape, path));
  }
  return chosen;
}

/** An input's name, with that in the signature if it is another. */
function namesText(name: string, signatureName: string | undefined): string {
  const isOther = signatureName !== undefined && signatureName !== name;
  return isOther ? `${quote(name)} (in the signature ${quote(signatureName)})` : quote(name);
}
