/**
 * QUANTIZED_LSTM: one step of an LSTM cell on signed 8-bit values with a 16-bit cell state, in fixed point throughout,
 * with all that LSTM has.
 *
 * The reference implementation differs from the document in four points that no vector shows; this kernel follows the document. The
 * reference omits the gates' biases without layer normalisation. Its peepholes of input and forget gate read the new cell state before
 * it is written, instead of the old one. It divides the projection's clip by the scale of the weights, not of the outputs. It
 * subtracts the zero point of the hidden state instead of adding it.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import {
  clamp,
  effectiveScale,
  multiplyByQuantisedMultiplier,
  type QuantisedMultiplier,
  quantiseMultiplier,
  roundingDivideByPowerOfTwo,
} from "../fixed-point.ts";
import { fixedPoint16 } from "../fixed-point-functions.ts";
import { float32, int32, omittable, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { recurrentWork } from "../work.ts";
import { normaliseLayer } from "./_layer-norm.ts";
import { type Gate, lstmCell, lstmSizes } from "./_lstm.ts";

/** Integer bits of a gate's input. */
const GATE_BITS = 3;

export const quantizedLstm = defineOperation({
  name: "QUANTIZED_LSTM",
  code: OperationType.QUANTIZED_LSTM,
  summary: "One step of a long short-term memory cell on signed 8-bit values with a 16-bit cell state.",
  params: [
    tensor("input", "TENSOR_QUANT8_ASYMM_SIGNED"),
    omittable(tensor("inputToInputWeights", "TENSOR_QUANT8_SYMM")),
    tensor("inputToForgetWeights", "TENSOR_QUANT8_SYMM"),
    tensor("inputToCellWeights", "TENSOR_QUANT8_SYMM"),
    tensor("inputToOutputWeights", "TENSOR_QUANT8_SYMM"),
    omittable(tensor("recurrentToInputWeights", "TENSOR_QUANT8_SYMM")),
    tensor("recurrentToForgetWeights", "TENSOR_QUANT8_SYMM"),
    tensor("recurrentToCellWeights", "TENSOR_QUANT8_SYMM"),
    tensor("recurrentToOutputWeights", "TENSOR_QUANT8_SYMM"),
    omittable(tensor("cellToInputWeights", "TENSOR_QUANT16_SYMM")),
    omittable(tensor("cellToForgetWeights", "TENSOR_QUANT16_SYMM")),
    omittable(tensor("cellToOutputWeights", "TENSOR_QUANT16_SYMM")),
    omittable(tensor("inputGateBias", "TENSOR_INT32")),
    tensor("forgetGateBias", "TENSOR_INT32"),
    tensor("cellBias", "TENSOR_INT32"),
    tensor("outputGateBias", "TENSOR_INT32"),
    omittable(tensor("projectionWeights", "TENSOR_QUANT8_SYMM")),
    omittable(tensor("projectionBias", "TENSOR_INT32")),
    tensor("outputStateIn", "TENSOR_QUANT8_ASYMM_SIGNED"),
    tensor("cellStateIn", "TENSOR_QUANT16_SYMM"),
    omittable(tensor("inputLayerNormWeights", "TENSOR_QUANT16_SYMM")),
    omittable(tensor("forgetLayerNormWeights", "TENSOR_QUANT16_SYMM")),
    omittable(tensor("cellLayerNormWeights", "TENSOR_QUANT16_SYMM")),
    omittable(tensor("outputLayerNormWeights", "TENSOR_QUANT16_SYMM")),
    float32("cellClip"),
    float32("projectionClip"),
    float32("inputIntermediateScale"),
    float32("forgetIntermediateScale"),
    float32("cellIntermediateScale"),
    float32("outputIntermediateScale"),
    int32("hiddenStateZeroPoint"),
    float32("hiddenStateScale"),
  ],
  outputs: [
    tensor("outputStateOut", "TENSOR_QUANT8_ASYMM_SIGNED"),
    tensor("cellStateOut", "TENSOR_QUANT16_SYMM"),
    tensor("output", "TENSOR_QUANT8_ASYMM_SIGNED"),
  ],
  types: [["1.3"]],
  ranks: { input: 2, outputStateIn: 2, cellStateIn: 2 },
  work: recurrentWork,
  infer({ input, outputStateIn, cellStateIn, ...args }) {
    const [batches, inputs] = input.dimensions;
    const sizes = lstmSizes(lstmCell(args), inputs);
    ensureShape("the output states", outputStateIn, [batches, sizes.outputs]);
    ensureShape("the cell states", cellStateIn, [batches, sizes.units]);
    stateExponent(cellStateIn.scale);
    const { inputIntermediateScale, forgetIntermediateScale, cellIntermediateScale, outputIntermediateScale } = args;
    const scales = { forgetIntermediateScale, cellIntermediateScale, outputIntermediateScale };
    for (const [name, scale] of Object.entries({ ...scales, hiddenStateScale: args.hiddenStateScale })) {
      ensure(scale > 0, () => `${name}: expected a number > 0, got ${scale}`);
    }
    ensure(
      args.inputToInputWeights === undefined || inputIntermediateScale > 0,
      () => `inputIntermediateScale: expected a number > 0, got ${inputIntermediateScale}`,
    );
    const { hiddenStateZeroPoint } = args;
    ensure(
      hiddenStateZeroPoint >= -128 && hiddenStateZeroPoint <= 127,
      () => `hiddenStateZeroPoint: expected a number within [-128, 127], got ${hiddenStateZeroPoint}`,
    );
    const output = {
      dimensions: outputStateIn.dimensions,
      scale: outputStateIn.scale,
      zeroPoint: outputStateIn.zeroPoint,
    };
    const cellStateOut = { dimensions: cellStateIn.dimensions, scale: cellStateIn.scale, zeroPoint: 0 };
    return { outputStateOut: output, cellStateOut, output };
  },
  reference({ input, outputStateIn, cellStateIn, ...args }, { outputStateOut, cellStateOut, output }) {
    const [batches, inputs] = input.dimensions;
    const cell = lstmCell(args);
    const { units, outputs } = lstmSizes(cell, inputs);
    const exponent = stateExponent(cellStateIn.scale);
    const shared = { input, outputStateIn, stateScale: cellStateIn.scale };
    const inputGate = cell.inputGate && gateOf(cell.inputGate, args.inputIntermediateScale, shared);
    const forgetGate = gateOf(cell.forgetGate, args.forgetIntermediateScale, shared);
    const cellGate = gateOf(cell.cellGate, args.cellIntermediateScale, shared);
    const outputGate = gateOf(cell.outputGate, args.outputIntermediateScale, shared);
    const hiddenMultiplier = quantiseMultiplier(effectiveScale(2 ** -15, 2 ** -15, args.hiddenStateScale));
    const cellClip = args.cellClip > 0 ? Math.min(Math.trunc(args.cellClip / cellStateIn.scale), 32767) : 32768;
    const project =
      args.projectionWeights && projection(args.projectionWeights, args.projectionBias, outputStateIn, args);
    const { logistic, tanh } = fixedPoint16;
    const runBatch = (batch: number) => {
      const state = Int16Array.from(cellStateIn.data.subarray(batch * units, (batch + 1) * units));
      const keep = forgetGate(batch, state).map((value) => logistic(value, GATE_BITS));
      const proposal = cellGate(batch, state).map((value) => tanh(value, GATE_BITS));
      const take = inputGate
        ? inputGate(batch, state).map((value) => logistic(value, GATE_BITS))
        : keep.map((value) => 32767 - value);
      for (let unit = 0; unit < units; unit++) {
        const kept = toInt16(roundingDivideByPowerOfTwo(keep[unit] * state[unit], 15));
        const added = toInt16(roundingDivideByPowerOfTwo(take[unit] * proposal[unit], 30 + exponent));
        state[unit] = clamp(clamp(kept + added, -32768, 32767), -cellClip, cellClip);
      }
      const show = outputGate(batch, state).map((value) => logistic(value, GATE_BITS));
      const hidden = new Int8Array(units);
      for (let unit = 0; unit < units; unit++) {
        const product = show[unit] * tanh(state[unit], exponent + 15);
        const scaled = multiplyByQuantisedMultiplier(product, hiddenMultiplier);
        // Android's kernel and .tflite's subtract this zero point; the projection adds it again.
        hidden[unit] = clamp(scaled - args.hiddenStateZeroPoint, -128, 127);
      }
      const results = project ? project(hidden, outputs) : hidden;
      cellStateOut.data.set(state, batch * units);
      outputStateOut.data.set(results, batch * outputs);
      output.data.set(results, batch * outputs);
    };
    return {
      units: batches,
      cost: 4 * (units + 1) * (4 * (inputs + outputs) + outputs),
      compute(first, end) {
        for (let batch = first; batch < end; batch++) runBatch(batch);
      },
    };
  },
});

/** The exponent of a cell state's scale, a power of two: 16 bits, 0 to 6 of them integer bits. */
function stateExponent(scale: number): number {
  const exponent = Math.round(Math.log2(scale));
  ensure(
    Math.abs(Math.log2(scale) - exponent) < 1e-3 && exponent >= -15 && exponent <= -9,
    () => `the cell state's scale: expected a power of two from 2^-15 to 2^-9, got ${scale}`,
  );
  return exponent;
}

/** The input of a gate for a batch and a cell state: one 16-bit value with 3 integer bits for each unit. */
function gateOf(
  gate: Gate,
  intermediateScale: number,
  { input, outputStateIn, stateScale }: { input: Tensor; outputStateIn: Tensor; stateScale: number },
): (batch: number, state: Int16Array) => Int16Array {
  const [units] = gate.input.dimensions;
  const fromInput = quantiseMultiplier(effectiveScale(gate.input.scale, input.scale, intermediateScale));
  const fromState = quantiseMultiplier(effectiveScale(gate.recurrent.scale, outputStateIn.scale, intermediateScale));
  const fromCell = gate.cell && quantiseMultiplier(effectiveScale(gate.cell.scale, stateScale, intermediateScale));
  return (batch, state) => {
    const values = new Int16Array(units);
    for (let unit = 0; unit < units; unit++) {
      const bias = gate.norm === undefined ? gate.bias.data[unit] : 0;
      let value = add(0, dot(input.data, batch, input.zeroPoint, gate.input, unit) + bias, fromInput);
      value = add(value, dot(outputStateIn.data, batch, outputStateIn.zeroPoint, gate.recurrent, unit), fromState);
      if (gate.cell && fromCell) value = add(value, gate.cell.data[unit] * state[unit], fromCell);
      values[unit] = value;
    }
    if (gate.norm) normaliseLayer(values, gate.norm, gate.bias);
    return values;
  };
}

/** sum + value · multiplier, saturated to 16 bits. */
function add(sum: number, value: number, multiplier: QuantisedMultiplier): number {
  return clamp(sum + multiplyByQuantisedMultiplier(value | 0, multiplier), -32768, 32767);
}

/** Σ (vector − zero point) · matrix row. */
function dot(vectors: ArrayLike<number>, batch: number, zeroPoint: number, matrix: Tensor, row: number): number {
  const columns = matrix.dimensions[1];
  let sum = 0;
  for (let column = 0; column < columns; column++) {
    sum += (vectors[batch * columns + column] - zeroPoint) * matrix.data[row * columns + column];
  }
  return sum;
}

/** Returns a function that projects hidden values to outputs. */
function projection(
  weights: Tensor,
  bias: Tensor | undefined,
  outputState: Tensor,
  settings: {
    readonly hiddenStateScale: number;
    readonly hiddenStateZeroPoint: number;
    readonly projectionClip: number;
  },
): (hidden: Int8Array, outputs: number) => Int8Array {
  const { hiddenStateScale, hiddenStateZeroPoint, projectionClip } = settings;
  const { scale, zeroPoint } = outputState;
  const multiplier = quantiseMultiplier(effectiveScale(weights.scale, hiddenStateScale, scale));
  const clip = projectionClip > 0 ? Math.trunc(projectionClip / scale) : Number.POSITIVE_INFINITY;
  return (hidden, outputs) => {
    const results = new Int8Array(outputs);
    for (let index = 0; index < outputs; index++) {
      const sum = dot(hidden, 0, -hiddenStateZeroPoint, weights, index) + (bias?.data[index] ?? 0);
      const value = clamp(multiplyByQuantisedMultiplier(sum | 0, multiplier), -clip, clip);
      results[index] = clamp(value + zeroPoint, -128, 127);
    }
    return results;
  };
}

function toInt16(value: number): number {
  return (value << 16) >> 16;
}
