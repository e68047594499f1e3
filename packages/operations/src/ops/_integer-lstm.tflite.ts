/**
 * The integer LSTM cell: activations of 8 or 16 bits, weights of 8, a cell state of 16. Sums of products are exact; each is then
 * rounded to the 16-bit scale of the gates, as are the results of their functions. With activations of 8 bits, multipliers and functions are
 * those in fixed point that .tflite has, so that steps do not add up along a sequence.
 */
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { fixedPoint16 } from "../fixed-point-functions.ts";
import type { Phase } from "../phases.ts";
import { integerRange, type OutputTensor, type Tensor } from "../tensor.ts";
import { sigmoid } from "./_gate-activation.ts";
import { integerScaling } from "./_integer-scaling.tflite.ts";
import { normaliseLayer } from "./_layer-norm.ts";
import { type Gate, type LstmCell, lstmSizes } from "./_lstm.ts";
import { plainProduct } from "./_matrix.ts";
import { sequenceOf } from "./_sequence.ts";

/** Scale of the sums of a gate: 12 fractional bits. */
const GATE = 2 ** -12;
/** Scale of the results of a gate's function: 15 fractional bits. */
const SHARE = 2 ** -15;
/** The least variance of a layer normalisation, by the scale of its weights: .tflite's guard against overflow. */
const LEAST_VARIANCE = 10_000;

/** Clips, and the quantisation of values inside the cell: see `lstmIntermediates`. */
export interface IntegerSettings {
  readonly cellClip: number;
  readonly projClip: number;
  readonly inputIntermediateScale: number;
  readonly forgetIntermediateScale: number;
  readonly cellIntermediateScale: number;
  readonly outputIntermediateScale: number;
  readonly hiddenStateZeroPoint: number;
  readonly hiddenStateScale: number;
}

/** A sequence, and the states before and after it. */
export interface IntegerRun {
  readonly input: Tensor;
  readonly timeMajor: boolean;
  readonly output: OutputTensor;
  readonly outputStateOut: OutputTensor;
  readonly cellStateOut: OutputTensor;
}

/** The vectors that the gates of a step read, less their zero points. */
interface Vectors {
  readonly input: Float64Array;
  readonly recurrent: Float64Array;
  readonly cell: Float64Array;
}

/** Integer bits of the sums of a gate. */
const GATE_BITS = 3;

/** Arithmetic of a cell: multiplication by real numbers, and functions whose results have 15 fractional bits. */
interface Arithmetic {
  /** Multiplies a sum of products of two tensors, of these scales, into steps of a result. */
  makeScaling(left: number, right: number, result: number): (sum: number) => number;
  /** Of the sums of a gate. */
  sigmoid(sum: number): number;
  tanh(sum: number): number;
  /** Of an element of the cell state. */
  stateTanh(element: number): number;
}

/** The arithmetic for a state of this scale. That in fixed point is of activations of 8 bits; it needs a power of two. */
function arithmeticOf({ type }: Tensor, memory: number): Arithmetic {
  const exponent = Math.round(Math.log2(memory));
  if (type === "TENSOR_QUANT8_ASYMM_SIGNED" && memory === 2 ** exponent && exponent >= -15 && exponent <= -9) {
    const { logistic, tanh } = fixedPoint16;
    return {
      makeScaling: integerScaling,
      sigmoid: (sum) => logistic(sum, GATE_BITS),
      tanh: (sum) => tanh(sum, GATE_BITS),
      stateTanh: (element) => tanh(element, exponent + 15),
    };
  }
  return {
    makeScaling(left, right, result) {
      const multiplier = (left * right) / result;
      return (sum) => roundHalfAway(sum * multiplier);
    },
    sigmoid: (sum) => shareOf(sigmoid(sum * GATE)),
    tanh: (sum) => shareOf(Math.tanh(sum * GATE)),
    stateTanh: (element) => shareOf(Math.tanh(element * memory)),
  };
}

const toInt16 = (value: number) => clamp(value, -32768, 32767);

/** Runs an integer cell along time. A unit is a step of a batch; the last one of each batch stores its states. */
export function runIntegerLstm(
  cell: LstmCell,
  { outputStateIn, cellStateIn, ...settings }: IntegerSettings & { outputStateIn: Tensor; cellStateIn: Tensor },
  { input, timeMajor, output, outputStateOut, cellStateOut }: IntegerRun,
): Phase {
  const from = sequenceOf(input.dimensions, timeMajor);
  const to = sequenceOf(output.dimensions, timeMajor);
  const { units, outputs, inputs } = lstmSizes(cell, from.size);
  const step = stepOf(cell, settings, { input, outputStateIn, cellStateIn });
  const vectors: Vectors = {
    input: new Float64Array(inputs),
    recurrent: new Float64Array(outputs),
    cell: new Float64Array(units),
  };
  const storeOutputs = ({ data }: OutputTensor, offset: number) => {
    for (let index = 0; index < outputs; index++)
      data[offset + index] = vectors.recurrent[index] + outputStateIn.zeroPoint;
  };
  const perBatch = from.times + 1;
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const [batch, time] = [Math.floor(unit / perBatch), unit % perBatch];
      if (time === 0) {
        centre(vectors.recurrent, outputStateIn, batch * outputs);
        centre(vectors.cell, cellStateIn, batch * units);
      }
      if (time < from.times) {
        centre(vectors.input, input, from.offset(time, batch));
        step(vectors);
        storeOutputs(output, to.offset(time, batch));
      } else {
        storeOutputs(outputStateOut, batch * outputs);
        cellStateOut.data.set(vectors.cell, batch * units);
      }
    }
  };
  return { units: from.batches * perBatch, cost: 4 * units * (inputs + outputs + 16), inTurn: true, compute };
}

/** Elements from an offset on, less the zero point. */
function centre(vector: Float64Array, { data, zeroPoint }: Tensor, offset: number): void {
  for (let index = 0; index < vector.length; index++) vector[index] = data[offset + index] - zeroPoint;
}

/** A step of the cell, which changes the vectors of its states. */
function stepOf(
  cell: LstmCell,
  settings: IntegerSettings,
  tensors: { readonly input: Tensor; readonly outputStateIn: Tensor; readonly cellStateIn: Tensor },
): (vectors: Vectors) => void {
  const { outputStateIn, cellStateIn } = tensors;
  const memory = cellStateIn.scale;
  const arithmetic = arithmeticOf(outputStateIn, memory);
  const { sigmoid, tanh, stateTanh } = arithmetic;
  const inputGate = cell.inputGate && gateOf(cell.inputGate, settings.inputIntermediateScale, tensors, arithmetic);
  const forgetGate = gateOf(cell.forgetGate, settings.forgetIntermediateScale, tensors, arithmetic);
  const cellGate = gateOf(cell.cellGate, settings.cellIntermediateScale, tensors, arithmetic);
  const outputGate = gateOf(cell.outputGate, settings.outputIntermediateScale, tensors, arithmetic);
  const project = projectionOf(cell, settings, outputStateIn, arithmetic);
  const cellClip = settings.cellClip > 0 ? Math.min(Math.trunc(settings.cellClip / memory), 32767) : 32768;
  const { hiddenStateScale, hiddenStateZeroPoint } = settings;
  // .tflite subtracts the zero point of the hidden state. Without a projection its elements of 8 bits are those of the output state.
  const isGiven = hiddenStateScale > 0 && outputStateIn.type === "TENSOR_QUANT8_ASYMM_SIGNED";
  const hidden = project || isGiven ? { scale: hiddenStateScale, zeroPoint: -hiddenStateZeroPoint } : outputStateIn;
  const toHidden = arithmetic.makeScaling(SHARE, SHARE, hidden.scale);
  const centre = project ? hidden.zeroPoint : outputStateIn.zeroPoint;
  const [least, greatest] = integerRange(outputStateIn.type);
  const results = new Float64Array(cell.outputGate.input.dimensions[0]);
  return (vectors) => {
    const state = vectors.cell;
    const keep = forgetGate(vectors, sigmoid);
    const proposal = cellGate(vectors, tanh);
    const take = inputGate?.(vectors, sigmoid);
    for (let unit = 0; unit < state.length; unit++) {
      const share = take === undefined ? 32767 - keep[unit] : take[unit];
      const kept = roundHalfAway(keep[unit] * state[unit] * SHARE);
      const added = roundHalfAway((share * proposal[unit] * SHARE * SHARE) / memory);
      state[unit] = clamp(toInt16(kept + toInt16(added)), -cellClip, cellClip);
    }
    const show = outputGate(vectors, sigmoid);
    for (let unit = 0; unit < state.length; unit++) {
      const element = clamp(toHidden(show[unit] * stateTanh(state[unit])) + hidden.zeroPoint, least, greatest);
      results[unit] = element - centre;
    }
    if (project) project(results, vectors.recurrent);
    else for (let unit = 0; unit < results.length; unit++) vectors.recurrent[unit] = results[unit];
  };
}

/** A number within [-1, 1] with 15 fractional bits. */
function shareOf(value: number): number {
  return Math.min(roundHalfAway(value / SHARE), 32767);
}

/** Computes a gate. The result is the gate's own and holds until it is computed again. */
function gateOf(
  gate: Gate,
  intermediateScale: number,
  {
    input,
    outputStateIn,
    cellStateIn,
  }: { readonly input: Tensor; readonly outputStateIn: Tensor; readonly cellStateIn: Tensor },
  { makeScaling: scaling }: Arithmetic,
): (vectors: Vectors, activation: (sum: number) => number) => Float64Array {
  const scale = gate.norm ? intermediateScale : GATE;
  const fromInput = scaling(gate.input.scale, input.scale, scale);
  const fromState = scaling(gate.recurrent.scale, outputStateIn.scale, scale);
  const fromCell = scaling(gate.cell?.scale ?? 0, cellStateIn.scale, scale);
  const leastVariance = gate.norm && Math.max(1, Math.trunc(LEAST_VARIANCE * gate.norm.scale));
  const [units] = gate.input.dimensions;
  const sums = new Float64Array(units);
  const recurrent = new Float64Array(units);
  return (vectors, activation) => {
    if (gate.norm) sums.fill(0);
    else sums.set(gate.bias.data);
    plainProduct(sums, gate.input, vectors.input, 0);
    recurrent.fill(0);
    plainProduct(recurrent, gate.recurrent, vectors.recurrent, 0);
    for (let unit = 0; unit < units; unit++) {
      let value = toInt16(fromInput(sums[unit]));
      value = toInt16(value + fromState(recurrent[unit]));
      if (gate.cell) value = toInt16(value + fromCell(gate.cell.data[unit] * vectors.cell[unit]));
      sums[unit] = value;
    }
    if (gate.norm) normaliseLayer(sums, gate.norm, gate.bias, leastVariance);
    for (let unit = 0; unit < units; unit++) sums[unit] = activation(sums[unit]);
    return sums;
  };
}

/** Returns a function that projects results to outputs, less the zero point of the output state; undefined without a projection. */
function projectionOf(
  { projection, projectionBias }: LstmCell,
  { hiddenStateScale, projClip }: IntegerSettings,
  { type, scale, zeroPoint }: Tensor,
  { makeScaling: scaling }: Arithmetic,
): ((hidden: Float64Array, outputs: Float64Array) => void) | undefined {
  if (projection === undefined) return undefined;
  const [least, greatest] = integerRange(type);
  // As in .tflite the clip bounds the elements, with their zero point.
  const clip = projClip > 0 ? Math.min(Math.trunc(projClip / scale), greatest) : greatest + 1;
  const toOutput = scaling(projection.scale, hiddenStateScale, scale);
  return (hidden, outputs) => {
    if (projectionBias) outputs.set(projectionBias.data);
    else outputs.fill(0);
    plainProduct(outputs, projection, hidden, 0);
    for (let index = 0; index < outputs.length; index++) {
      const element = clamp(toOutput(outputs[index]) + zeroPoint, least, greatest);
      outputs[index] = clamp(element, -clip, clip) - zeroPoint;
    }
  };
}
