/**
 * Plausible operands of recurrent cells: one set of sizes, and the optional parts of a cell there or not.
 */
import type { Draw, Plausible, Wanted, WantedArguments, WantedTensor } from "../wanted.ts";

/** The sizes that the operands of one cell share. */
interface Sizes {
  readonly inputs: number;
  readonly units: number;
  readonly outputs: number;
}

const tensor = (...dimensions: readonly number[]): WantedTensor => ({ dimensions });

/** The operands of an LSTM cell. `auxiliaries`: the size of its auxiliary input. */
function lstmCell(draw: Draw, { inputs, units, outputs }: Sizes, auxiliaries?: number): WantedArguments {
  const hasInputGate = draw.chance(0.6);
  const hasPeephole = draw.chance(0.4);
  const hasProjection = outputs !== units || draw.chance(0.4);
  const hasNorm = draw.has("forgetLayerNormWeights") || draw.has("fwForgetLayerNormWeights") ? draw.chance(0.4) : false;
  const where = (condition: boolean, ...dimensions: readonly number[]): Wanted =>
    condition ? tensor(...dimensions) : undefined;
  const hasAuxiliary = auxiliaries !== undefined;
  return {
    inputToInputWeights: where(hasInputGate, units, inputs),
    inputToForgetWeights: tensor(units, inputs),
    inputToCellWeights: tensor(units, inputs),
    inputToOutputWeights: tensor(units, inputs),
    recurrentToInputWeights: where(hasInputGate, units, outputs),
    recurrentToForgetWeights: tensor(units, outputs),
    recurrentToCellWeights: tensor(units, outputs),
    recurrentToOutputWeights: tensor(units, outputs),
    cellToInputWeights: where(hasInputGate && hasPeephole, units),
    cellToForgetWeights: where(hasPeephole, units),
    cellToOutputWeights: where(hasPeephole, units),
    inputGateBias: where(hasInputGate, units),
    forgetGateBias: tensor(units),
    cellBias: tensor(units),
    outputGateBias: tensor(units),
    projectionWeights: where(hasProjection, outputs, units),
    projectionBias: where(hasProjection && draw.chance(0.5), outputs),
    inputLayerNormWeights: where(hasInputGate && hasNorm, units),
    forgetLayerNormWeights: where(hasNorm, units),
    cellLayerNormWeights: where(hasNorm, units),
    outputLayerNormWeights: where(hasNorm, units),
    auxiliaryToInputWeights: where(hasAuxiliary && hasInputGate, units, auxiliaries ?? 0),
    auxiliaryToForgetWeights: where(hasAuxiliary, units, auxiliaries ?? 0),
    auxiliaryToCellWeights: where(hasAuxiliary, units, auxiliaries ?? 0),
    auxiliaryToOutputWeights: where(hasAuxiliary, units, auxiliaries ?? 0),
  };
}

function drawSizes(draw: Draw, inputs = draw.integer(1, 4)): Sizes {
  const units = draw.integer(1, 4);
  return { inputs, units, outputs: draw.chance(0.6) ? units : draw.integer(1, 4) };
}

const cellActivation = (draw: Draw) => draw.pick([0, 1, 3, 4, 4, 6]);

function lstmScalars(draw: Draw): WantedArguments {
  return { activation: cellActivation(draw), cellClip: draw.pick([0, 1]), projectionClip: draw.pick([0, 1]) };
}

function states(batches: number, { units, outputs }: Sizes): WantedArguments {
  return { outputStateIn: tensor(batches, outputs), cellStateIn: tensor(batches, units) };
}

/** The same arguments for one direction: `bias` becomes `fwBias`. */
function addPrefix(prefix: "fw" | "bw", args: WantedArguments): WantedArguments {
  const entries = Object.entries(args).map(([name, value]) => [
    prefix + name.charAt(0).toUpperCase() + name.slice(1),
    value,
  ]);
  return Object.fromEntries(entries);
}

/** A sequence's first two extents, batches, and whether time comes first. */
function drawSequence(draw: Draw) {
  const timeMajor = draw.chance(0.5);
  const [times, batches] = [draw.integer(1, 3), draw.integer(1, 2)];
  return { timeMajor, batches, leading: timeMajor ? [times, batches] : [batches, times] };
}

/** Draws the use of the auxiliary input of a bidirectional operation. */
function drawLinking(draw: Draw, inputs: number) {
  const linking = draw.pick(["none", "none", "parallel", "cross"]);
  const auxiliaries = draw.integer(1, 3);
  return {
    auxiliaryInputs: linking === "none" ? undefined : auxiliaries,
    auxiliaries: linking === "cross" ? auxiliaries : undefined,
    bwInputs: linking === "parallel" ? auxiliaries : inputs,
  };
}

function rnnCell(inputs: number, units: number, batches: number, auxiliaries?: number): WantedArguments {
  return {
    weights: tensor(units, inputs),
    recurrentWeights: tensor(units, units),
    bias: tensor(units),
    hiddenStateIn: tensor(batches, units),
    auxiliaryWeights: auxiliaries === undefined ? undefined : tensor(units, auxiliaries),
  };
}

export const recurrentHints: Readonly<Record<string, Plausible>> = {
  LSTM(draw) {
    const sizes = drawSizes(draw);
    const batches = draw.integer(1, 3);
    return {
      input: tensor(batches, sizes.inputs),
      ...lstmCell(draw, sizes),
      ...states(batches, sizes),
      ...lstmScalars(draw),
    };
  },
  UNIDIRECTIONAL_SEQUENCE_LSTM(draw) {
    const sizes = drawSizes(draw);
    const { timeMajor, batches, leading } = drawSequence(draw);
    return {
      input: tensor(...leading, sizes.inputs),
      timeMajor,
      ...lstmCell(draw, sizes),
      ...states(batches, sizes),
      ...lstmScalars(draw),
    };
  },
  BIDIRECTIONAL_SEQUENCE_LSTM(draw) {
    const { timeMajor, batches, leading } = drawSequence(draw);
    const fw = drawSizes(draw);
    const { auxiliaryInputs, auxiliaries, bwInputs } = drawLinking(draw, fw.inputs);
    const bw = drawSizes(draw, bwInputs);
    return {
      input: tensor(...leading, fw.inputs),
      auxiliaryInput: auxiliaryInputs === undefined ? undefined : tensor(...leading, auxiliaryInputs),
      timeMajor,
      mergeOutputs: !draw.has("bwOutput"),
      ...addPrefix("fw", { ...lstmCell(draw, fw, auxiliaries), ...states(batches, fw) }),
      ...addPrefix("bw", { ...lstmCell(draw, bw, auxiliaries), ...states(batches, bw) }),
      ...lstmScalars(draw),
    };
  },
  RNN(draw) {
    const [batches, inputs, units] = [draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 4)];
    return { input: tensor(batches, inputs), ...rnnCell(inputs, units, batches) };
  },
  UNIDIRECTIONAL_SEQUENCE_RNN(draw) {
    const { timeMajor, batches, leading } = drawSequence(draw);
    const [inputs, units] = [draw.integer(1, 4), draw.integer(1, 4)];
    return { input: tensor(...leading, inputs), timeMajor: Number(timeMajor), ...rnnCell(inputs, units, batches) };
  },
  BIDIRECTIONAL_SEQUENCE_RNN(draw) {
    const { timeMajor, batches, leading } = drawSequence(draw);
    const inputs = draw.integer(1, 4);
    const { auxiliaryInputs, auxiliaries, bwInputs } = drawLinking(draw, inputs);
    return {
      input: tensor(...leading, inputs),
      auxiliaryInput: auxiliaryInputs === undefined ? undefined : tensor(...leading, auxiliaryInputs),
      timeMajor,
      mergeOutputs: !draw.has("bwOutput"),
      ...addPrefix("fw", rnnCell(inputs, draw.integer(1, 4), batches, auxiliaries)),
      ...addPrefix("bw", rnnCell(bwInputs, draw.integer(1, 4), batches, auxiliaries)),
    };
  },
  SVDF(draw) {
    const [batches, inputs, rank] = [draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 2)];
    const [units, memory] = [draw.integer(1, 3), draw.integer(1, 4)];
    const filters = units * rank;
    return {
      input: tensor(batches, inputs),
      featureWeights: tensor(filters, inputs),
      timeWeights: tensor(filters, memory),
      bias: draw.chance(0.5) ? tensor(units) : undefined,
      stateIn: tensor(batches, memory * filters),
      rank,
    };
  },
  QUANTIZED_16BIT_LSTM(draw) {
    const [batches, inputs, units] = [draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 4)];
    const weights = { scale: draw.scale(), zeroPoint: draw.integer(0, 255) };
    const value = { scale: 1 / 128, zeroPoint: 128 };
    const bias = { dimensions: [units], scale: Math.fround(weights.scale) / 128 };
    const gates = ["Input", "Forget", "Cell", "Output"].flatMap((gate): [string, Wanted][] => [
      [`inputTo${gate}Weights`, { dimensions: [units, inputs], ...weights }],
      [`recurrentTo${gate}Weights`, { dimensions: [units, units], ...weights }],
    ]);
    return {
      ...Object.fromEntries(gates),
      input: { dimensions: [batches, inputs], ...value },
      inputGateBias: bias,
      forgetGateBias: bias,
      cellBias: bias,
      outputGateBias: bias,
      cellStateIn: { dimensions: [batches, units], scale: 2 ** -11 },
      outputStateIn: { dimensions: [batches, units], ...value },
    };
  },
  QUANTIZED_LSTM(draw) {
    const sizes = drawSizes(draw);
    const batches = draw.integer(1, 3);
    const { outputStateIn } = states(batches, sizes);
    return {
      input: tensor(batches, sizes.inputs),
      ...lstmCell(draw, sizes),
      outputStateIn,
      cellStateIn: { dimensions: [batches, sizes.units], scale: 2 ** -draw.integer(9, 15) },
      cellClip: draw.pick([0, 1]),
      projectionClip: draw.pick([0, 1]),
      hiddenStateZeroPoint: draw.integer(-128, 127),
      hiddenStateScale: draw.scale(),
    };
  },
};
