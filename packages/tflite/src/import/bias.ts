/**
 * Biases of convolutions and fully connected layers. The HAL asks for a bias where .tflite may leave it out, and fixes the
 * scale of a quantised one: input scale * filter scale, or 0 where the filter has a scale per channel.
 */
import type { Lowering } from "./lowering.ts";
import { isQuantised, type OperandSpec } from "./operand-types.ts";

/** How far .tflite lets a bias scale be off, in steps of the result. */
const MOST_OFF = 0.02;

/** A bias made up for more filters than this would be there to exhaust memory. */
const MOST_ZERO_BYTES = 2 ** 24;

/** What the HAL wants a bias to be. */
function biasSpec(input: OperandSpec, filter: OperandSpec, units: number): OperandSpec {
  const dimensions = [units];
  if (!isQuantised(input.type)) return { type: input.type, dimensions, scale: 0, zeroPoint: 0 };
  const scale = filter.channelQuant ? 0 : Math.fround(input.scale * filter.scale);
  return { type: "TENSOR_INT32", dimensions, scale, zeroPoint: 0 };
}

/** The file's own bias scale is only a repetition; one that is far off means a broken file. */
function checkScale(op: Lowering, place: number, wanted: OperandSpec): void {
  const { quantization } = op.inputTensor(place);
  if (wanted.scale === 0 || quantization?.scale.length !== 1) return;
  const [scale] = quantization.scale;
  const step = op.outputSpec().scale;
  op.ensure(
    Math.abs(scale - wanted.scale) <= MOST_OFF * step,
    () => `the bias scale ${scale} is not input scale * filter scale, ${wanted.scale}`,
  );
}

/** The bias of input `place`, or zeros where there is none. */
export function biasOperand(
  op: Lowering,
  place: number,
  input: OperandSpec,
  filter: OperandSpec,
  units: number,
): number {
  op.ensure(units > 0, () => "the number of filters is unknown");
  const wanted = biasSpec(input, filter, units);
  if (!op.has(place)) {
    const { type, scale } = wanted;
    const size = units * (type === "TENSOR_FLOAT16" ? 2 : 4);
    op.ensure(size <= MOST_ZERO_BYTES, () => `a bias for ${units} filters would have to be made up`);
    return op.graph.shared(`zeros ${type} ${units} ${scale}`, wanted, new Uint8Array(size));
  }
  const tensor = op.inputIndex(place);
  const actual = op.inputSpec(place);
  const isQuantisedLayer = wanted.type === "TENSOR_INT32";
  op.ensure(
    !isQuantisedLayer || actual.type === wanted.type,
    () => `the HAL needs an INT32 bias here, the file has ${op.inputTensor(place).type}`,
  );
  if (isQuantisedLayer) checkScale(op, place, wanted);
  const isOneDimensional = actual.dimensions.length === 1;
  // What is computed, or of another float type, keeps its own description; the signature is checked all the same.
  if (op.graph.constantBytes(tensor) === undefined || actual.type !== wanted.type) {
    return isQuantisedLayer ? op.input(place) : op.asFloat(place);
  }
  if (!isQuantisedLayer && isOneDimensional) return op.input(place);
  const count = actual.dimensions.reduce((product, extent) => product * extent, 1);
  op.ensure(count === units, () => `the bias has ${count} elements for ${units} filters`);
  return op.graph.reinterpret(tensor, `bias ${wanted.scale}`, () => wanted);
}
