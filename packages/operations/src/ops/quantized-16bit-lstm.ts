/**
 * QUANTIZED_16BIT_LSTM: one step of an LSTM cell on 8-bit values with a 16-bit cell state, in fixed point throughout. All
 * scales are fixed by the document: 1/128 for values, 2^-11 for the cell state, 2^-12 for the inputs of the gates.
 *
 * The document multiplies input weights with the input and recurrent weights with the previous output. The reference
 * implementation lays a row of weights out as recurrent, then input, but the values as input, then previous output, and
 * multiplies those element by element. The conformance vectors hold its results, so this kernel does the same.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import {
  clamp,
  multiplyByQuantisedMultiplier,
  type QuantisedMultiplier,
  quantiseMultiplier,
  roundingDivideByPowerOfTwo,
} from "../fixed-point.ts";
import { fixedPoint16 } from "../fixed-point-functions.ts";
import { tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import { recurrentWork } from "../work.ts";

const VALUE = { scale: 1 / 128, zeroPoint: 128 } as const;
const CELL_STATE = { scale: 2 ** -11, zeroPoint: 0 } as const;
/** Integer bits of a gate's input, and of the cell state. */
const GATE_BITS = 3;
const STATE_BITS = 4;

export const quantized16bitLstm = defineOperation({
  name: "QUANTIZED_16BIT_LSTM",
  code: OperationType.QUANTIZED_16BIT_LSTM,
  summary: "One step of a long short-term memory cell on 8-bit values with a 16-bit cell state.",
  params: [
    tensor("input", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToInputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToForgetWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToCellWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputToOutputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToInputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToForgetWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToCellWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("recurrentToOutputWeights", "TENSOR_QUANT8_ASYMM"),
    tensor("inputGateBias", "TENSOR_INT32"),
    tensor("forgetGateBias", "TENSOR_INT32"),
    tensor("cellBias", "TENSOR_INT32"),
    tensor("outputGateBias", "TENSOR_INT32"),
    tensor("cellStateIn", "TENSOR_QUANT16_SYMM"),
    tensor("outputStateIn", "TENSOR_QUANT8_ASYMM"),
  ],
  outputs: [tensor("cellStateOut", "TENSOR_QUANT16_SYMM"), tensor("output", "TENSOR_QUANT8_ASYMM")],
  types: [["1.2"]],
  ranks: { input: 2, outputStateIn: 2, cellStateIn: 2 },
  work: recurrentWork,
  infer({ input, cellStateIn, outputStateIn, ...operands }) {
    const [batches, inputs] = input.dimensions;
    const units = outputStateIn.dimensions[1];
    ensureQuantisation("the input", input, VALUE.scale, VALUE.zeroPoint);
    ensureQuantisation("the previous output", outputStateIn, VALUE.scale, VALUE.zeroPoint);
    ensureQuantisation("the previous cell state", cellStateIn, CELL_STATE.scale, CELL_STATE.zeroPoint);
    ensureShape("the previous output", outputStateIn, [batches, units]);
    ensureShape("the previous cell state", cellStateIn, [batches, units]);
    const { scale, zeroPoint } = operands.inputToInputWeights;
    for (const [name, operand] of Object.entries(operands)) {
      if (name.endsWith("Weights")) {
        ensureShape(`the ${name}`, operand, [units, name.startsWith("input") ? inputs : units]);
        ensureQuantisation(`the ${name}`, operand, scale, zeroPoint);
      } else {
        ensureShape(`the ${name}`, operand, [units]);
        ensureQuantisation(`the ${name}`, operand, scale / 128, 0);
      }
    }
    const dimensions = [batches, units];
    return { cellStateOut: { dimensions, ...CELL_STATE }, output: { dimensions, ...VALUE } };
  },
  reference(operands, { cellStateOut, output }) {
    const { input, cellStateIn, outputStateIn } = operands;
    const [batches, inputs] = input.dimensions;
    const units = outputStateIn.dimensions[1];
    const multiplier = quantiseMultiplier(operands.inputGateBias.scale * 2 ** 12);
    const { multiply, rescale, logistic, tanh } = fixedPoint16;
    const o = operands;
    const inputGate = gateOf(o.inputToInputWeights, o.recurrentToInputWeights, o.inputGateBias, multiplier);
    const forgetGate = gateOf(o.inputToForgetWeights, o.recurrentToForgetWeights, o.forgetGateBias, multiplier);
    const cellGate = gateOf(o.inputToCellWeights, o.recurrentToCellWeights, o.cellBias, multiplier);
    const outputGate = gateOf(o.inputToOutputWeights, o.recurrentToOutputWeights, o.outputGateBias, multiplier);
    // A unit is a unit of the cell, of a batch.
    const compute = (first: number, end: number) => {
      const values = new Int32Array(inputs + units);
      for (let at = first; at < end; at++) {
        const [batch, unit] = [Math.floor(at / units), at % units];
        if (unit === 0 || at === first) readValues(input, outputStateIn, batch, values);
        const take = logistic(inputGate(unit, values), GATE_BITS);
        const keep = logistic(forgetGate(unit, values), GATE_BITS);
        const proposal = tanh(cellGate(unit, values), GATE_BITS);
        const show = logistic(outputGate(unit, values), GATE_BITS);
        const added = rescale(multiply(take, proposal), 0, STATE_BITS);
        const state = clamp(added + multiply(keep, cellStateIn.data[at]), -32768, 32767);
        const shown = multiply(show, tanh(rescale(state, STATE_BITS, GATE_BITS), GATE_BITS));
        cellStateOut.data[at] = state;
        output.data[at] = 128 + clamp(roundingDivideByPowerOfTwo(shown, 8), -128, 127);
      }
    };
    return { units: batches * units, cost: 8 * (inputs + units + 16), compute };
  },
});

/** The input of a batch, then its previous output, without their zero points. */
function readValues(input: Tensor, state: Tensor, batch: number, values: Int32Array): void {
  const inputs = input.dimensions[1];
  const units = state.dimensions[1];
  for (let index = 0; index < inputs; index++) {
    values[index] = input.data[batch * inputs + index] - input.zeroPoint;
  }
  for (let unit = 0; unit < units; unit++) {
    values[inputs + unit] = state.data[batch * units + unit] - state.zeroPoint;
  }
}

/** The input of a gate's unit: bias + Σ weight · value, in 16 bits, 3 of them integer bits. The recurrent weights come first. */
function gateOf(
  weights: Tensor,
  recurrentWeights: Tensor,
  bias: Tensor,
  multiplier: QuantisedMultiplier,
): (unit: number, values: Int32Array) => number {
  const inputs = weights.dimensions[1];
  const columns = recurrentWeights.dimensions[1];
  const { zeroPoint } = weights;
  return (unit, values) => {
    let sum = bias.data[unit];
    for (let index = 0; index < columns; index++) {
      sum += values[index] * (recurrentWeights.data[unit * columns + index] - zeroPoint);
    }
    for (let index = 0; index < inputs; index++) {
      sum += values[columns + index] * (weights.data[unit * inputs + index] - zeroPoint);
    }
    return clamp(multiplyByQuantisedMultiplier(sum | 0, multiplier), -32768, 32767);
  };
}

function ensureQuantisation(name: string, operand: TensorInfo, scale: number, zeroPoint: number): void {
  const shown = `scale ${operand.scale} and zero point ${operand.zeroPoint}`;
  ensure(
    operand.scale === scale && operand.zeroPoint === zeroPoint,
    () => `the quantisation of ${name}: expected ${scale} and ${zeroPoint}, got ${shown}`,
  );
}
