/** LSTM cells of integers: QUANTIZED_LSTM and QUANTIZED_16BIT_LSTM. All gates are one product; the roundings are those of the reference. */
import type { KernelTensor } from "@nnhal/backend";
import { integerRange, type OperationArgs } from "@nnhal/operations";
import { effectiveScale, type Gate, lstmCell, lstmSizes } from "@nnhal/operations/compiling";
import { addElementwiseAt, type Builder, operandOf, outputOf, type Value } from "./builder.ts";
import { rowsOf } from "./convolution.ts";
import { type Expression, element, makeInteger, on, shiftBits, within } from "./expression.ts";
import { hyperbolicTangent16, logistic16, multiply16, rescale16 } from "./fixed-functions.ts";
import { divideByPower, fixedMultiple } from "./fixed-point.ts";
import { joinMatrices } from "./joined.ts";
import { addNormalisedLayer } from "./layer-norm.ts";
import type { LoweringTable } from "./lowering.ts";
import { wholeSums } from "./matrices.ts";
import type { Operand } from "./plan.ts";
import { addProduct } from "./weighted.ts";

/** Integer bits of a gate's input. */
const GATE_BITS = 3;

/** Integer bits of the cell state of QUANTIZED_16BIT_LSTM. */
const STATE_BITS = 4;

const within16 = (value: Expression): Expression => within(value, -32768, 32767);

/** The nearest number of 16 bits to a + b; a has as many. */
const add16 = (a: Expression, b: Expression): Expression => within16(on("add", a, within(b, -(2 ** 17), 2 ** 17)));

/** The lower 16 bits, with their sign. */
const lower16 = (value: Expression): Expression => shiftBits("shr", shiftBits("shl", value, 16), 16);

/** The vectors of a cell: units for each batch. */
interface Cell {
  readonly builder: Builder;
  readonly name: string;
  readonly batches: number;
  readonly units: number;
}

/** The element of a vector of each batch, from a place of it on; or of one vector for all batches. */
type Take = (value: Value, offset?: number) => Expression;

/** Adds a step that computes a number for each unit of each batch. */
function addStep(
  { builder, name, batches, units }: Cell,
  target: Value,
  work: number,
  write: (take: Take) => Expression,
): void {
  const operands: Operand[] = [];
  const take: Take = (value, offset = 0) => {
    const isShared = value.dimensions.length === 1;
    const steps = [isShared ? 0 : (value.dimensions[1] ?? 1), 1];
    return element(operands.push(operandOf(value, steps, offset)) - 1, "i32");
  };
  const value = write(take);
  addElementwiseAt(builder, name, [batches, units], operands, operandOf(target, [units, 1]), value, work);
}

/** Σ (vector - zero point) · (weight - zero point) of each row of weights, for each batch. */
function addSums({ builder, name, batches }: Cell, vectors: Value, input: KernelTensor, weights: KernelTensor): Value {
  const [columns = 1, depth = 1] = weights.dimensions;
  const target = builder.value("i32", [batches, columns]);
  const output = { ...input, type: "TENSOR_INT32", dimensions: target.dimensions } as const;
  const matrix = { filter: weights, depth, columns, depthStep: 1, columnStep: depth };
  const weighted = { input, weights: matrix, bias: undefined, output, activation: 0, sums: wholeSums };
  addProduct(builder, name, weighted, batches, rowsOf(vectors, batches, depth), target);
  return target;
}

/** A clip as a whole number of steps. */
const clipOf = (clip: number, scale: number, none: number): number => (clip > 0 ? Math.trunc(clip / scale) : none);

type Args = OperationArgs<"QUANTIZED_LSTM", KernelTensor>;

/** The input of a gate, of 16 bits: `place` is its number among the gates of the sums. */
function addGate(
  cell: Cell,
  args: Args,
  gate: Gate<KernelTensor>,
  place: number,
  intermediateScale: number,
  [fromInput, fromState]: readonly [Value, Value],
  state: Value,
): (take: Take) => Expression {
  const { builder, name, units } = cell;
  const { input, outputStateIn, cellStateIn } = args;
  const times = (sum: Expression, left: number, right: number) =>
    fixedMultiple(sum, effectiveScale(left, right, intermediateScale));
  const write = (take: Take): Expression => {
    const sum = take(fromInput, place * units);
    const first = gate.norm === undefined ? on("add", sum, take(builder.read(gate.bias))) : sum;
    const ofInput = within16(times(first, gate.input.scale, input.scale));
    const recurrent = times(take(fromState, place * units), gate.recurrent.scale, outputStateIn.scale);
    const both = add16(ofInput, recurrent);
    if (gate.cell === undefined) return both;
    const peephole = on("mul", take(builder.read(gate.cell)), take(state));
    return add16(both, times(peephole, gate.cell.scale, cellStateIn.scale));
  };
  if (gate.norm === undefined) return write;
  const values = builder.value("i32", [cell.batches, units]);
  addStep(cell, values, 40, write);
  const normal = addNormalisedLayer(builder, name, values, gate.norm, builder.read(gate.bias));
  return (take) => take(normal);
}

/** Adds the projection of the hidden values. */
function addProjection(cell: Cell, args: Args, hidden: Value, weights: KernelTensor, output: Value): void {
  const { builder, batches } = cell;
  const { outputStateIn, projectionBias, hiddenStateScale, hiddenStateZeroPoint, projectionClip } = args;
  const { scale, zeroPoint } = outputStateIn;
  const info = { ...outputStateIn, zeroPoint: -hiddenStateZeroPoint };
  const sums = addSums(cell, hidden, info, weights);
  const clip = clipOf(projectionClip, scale, 2 ** 31 - 1);
  const [, outputs = 1] = output.dimensions;
  addStep({ ...cell, batches, units: outputs }, output, 20, (take) => {
    const sum = take(sums);
    const all = projectionBias === undefined ? sum : on("add", sum, take(builder.read(projectionBias)));
    const scaled = fixedMultiple(all, effectiveScale(weights.scale, hiddenStateScale, scale));
    // The bounds of the type are within what can be added.
    const clipped = within(scaled, Math.max(-clip, -(2 ** 16)), Math.min(clip, 2 ** 16));
    return within(on("add", clipped, makeInteger(zeroPoint)), ...integerRange(outputStateIn.type));
  });
}

/** The lowerings. */
export const quantisedLstms: LoweringTable = {
  QUANTIZED_LSTM(args, outputs, builder) {
    const { input, outputStateIn, cellStateIn, projectionWeights } = args;
    const [batches = 1, inputs = 1] = input.dimensions;
    const operands = lstmCell<KernelTensor>(args);
    const { units } = lstmSizes(operands, inputs);
    const cell: Cell = { builder, name: "QUANTIZED_LSTM", batches, units };
    const { forgetGate, cellGate, outputGate, inputGate } = operands;
    const gates = [forgetGate, cellGate, outputGate, ...(inputGate === undefined ? [] : [inputGate])];
    const sumsOf = (tensor: KernelTensor, side: "input" | "recurrent") => {
      const weights = gates.map((gate) => gate[side]);
      return addSums(cell, builder.read(tensor), tensor, joinMatrices(builder, weights, 0));
    };
    const sums = [sumsOf(input, "input"), sumsOf(outputStateIn, "recurrent")] as const;
    const before = builder.read(cellStateIn);
    const state = outputOf(builder, outputs.cellStateOut);
    const exponent = Math.round(Math.log2(cellStateIn.scale));
    const gateOf = (gate: Gate<KernelTensor>, scale: number, from: Value) =>
      addGate(cell, args, gate, gates.indexOf(gate), scale, sums, from);
    const forget = gateOf(forgetGate, args.forgetIntermediateScale, before);
    const propose = gateOf(cellGate, args.cellIntermediateScale, before);
    const admit = inputGate && gateOf(inputGate, args.inputIntermediateScale, before);
    const clip = Math.min(clipOf(args.cellClip, cellStateIn.scale, 32768), args.cellClip > 0 ? 32767 : 32768);
    const whole = builder.value("i32", [batches, units]);
    addStep(cell, whole, 200, (take) => {
      const keep = logistic16(forget(take), GATE_BITS);
      const proposal = hyperbolicTangent16(propose(take), GATE_BITS);
      const share = admit === undefined ? on("sub", makeInteger(32767), keep) : logistic16(admit(take), GATE_BITS);
      const kept = lower16(divideByPower(on("mul", keep, take(before)), 15));
      const added = lower16(divideByPower(on("mul", share, proposal), 30 + exponent));
      return within(within16(on("add", kept, added)), -clip, clip);
    });
    addStep(cell, state, 4, (take) => take(whole));
    const show = gateOf(outputGate, args.outputIntermediateScale, state);
    const output = outputOf(builder, outputs.output);
    const hidden = projectionWeights === undefined ? output : builder.value(output.type, [batches, units]);
    const multiplier = effectiveScale(2 ** -15, 2 ** -15, args.hiddenStateScale);
    addStep(cell, hidden, 100, (take) => {
      const shown = on("mul", logistic16(show(take), GATE_BITS), hyperbolicTangent16(take(state), exponent + 15));
      const steps = within(fixedMultiple(shown, multiplier), -(2 ** 16), 2 ** 16);
      return within(on("sub", steps, makeInteger(args.hiddenStateZeroPoint)), -128, 127);
    });
    if (projectionWeights !== undefined) addProjection(cell, args, hidden, projectionWeights, output);
    return [output, state, output];
  },
  QUANTIZED_16BIT_LSTM(args, outputs, builder) {
    const { input, outputStateIn, cellStateIn, inputGateBias } = args;
    const [batches = 1] = input.dimensions;
    const [, units = 1] = outputStateIn.dimensions;
    const cell: Cell = { builder, name: "QUANTIZED_16BIT_LSTM", batches, units };
    // The values are the input and the state, the weights those of the state and of the input: see the reference.
    const rows = (recurrent: KernelTensor, own: KernelTensor) => joinMatrices(builder, [recurrent, own], 1);
    const weights = [
      rows(args.recurrentToInputWeights, args.inputToInputWeights),
      rows(args.recurrentToForgetWeights, args.inputToForgetWeights),
      rows(args.recurrentToCellWeights, args.inputToCellWeights),
      rows(args.recurrentToOutputWeights, args.inputToOutputWeights),
    ];
    const values = joinMatrices(builder, [input, outputStateIn], 1);
    const sums = addSums(cell, builder.read(values), values, joinMatrices(builder, weights, 0));
    const biases = [inputGateBias, args.forgetGateBias, args.cellBias, args.outputGateBias];
    const multiplier = inputGateBias.scale * 2 ** 12;
    const gate = (take: Take, place: number): Expression => {
      const bias = biases[place];
      if (bias === undefined) throw new RangeError(`there is no gate ${place}`);
      const sum = on("add", take(sums, place * units), take(builder.read(bias)));
      return within16(fixedMultiple(sum, multiplier));
    };
    const before = builder.read(cellStateIn);
    const [state, output] = [outputOf(builder, outputs.cellStateOut), outputOf(builder, outputs.output)];
    const whole = builder.value("i32", [batches, units]);
    addStep(cell, whole, 200, (take) => {
      const [share, keep] = [logistic16(gate(take, 0), GATE_BITS), logistic16(gate(take, 1), GATE_BITS)];
      const proposal = hyperbolicTangent16(gate(take, 2), GATE_BITS);
      const added = rescale16(multiply16(share, proposal), 0, STATE_BITS);
      return within16(on("add", added, multiply16(keep, take(before))));
    });
    addStep(cell, state, 4, (take) => take(whole));
    addStep(cell, output, 100, (take) => {
      const show = logistic16(gate(take, 3), GATE_BITS);
      const shown = multiply16(show, hyperbolicTangent16(rescale16(take(state), STATE_BITS, GATE_BITS), GATE_BITS));
      return on("add", within(divideByPower(shown, 8), -128, 127), makeInteger(128));
    });
    return [state, output];
  },
};
