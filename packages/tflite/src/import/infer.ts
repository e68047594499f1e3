/**
 * The shapes of an operation's results, by its definition. A file whose sizes are open stores shapes that may be those of
 * another size.
 */
import {
  bindInputs,
  byteLength,
  decodeTensorData,
  elementCount,
  inferOutputs,
  isInferable,
  matchOperation,
  normaliseArguments,
  type OperandInfo,
  type Operation,
  OperationError,
  type OutputInfo,
} from "@nnhal/operations";
import { isQuantised, type OperandSpec } from "./operand-types.ts";

/** An operand, and the bytes of its value if it is a constant. */
export interface ValuedSpec extends OperandSpec {
  readonly value?: Uint8Array | undefined;
}

/** Constants with more elements are not read: they hold no shapes. */
const MOST_ELEMENTS = 32;

function infoOf({
  type,
  dimensions,
  scale,
  zeroPoint,
  channelQuant,
  isOmitted,
  value,
}: ValuedSpec): OperandInfo | undefined {
  if (isOmitted) return undefined;
  const count = elementCount(dimensions);
  // A constant that is shorter than its shape is refused where it becomes an operand, which names it.
  const isRead = value && count <= MOST_ELEMENTS && value.length >= byteLength(type, count);
  const data = isRead ? decodeTensorData(type, value, count) : undefined;
  return { type, dimensions, scale, zeroPoint, ...(channelQuant && { channelQuant }), ...(data && { data }) };
}

/** The shapes of the results; undefined if they depend on what is known at execution only. */
export function inferredShapes(
  definition: Operation,
  inputs: readonly ValuedSpec[],
  outputs: readonly OperandSpec[],
): readonly (readonly number[])[] | undefined {
  const inferred = infer(definition, inputs, outputs);
  // Shapes that do not fit each other are reported when the model is validated, with the operands.
  return typeof inferred === "string" ? undefined : inferred;
}

/** A quantisation that an operation's result has to have, by the place of the result. */
export interface NeededQuantisation {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** The quantisations that the results have to have and do not have, by their places. */
export function otherQuantisations(
  definition: Operation,
  inputs: readonly ValuedSpec[],
  outputs: readonly OperandSpec[],
): ReadonlyMap<number, NeededQuantisation> {
  const inferred = inferInfos(definition, inputs, outputs);
  const others = new Map<number, NeededQuantisation>();
  if (inferred === undefined || typeof inferred === "string") return others;
  for (const [place, { scale, zeroPoint = 0 }] of inferred.entries()) {
    const output = outputs[place];
    if (output === undefined || scale === undefined || !isQuantised(output.type)) continue;
    if (output.scale !== scale || output.zeroPoint !== zeroPoint) others.set(place, { scale, zeroPoint });
  }
  return others;
}

/** Why an operation cannot compute its results from the shapes and small constants that are known; undefined if it can. */
export function shapeProblem(
  definition: Operation,
  inputs: readonly ValuedSpec[],
  outputs: readonly OperandSpec[],
): string | undefined {
  const inferred = infer(definition, inputs, outputs);
  return typeof inferred === "string" ? inferred : undefined;
}

function infer(
  definition: Operation,
  inputs: readonly ValuedSpec[],
  outputs: readonly OperandSpec[],
): readonly (readonly number[])[] | string | undefined {
  const inferred = inferInfos(definition, inputs, outputs);
  return typeof inferred === "object" ? inferred.map(({ dimensions }) => dimensions) : inferred;
}

function inferInfos(
  definition: Operation,
  inputs: readonly ValuedSpec[],
  outputs: readonly OperandSpec[],
): readonly OutputInfo[] | string | undefined {
  if (definition.infer === undefined) return undefined;
  const match = matchOperation(
    definition,
    inputs.map(({ type }) => type),
    outputs.map(({ type }) => type),
  );
  const given = inputs.map(infoOf);
  if ("mismatch" in match || !isInferable(match.form, given)) return undefined;
  const { form } = match;
  const bound = bindInputs(form, given);
  const missing = form.params.find(
    ({ name, kind, omittable, variadic }) => kind === "tensor" && !omittable && !variadic && bound[name] === undefined,
  );
  if (missing !== undefined) return `${missing.name} is omitted, and ${definition.name} needs it`;
  try {
    const args = normaliseArguments(definition, form, bound);
    return inferOutputs(definition, form, args, outputs);
  } catch (error) {
    if (error instanceof OperationError) return error.message;
    throw error;
  }
}
