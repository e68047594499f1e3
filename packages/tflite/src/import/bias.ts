/**
 * Biases of convolutions and fully connected layers. The HAL requires a bias, which is optional in .tflite, and fixes the scale
 * of a quantised one: input scale * filter scale, or 0 if the filter has a scale per channel.
 */
import type { Lowering } from "./lowering.ts";
import { isQuantised, type OperandSpec } from "./operand-types.ts";

/** Greatest difference between a bias scale of the file and the prescribed one, in steps of the result. */
const MOST_OFF = 0.02;

/** Most bytes of a bias of zeros that the import adds: a file must not exhaust memory by its number of filters. */
const MOST_ZERO_BYTES = 2 ** 24;

/** The bias operand that the HAL prescribes. */
function biasSpec(input: OperandSpec, filter: OperandSpec, units: number): OperandSpec {
  const dimensions = [units];
  if (!isQuantised(input.type)) return { type: input.type, dimensions, scale: 0, zeroPoint: 0 };
  const scale = filter.channelQuant ? 0 : Math.fround(input.scale * filter.scale);
  return { type: "TENSOR_INT32", dimensions, scale, zeroPoint: 0 };
}

/** Refuses a bias scale of the file that is far from the one that follows from input and filter: the file is broken. */
function checkScale(op: Lowering, place: number, wanted: OperandSpec): void {
  const { quantization } = op.inputTensor(place);
  const [scale, ...more] = quantization?.scale ?? [];
  if (wanted.scale === 0 || scale === undefined || more.length > 0) return;
  const step = op.outputSpec().scale;
  op.ensure(
    Math.abs(scale - wanted.scale) <= MOST_OFF * step,
    () => `the bias scale ${scale} is not input scale * filter scale, ${wanted.scale}`,
  );
}

/** The bias of input `place`, or zeros if there is none. */
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
    op.ensure(
      size <= MOST_ZERO_BYTES,
      () => `the file has no bias, and zeros for ${units} filters take more than ${MOST_ZERO_BYTES} bytes`,
    );
    return op.graph.share(`zeros ${type} ${units} ${scale}`, wanted, new Uint8Array(size));
  }
  // Layers with 16-bit activations are the extension's, which takes the bias as it is.
  if (op.inputTensor(place).type === "INT64") return op.asInFile(place);
  const tensor = op.inputIndex(place);
  const actual = op.inputSpec(place);
  const isQuantisedLayer = wanted.type === "TENSOR_INT32";
  op.ensure(
    !isQuantisedLayer || actual.type === wanted.type,
    () => `the HAL needs an INT32 bias here, the file has ${op.inputTensor(place).type}`,
  );
  if (isQuantisedLayer) checkScale(op, place, wanted);
  const isOneDimensional = actual.dimensions.length === 1;
  // A bias that is computed, or of another float type, keeps its own description; the signature is checked all the same.
  if (op.graph.constantBytes(tensor) === undefined || actual.type !== wanted.type) {
    return isQuantisedLayer ? op.input(place) : op.asFloat(place);
  }
  if (!isQuantisedLayer && isOneDimensional) return op.input(place);
  const count = actual.dimensions.reduce((product, extent) => product * extent, 1);
  op.ensure(count === units, () => `the bias has ${count} elements for ${units} filters`);
  return op.graph.reinterpret(tensor, `bias ${wanted.scale}`, () => wanted);
}
