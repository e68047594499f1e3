/**
 * Recurrent operations on floats: LSTM, RNN, SVDF, and the sequence operations.
 */
import type { OperandTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import { elementCount } from "../tensor.ts";
import {
  auxiliaryNames,
  type CellShape,
  type CellValues,
  cellNames,
  lstmFormula,
  normNames,
  type StepSettings,
  shapeOfOperand,
} from "./_lstm.test-helper.ts";
import {
  boolScalar,
  declared,
  f32,
  f32Scalar,
  type Given,
  i32Scalar,
  mismatchOf,
  omitted,
  runOperation,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes, type Versions } from "./_signature.test-helper.ts";
import { bidirectionalSequenceLstm } from "./bidirectional-sequence-lstm.ts";
import { bidirectionalSequenceRnn } from "./bidirectional-sequence-rnn.ts";
import { lstm } from "./lstm.ts";
import { rnn } from "./rnn.ts";
import { svdf } from "./svdf.ts";
import { unidirectionalSequenceLstm } from "./unidirectional-sequence-lstm.ts";
import { unidirectionalSequenceRnn } from "./unidirectional-sequence-rnn.ts";

const none = omitted("TENSOR_FLOAT32");
const float = declared("TENSOR_FLOAT32");
const floats = (count: number) => ({ outputs: new Array(count).fill(float) });
const of = (type: OperandTypeName, count: number) => new Array(count).fill(declared(type));
const firstVersions: Versions = { TENSOR_FLOAT32: "1.0", TENSOR_FLOAT16: "1.2" };
const laterVersions: Versions = { TENSOR_FLOAT32: "1.2", TENSOR_FLOAT16: "1.2" };

/** Small numbers in no order, others for every seed. */
function some(shape: readonly number[], seed: number): Given {
  return f32(
    shape,
    Array.from({ length: elementCount(shape) }, (_, index) => Math.sin((index + 1) * 12.9898 + seed * 78.233)),
  );
}

function expectClose(actual: readonly number[], expected: readonly number[], tolerance = 2e-6): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, index) => {
    expect(Math.abs(value - expected[index]), `element ${index}`).toBeLessThanOrEqual(tolerance);
  });
}

/** A list of inputs by name; what is replaced keeps its place. */
type Named = Readonly<Record<string, Given>>;

function inOrder(inputs: Named, changes: Named = {}): Given[] {
  for (const name of Object.keys(changes)) if (!(name in inputs)) throw new RangeError(`no input ${name}`);
  return Object.values({ ...inputs, ...changes });
}

/** The same operands of another type; FLOAT32 scalars become FLOAT16 where tensors do. */
function retyped(inputs: readonly Given[], type: OperandTypeName): Given[] {
  return inputs.map((input) => {
    if (input.type === "TENSOR_FLOAT32") return input.omitted ? omitted(type) : tensorOf(type, input.dimensions);
    return input.type === "FLOAT32" && type === "TENSOR_FLOAT16" ? tensorOf("FLOAT16", [], [1]) : input;
  });
}

function operandsOf(names: readonly string[], cell: CellShape, seed: number, prefix = ""): Named {
  return Object.fromEntries(
    names.map((name, index) => {
      const shape = shapeOfOperand(name, cell);
      const key = prefix === "" ? name : prefix + name[0].toUpperCase() + name.slice(1);
      return [key, shape === undefined ? none : some(shape, seed + index)];
    }),
  );
}

function lstmInputs(cell: CellShape, { batches = 2, activation = 4, cellClip = 0, projectionClip = 0 } = {}): Named {
  return {
    input: some([batches, cell.inputs], 1),
    ...operandsOf(cellNames, cell, 10),
    outputStateIn: some([batches, cell.outputs ?? cell.units], 2),
    cellStateIn: some([batches, cell.units], 3),
    activation: i32Scalar(activation),
    cellClip: f32Scalar(cellClip),
    projectionClip: f32Scalar(projectionClip),
    ...(cell.norm ? operandsOf(normNames, cell, 50) : {}),
  };
}

/** Real values of the operands of a cell, read from a named list. */
function valuesOfCell(inputs: Named, prefix = ""): CellValues {
  const names = [...cellNames, ...normNames, ...auxiliaryNames];
  return Object.fromEntries(
    names.map((name) => {
      const given = inputs[prefix === "" ? name : prefix + name[0].toUpperCase() + name.slice(1)];
      return [name, given === undefined || given.omitted ? undefined : valuesOf(given)];
    }),
  );
}

/** Row `index` of a tensor read as rows of its last extent. */
function row(tensor: Given, index: number): number[] {
  const length = tensor.dimensions[tensor.dimensions.length - 1];
  return valuesOf(tensor).slice(index * length, (index + 1) * length);
}

const full: CellShape = { inputs: 3, units: 4, outputs: 2, peephole: true, projection: "biased", norm: true };
const cells: readonly (readonly [string, CellShape])[] = [
  ["plain", { inputs: 3, units: 4 }],
  ["coupled", { inputs: 3, units: 4, coupled: true }],
  ["with peepholes", { inputs: 3, units: 4, peephole: true }],
  ["coupled with peepholes", { inputs: 2, units: 3, coupled: true, peephole: true }],
  ["with a projection", { inputs: 3, units: 4, outputs: 2, projection: "plain" }],
  ["with a biased projection", { inputs: 3, units: 4, outputs: 5, projection: "biased" }],
  ["normalised", { inputs: 3, units: 4, norm: true }],
  ["coupled and normalised", { inputs: 3, units: 4, coupled: true, norm: true }],
  ["with everything", full],
];

describe("LSTM", () => {
  function expectStep(inputs: Named, settings: StepSettings = {}): void {
    const [, outputState, cellState, output] = runOperation(lstm, inOrder(inputs), floats(4));
    const { input, outputStateIn, cellStateIn } = inputs;
    const cell = valuesOfCell(inputs);
    const steps = Array.from({ length: input.dimensions[0] }, (_, batch) =>
      lstmFormula(cell, row(input, batch), row(outputStateIn, batch), row(cellStateIn, batch), settings),
    );
    expectClose(
      valuesOf(output),
      steps.flatMap((step) => step.output),
    );
    expectClose(
      valuesOf(cellState),
      steps.flatMap((step) => step.cell),
    );
    expect(valuesOf(outputState)).toEqual(valuesOf(output));
  }

  it("of one unit, by hand", () => {
    const inputs: Named = Object.fromEntries(
      Object.entries(lstmInputs({ inputs: 1, units: 1 }, { batches: 1, activation: 0 })).map(([name, given]) => [
        name,
        given.type === "TENSOR_FLOAT32" && !given.omitted ? f32(given.dimensions) : given,
      ]),
    );
    // All gates are σ(0) = 1/2: c' = 1/2 · 4 + 1/2 · (3 · 2 + 5 · 1 + 1) and h' = 1/2 · c'.
    const changes = {
      input: f32([1, 1], [2]),
      outputStateIn: f32([1, 1], [1]),
      cellStateIn: f32([1, 1], [4]),
      inputToCellWeights: f32([1, 1], [3]),
      recurrentToCellWeights: f32([1, 1], [5]),
      cellBias: f32([1], [1]),
    };
    const [scratch, ...results] = runOperation(lstm, inOrder(inputs, changes), floats(4));
    expect(results.map(valuesOf)).toEqual([[4], [8], [4]]);
    expect(scratch.dimensions).toEqual([1, 4]);
  });

  it.each(cells)("%s is what the formula gives", (_, cell) => expectStep(lstmInputs(cell)));

  it.each([
    [0, (x: number) => x],
    [1, (x: number) => Math.max(x, 0)],
    [3, (x: number) => Math.max(0, Math.min(6, x))],
    [4, Math.tanh],
    [6, (x: number) => 1 / (1 + Math.exp(-x))],
  ])("with activation %d", (activation, activate) => {
    expectStep(lstmInputs({ inputs: 3, units: 4 }, { activation }), { activate });
  });

  it.each([-1, 2, 5, 7])("refuses activation %d", (activation) => {
    const inputs = inOrder(lstmInputs({ inputs: 1, units: 1 }, { activation }));
    expect(() => runOperation(lstm, inputs, floats(4))).toThrow(`activation ${activation} is none of`);
  });

  it("clips cell and projection", () => {
    expectStep(lstmInputs(full, { cellClip: 0.25, projectionClip: 0.125 }), { cellClip: 0.25, projectionClip: 0.125 });
  });

  it.each(["cellClip", "projectionClip"])("refuses a negative %s", (name) => {
    const inputs = inOrder(lstmInputs(full, { [name]: -0.5 }));
    expect(() => runOperation(lstm, inputs, floats(4))).toThrow("-0.5, less than 0");
  });

  it("has a scratch buffer of a quarter less where the gates are coupled", () => {
    const [scratch] = runOperation(lstm, inOrder(lstmInputs({ inputs: 1, units: 5, coupled: true })), floats(4));
    expect(scratch.dimensions).toEqual([2, 15]);
  });

  it("does nothing for no batches", () => {
    const outputs = runOperation(lstm, inOrder(lstmInputs(full, { batches: 0 })), floats(4));
    expect(outputs.map(({ dimensions }) => dimensions)).toEqual([
      [0, 16],
      [0, 2],
      [0, 4],
      [0, 2],
    ]);
  });

  it.each([
    ["recurrentToInputWeights", "2 of the 3 input gate operands"],
    ["inputGateBias", "2 of the 3 input gate operands"],
    ["cellToForgetWeights", "1 of the 2 peephole operands"],
    ["cellToOutputWeights", "1 of the 2 peephole operands"],
    ["cellToInputWeights", "cellToInputWeights have to be given exactly where"],
    ["projectionWeights", "a projection bias is given, but no projection weights"],
    ["forgetLayerNormWeights", "2 of the 3 layer normalisation operands"],
    ["inputLayerNormWeights", "inputLayerNormWeights have to be given exactly where"],
  ])("refuses a cell without %s alone", (name, message) => {
    const inputs = inOrder(lstmInputs(full), { [name]: none });
    expect(() => runOperation(lstm, inputs, floats(4))).toThrow(message);
  });

  it("refuses peepholes or normalisation of a coupled input gate", () => {
    const inputs = lstmInputs({ ...full, coupled: true });
    const run = (changes: Named) => () => runOperation(lstm, inOrder(inputs, changes), floats(4));
    expect(run({ cellToInputWeights: f32([4]) })).toThrow("cellToInputWeights have to be given exactly where");
    expect(run({ inputLayerNormWeights: f32([4]) })).toThrow("inputLayerNormWeights have to be given exactly where");
    expect(run({})).not.toThrow();
  });

  it("refuses operands of other shapes, and needs a projection for outputs unlike units", () => {
    const inputs = lstmInputs(full);
    for (const [name, given] of Object.entries(inputs)) {
      if (given.type !== "TENSOR_FLOAT32") continue;
      const dimensions = given.dimensions.map((extent, axis) => (axis === 0 ? extent + 1 : extent));
      expect(() => runOperation(lstm, inOrder(inputs, { [name]: f32(dimensions) }), floats(4)), name).toThrow();
    }
    const unlike = inOrder(lstmInputs({ inputs: 3, units: 4, outputs: 2 }));
    expect(() => runOperation(lstm, unlike, floats(4))).toThrow("4 units and 2 outputs, but no projection");
  });
});

describe("RNN", () => {
  const inputs: Named = {
    input: f32([1, 2], [1, 1]),
    weights: f32([2, 2], [1, 2, 3, 4]),
    recurrentWeights: f32([2, 2], [0, 1, 1, 0]),
    bias: f32([2], [0.5, -50]),
    hiddenStateIn: f32([1, 2], [1, 2]),
    activation: i32Scalar(0),
  };

  it.each([
    [0, [5.5, -42]],
    [1, [5.5, 0]],
    [2, [1, -1]],
    [3, [5.5, 0]],
  ])("with activation %d, by hand", (activation, expected) => {
    const results = runOperation(rnn, inOrder(inputs, { activation: i32Scalar(activation) }), floats(2));
    expect(results.map(valuesOf)).toEqual([expected, expected]);
  });

  it("runs batches apart, and none", () => {
    const twice = { input: f32([2, 2], [1, 1, 0, 0]), hiddenStateIn: f32([2, 2], [1, 2, 7, 8]) };
    const [state] = runOperation(rnn, inOrder(inputs, twice), floats(2));
    expect(valuesOf(state)).toEqual([5.5, -42, 8.5, -43]);
    const empty = inOrder(inputs, { input: f32([0, 2]), hiddenStateIn: f32([0, 2]) });
    expect(runOperation(rnn, empty, floats(2))[1].dimensions).toEqual([0, 2]);
  });

  it.each([-1, 4])("refuses activation %d", (activation) => {
    const list = inOrder(inputs, { activation: i32Scalar(activation) });
    expect(() => runOperation(rnn, list, floats(2))).toThrow(`activation ${activation} is none of`);
  });

  it.each([
    ["input", f32([1, 3]), "the weights"],
    ["recurrentWeights", f32([2, 3]), "the recurrent weights"],
    ["bias", f32([3]), "the bias"],
    ["hiddenStateIn", f32([2, 2]), "the hidden states"],
    ["input", f32([2]), "input has rank 1"],
  ])("refuses another shape of %s", (name, given, message) => {
    expect(() => runOperation(rnn, inOrder(inputs, { [name]: given }), floats(2))).toThrow(message);
  });
});

describe("SVDF", () => {
  const inputs: Named = {
    input: f32([1, 2], [5, 6]),
    featureWeights: f32([2, 2], [1, 0, 0, 1]),
    timeWeights: f32([2, 3], [1, 10, 100, 2, 20, 200]),
    bias: f32([1], [0.5]),
    stateIn: f32([1, 6], [1, 2, 99, 3, 4, 99]),
    rank: i32Scalar(2),
    activation: i32Scalar(0),
  };
  const run = (changes: Named = {}) => runOperation(svdf, inOrder(inputs, changes), floats(2)).map(valuesOf);

  it("writes features to the last slot, filters along time and moves the state on", () => {
    expect(run()).toEqual([[2, 5, 0, 4, 6, 0], [1 + 20 + 500 + 6 + 80 + 1200 + 0.5]]);
  });

  it("of rank 1 has one unit for each filter; the bias may be omitted", () => {
    expect(run({ rank: i32Scalar(1), bias: none })[1]).toEqual([521, 1286]);
  });

  it.each([
    [1, 1807.5],
    [2, 1],
    [3, 6],
  ])("with activation %d", (activation, expected) => {
    expect(run({ activation: i32Scalar(activation) })[1]).toEqual([expected]);
  });

  it("runs batches apart", () => {
    const changes = { input: f32([2, 2], [5, 6, 0, 0]), stateIn: f32([2, 6], [1, 2, 9, 3, 4, 9, 0, 1, 9, 1, 0, 9]) };
    expect(run(changes)).toEqual([
      [2, 5, 0, 4, 6, 0, 1, 0, 0, 0, 0, 0],
      [1807.5, 12.5],
    ]);
  });

  it.each([-1, 0, 3])("refuses rank %d of 2 filters", (rank) => {
    expect(() => run({ rank: i32Scalar(rank) })).toThrow(`2 filters are not a multiple of the rank ${rank}`);
  });

  it.each([
    ["input", f32([1, 3]), "the feature weights"],
    ["timeWeights", f32([3, 3]), "the time weights"],
    ["bias", f32([2]), "the bias"],
    ["stateIn", f32([1, 4]), "the states"],
    ["activation", i32Scalar(4), "activation 4 is none of"],
  ])("refuses another %s", (name, given, message) => {
    expect(() => run({ [name]: given })).toThrow(message);
  });
});

/** Vectors [time][batch] of a tensor, whichever of the two stands first. */
function timeline(tensor: Given, timeMajor: boolean): number[][][] {
  const [times, batches] = timeMajor ? tensor.dimensions : [tensor.dimensions[1], tensor.dimensions[0]];
  return Array.from({ length: times }, (_, time) =>
    Array.from({ length: batches }, (_, batch) =>
      row(tensor, timeMajor ? time * batches + batch : batch * times + time),
    ),
  );
}

/** The tensor's data of vectors [time][batch]. */
function untimeline(vectors: readonly (readonly (readonly number[])[])[], timeMajor: boolean): number[] {
  if (timeMajor) return vectors.flat(2);
  return vectors[0].flatMap((_, batch) => vectors.flatMap((ofTime) => ofTime[batch]));
}

const [times, batches] = [3, 2];
const sequenceShape = (size: number, timeMajor: boolean) =>
  timeMajor ? [times, batches, size] : [batches, times, size];

/** Runs a step along time, from vectors [time][batch] to the same. The state is whatever the step makes of it. */
function along<State>(
  inputs: readonly (readonly number[][])[],
  initial: (batch: number) => State,
  backwards: boolean,
  step: (x: number[], state: State, time: number, batch: number) => readonly [output: number[], state: State],
): { readonly outputs: number[][][]; readonly states: State[] } {
  const outputs = inputs.map((): number[][] => []);
  const states = inputs[0].map((_, batch) => {
    let state = initial(batch);
    for (let count = 0; count < inputs.length; count++) {
      const time = backwards ? inputs.length - 1 - count : count;
      [outputs[time][batch], state] = step(inputs[time][batch], state, time, batch);
    }
    return state;
  });
  return { outputs, states };
}

function lstmAlong(inputs: Named, input: Given, timeMajor: boolean, prefix: string, auxiliary?: Given) {
  const cell = valuesOfCell(inputs, prefix);
  const stateName = (name: string) => (prefix === "" ? name[0].toLowerCase() + name.slice(1) : prefix + name);
  const beside = auxiliary && timeline(auxiliary, timeMajor);
  return along(
    timeline(input, timeMajor),
    (batch) => ({
      output: row(inputs[stateName("OutputStateIn")], batch),
      cell: row(inputs[stateName("CellStateIn")], batch),
    }),
    prefix === "bw",
    (x, state, time, batch) => {
      const next = lstmFormula(cell, x, state.output, state.cell, beside && { auxiliary: beside[time][batch] });
      return [next.output, next];
    },
  );
}

describe.each([true, false])("UNIDIRECTIONAL_SEQUENCE_LSTM, time first: %s", (timeMajor) => {
  const sequence = (cell: CellShape): Named => {
    const { input: _, ...others } = lstmInputs({ ...cell, norm: false });
    const input = some(sequenceShape(cell.inputs, timeMajor), 5);
    return { input, ...others, timeMajor: boolScalar(timeMajor), ...operandsOf(normNames, cell, 50) };
  };

  it.each(cells)("%s runs the cell along time", (_, cell) => {
    const inputs = sequence(cell);
    const { outputs, states } = lstmAlong(inputs, inputs.input, timeMajor, "");
    const results = runOperation(unidirectionalSequenceLstm, inOrder(inputs), floats(3)).map(valuesOf);
    expectClose(results[0], untimeline(outputs, timeMajor));
    expectClose(
      results[1],
      states.flatMap((state) => state.output),
    );
    expectClose(
      results[2],
      states.flatMap((state) => state.cell),
    );
    const [alone] = runOperation(unidirectionalSequenceLstm, inOrder(inputs), floats(1));
    expect(valuesOf(alone)).toEqual(results[0]);
  });

  it("refuses negative clips and states of other shapes", () => {
    const run = (changes: Named) => () =>
      runOperation(unidirectionalSequenceLstm, inOrder(sequence(full), changes), floats(3));
    expect(run({ cellClip: f32Scalar(-1) })).toThrow("the cell clip is -1, less than 0");
    expect(run({ projectionClip: f32Scalar(-1) })).toThrow("the projection clip is -1, less than 0");
    expect(run({ outputStateIn: f32([2, 4]) })).toThrow("the output states");
    expect(run({ cellStateIn: f32([3, 4]) })).toThrow("the cell states");
    expect(run({ input: f32([2, 3]) })).toThrow("input has rank 2");
  });
});

const fwCell: CellShape = { inputs: 3, units: 4, outputs: 2, projection: "plain", peephole: true };
const bwCell: CellShape = { inputs: 3, units: 3, coupled: true, norm: true };

function bidirectional(
  { fw, bw, auxiliaryInput }: { fw: CellShape; bw: CellShape; auxiliaryInput?: Given },
  timeMajor: boolean,
  mergeOutputs: boolean,
): Named {
  return {
    input: some(sequenceShape(3, timeMajor), 5),
    ...operandsOf(cellNames, fw, 10, "fw"),
    ...operandsOf(cellNames, bw, 110, "bw"),
    fwOutputStateIn: some([batches, fw.outputs ?? fw.units], 2),
    fwCellStateIn: some([batches, fw.units], 3),
    bwOutputStateIn: some([batches, bw.outputs ?? bw.units], 4),
    bwCellStateIn: some([batches, bw.units], 6),
    auxiliaryInput: auxiliaryInput ?? none,
    ...operandsOf(auxiliaryNames, fw, 210, "fw"),
    ...operandsOf(auxiliaryNames, bw, 220, "bw"),
    activation: i32Scalar(4),
    cellClip: f32Scalar(0),
    projectionClip: f32Scalar(0),
    mergeOutputs: boolScalar(mergeOutputs),
    timeMajor: boolScalar(timeMajor),
    ...operandsOf(normNames, fw, 230, "fw"),
    ...operandsOf(normNames, bw, 240, "bw"),
  };
}

/** Vectors of two directions side by side. */
function merged(fw: number[][][], bw: number[][][]): number[][][] {
  return fw.map((ofTime, time) => ofTime.map((vector, batch) => [...vector, ...bw[time][batch]]));
}

describe.each([true, false])("BIDIRECTIONAL_SEQUENCE_LSTM, time first: %s", (timeMajor) => {
  const auxiliaryInput = some(sequenceShape(2, timeMajor), 7);
  const links = [
    ["without auxiliary input", { fw: fwCell, bw: bwCell }, undefined, "1.2"],
    [
      "with cross-linked auxiliary input",
      { fw: { ...fwCell, auxiliaries: 2 }, bw: { ...bwCell, auxiliaries: 2 }, auxiliaryInput },
      "cross",
      "1.2",
    ],
    ["with parallel auxiliary input", { fw: fwCell, bw: { ...bwCell, inputs: 2 }, auxiliaryInput }, "parallel", "1.3"],
  ] as const;

  it.each(links)("%s runs both cells along time", (_, setup, link, version) => {
    const inputs = bidirectional(setup, timeMajor, false);
    const beside = link === "cross" ? auxiliaryInput : undefined;
    const fw = lstmAlong(inputs, inputs.input, timeMajor, "fw", beside);
    const bw = lstmAlong(inputs, link === "parallel" ? auxiliaryInput : inputs.input, timeMajor, "bw", beside);
    const results = runOperation(bidirectionalSequenceLstm, inOrder(inputs), floats(6)).map(valuesOf);
    expectClose(results[0], untimeline(fw.outputs, timeMajor));
    expectClose(results[1], untimeline(bw.outputs, timeMajor));
    const states = [fw.states.map((s) => s.output), fw.states.map((s) => s.cell)];
    states.push(
      bw.states.map((s) => s.output),
      bw.states.map((s) => s.cell),
    );
    states.forEach((state, index) => {
      expectClose(results[2 + index], state.flat());
    });
    const mergedInputs = inOrder(inputs, { mergeOutputs: boolScalar(true) });
    for (const count of [1, 5]) {
      const [together, ...others] = runOperation(bidirectionalSequenceLstm, mergedInputs, floats(count)).map(valuesOf);
      expectClose(together, untimeline(merged(fw.outputs, bw.outputs), timeMajor));
      if (count === 5) expect(others).toEqual(results.slice(2));
    }
    expect(versionOf(bidirectionalSequenceLstm, inOrder(inputs), floats(2))).toBe(version);
    expect(versionOf(bidirectionalSequenceLstm, inOrder(inputs), floats(6))).toBe("1.3");
  });

  it("refuses outputs that do not go with mergeOutputs", () => {
    const setup = { fw: fwCell, bw: bwCell };
    const run = (merge: boolean, count: number) => () =>
      runOperation(bidirectionalSequenceLstm, inOrder(bidirectional(setup, timeMajor, merge)), floats(count));
    for (const count of [1, 5]) expect(run(false, count)).toThrow("the backward output is missing");
    for (const count of [2, 6]) expect(run(true, count)).toThrow("there is an output for the backward direction");
    for (const count of [0, 3, 4, 7]) expect(run(false, count)).toThrow(`it has 61 inputs and ${count} outputs`);
  });

  it("refuses auxiliary operands that do not go together", () => {
    const inputs = bidirectional(links[1][1], timeMajor, false);
    const run = (changes: Named) => () => runOperation(bidirectionalSequenceLstm, inOrder(inputs, changes), floats(2));
    expect(run({ auxiliaryInput: none })).toThrow("auxiliary weights have to be given for both directions");
    expect(run({ fwAuxiliaryToCellWeights: none })).toThrow("2 of the 3 auxiliary operands");
    const without = Object.fromEntries(auxiliaryNames.map((name) => [`bwA${name.slice(1)}`, none]));
    expect(run(without)).toThrow("auxiliary weights have to be given for both directions");
    expect(run({ auxiliaryInput: f32([4, 4, 2]) })).toThrow("other times and batches");
    expect(run({ bwAuxiliaryToCellWeights: f32([3, 3]) })).toThrow("the cell gate's auxiliary weights");
    expect(run({ bwCellStateIn: f32([2, 4]) })).toThrow("the backward cell states");
    expect(run({ fwOutputStateIn: f32([2, 3]) })).toThrow("the forward output states");
  });
});

/** h' = W·x + R·h + A·a + b */
function rnnFormula(inputs: Named, name: (role: string) => string, x: number[], h: number[], aux: number[]): number[] {
  const weights = timesRow(inputs[name("Weights")], x);
  const recurrent = timesRow(inputs[name("RecurrentWeights")], h);
  const auxiliary = aux.length > 0 ? timesRow(inputs[name("AuxiliaryWeights")], aux) : h.map(() => 0);
  return valuesOf(inputs[name("Bias")]).map((bias, unit) => bias + weights[unit] + recurrent[unit] + auxiliary[unit]);
}

function timesRow(matrix: Given, vector: number[]): number[] {
  return Array.from({ length: matrix.dimensions[0] }, (_, unit) =>
    row(matrix, unit).reduce((sum, weight, column) => sum + weight * vector[column], 0),
  );
}

function rnnAlong(inputs: Named, input: Given, timeMajor: boolean, prefix: string, auxiliary?: Given) {
  const name = (role: string) => (prefix === "" ? role[0].toLowerCase() + role.slice(1) : prefix + role);
  const beside = auxiliary && timeline(auxiliary, timeMajor);
  return along(
    timeline(input, timeMajor),
    (batch) => row(inputs[name("HiddenStateIn")], batch),
    prefix === "bw",
    (x, state, time, batch) => {
      const next = rnnFormula(inputs, name, x, state, beside?.[time][batch] ?? []);
      return [next, next];
    },
  );
}

describe.each([true, false])("UNIDIRECTIONAL_SEQUENCE_RNN, time first: %s", (timeMajor) => {
  const inputs: Named = {
    input: some(sequenceShape(2, timeMajor), 1),
    weights: some([3, 2], 2),
    recurrentWeights: some([3, 3], 3),
    bias: some([3], 4),
    hiddenStateIn: some([batches, 3], 5),
    activation: i32Scalar(0),
    timeMajor: i32Scalar(timeMajor ? 1 : 0),
  };

  it("runs the cell along time", () => {
    const { outputs, states } = rnnAlong(inputs, inputs.input, timeMajor, "");
    const results = runOperation(unidirectionalSequenceRnn, inOrder(inputs), floats(2)).map(valuesOf);
    expectClose(results[0], untimeline(outputs, timeMajor), 1e-5);
    expectClose(results[1], states.flat(), 1e-5);
    expect(valuesOf(runOperation(unidirectionalSequenceRnn, inOrder(inputs), floats(1))[0])).toEqual(results[0]);
  });

  it.each([-1, 2])("refuses timeMajor %d and other shapes", (value) => {
    const run = (changes: Named) => () => runOperation(unidirectionalSequenceRnn, inOrder(inputs, changes), floats(1));
    expect(run({ timeMajor: i32Scalar(value) })).toThrow(`timeMajor is ${value} where 0 or 1 is needed`);
    expect(run({ weights: f32([3, 3]) })).toThrow("the weights");
    expect(run({ hiddenStateIn: f32([5, 3]) })).toThrow("the hidden states");
  });
});

describe.each([true, false])("BIDIRECTIONAL_SEQUENCE_RNN, time first: %s", (timeMajor) => {
  const auxiliaryInput = some(sequenceShape(4, timeMajor), 20);
  const plain: Named = {
    input: some(sequenceShape(2, timeMajor), 1),
    fwWeights: some([3, 2], 2),
    fwRecurrentWeights: some([3, 3], 3),
    fwBias: some([3], 4),
    fwHiddenStateIn: some([batches, 3], 5),
    bwWeights: some([1, 2], 6),
    bwRecurrentWeights: some([1, 1], 7),
    bwBias: some([1], 8),
    bwHiddenStateIn: some([batches, 1], 9),
    auxiliaryInput: none,
    fwAuxiliaryWeights: none,
    bwAuxiliaryWeights: none,
    activation: i32Scalar(0),
    timeMajor: boolScalar(timeMajor),
    mergeOutputs: boolScalar(false),
  };
  const cross = { auxiliaryInput, fwAuxiliaryWeights: some([3, 4], 21), bwAuxiliaryWeights: some([1, 4], 22) };
  const parallel = { auxiliaryInput, bwWeights: some([1, 4], 23) };

  it.each<[string, Named, string]>([
    ["none", {}, "1.2"],
    ["cross", cross, "1.2"],
    ["parallel", parallel, "1.3"],
  ])("runs both cells along time; auxiliary input: %s", (link, changes, version) => {
    const inputs: Named = { ...plain, ...changes };
    const beside = link === "cross" ? auxiliaryInput : undefined;
    const fw = rnnAlong(inputs, inputs.input, timeMajor, "fw", beside);
    const bw = rnnAlong(inputs, link === "parallel" ? auxiliaryInput : inputs.input, timeMajor, "bw", beside);
    const results = runOperation(bidirectionalSequenceRnn, inOrder(inputs), floats(4)).map(valuesOf);
    const expected = [fw, bw].map(({ outputs }) => untimeline(outputs, timeMajor));
    expected.push(fw.states.flat(), bw.states.flat());
    expected.forEach((values, index) => {
      expectClose(results[index], values, 1e-5);
    });
    const mergedInputs = inOrder(inputs, { mergeOutputs: boolScalar(true) });
    const [together, ...others] = runOperation(bidirectionalSequenceRnn, mergedInputs, floats(3)).map(valuesOf);
    expectClose(together, untimeline(merged(fw.outputs, bw.outputs), timeMajor), 1e-5);
    expect(others).toEqual(results.slice(2));
    expect(versionOf(bidirectionalSequenceRnn, inOrder(inputs), floats(2))).toBe(version);
  });

  it("refuses what does not go together", () => {
    const run =
      (changes: Named, count = 2) =>
      () =>
        runOperation(bidirectionalSequenceRnn, inOrder(plain, changes), floats(count));
    expect(run({ mergeOutputs: boolScalar(true) })).toThrow("there is an output for the backward direction");
    expect(run({}, 1)).toThrow("the backward output is missing");
    expect(run({}, 5)).toThrow("it has 15 inputs and 5 outputs");
    expect(run({ ...cross, auxiliaryInput: none })).toThrow("auxiliary weights have to be given for both directions");
    expect(run({ ...cross, bwAuxiliaryWeights: none })).toThrow("auxiliary weights have to be given for both");
    expect(run({ ...cross, auxiliaryInput: f32([4, 4, 4]) })).toThrow("other times and batches");
    expect(run({ ...cross, fwAuxiliaryWeights: f32([3, 3]) })).toThrow("the auxiliary weights");
    expect(run({ activation: i32Scalar(4) })).toThrow("activation 4 is none of");
  });
});

describe("signatures of recurrent operations", () => {
  const rnnList = [f32([1, 1]), f32([1, 1]), f32([1, 1]), f32([1]), f32([1, 1]), i32Scalar(0)];
  const sequenceList: Named = bidirectional({ fw: fwCell, bw: bwCell }, true, false);
  const lstmList = inOrder(lstmInputs({ inputs: 1, units: 1 }));
  const unidirectionalList = [...lstmList, boolScalar(true), ...new Array<Given>(4).fill(none)];
  const bidirectionalRnnList = [
    ...new Array<Given>(9).fill(f32([1, 1])),
    none,
    none,
    none,
    i32Scalar(0),
    boolScalar(false),
    boolScalar(false),
  ];
  const all: readonly (readonly [string, Operation, readonly Given[], number, Versions])[] = [
    ["LSTM", lstm, lstmList, 4, firstVersions],
    ["LSTM with normalisation", lstm, [...lstmList, none, none, none, none], 4, laterVersions],
    ["RNN", rnn, rnnList, 2, firstVersions],
    ["SVDF", svdf, [...rnnList, i32Scalar(0)], 2, firstVersions],
    ["UNIDIRECTIONAL_SEQUENCE_LSTM", unidirectionalSequenceLstm, unidirectionalList, 1, laterVersions],
    ["UNIDIRECTIONAL_SEQUENCE_RNN", unidirectionalSequenceRnn, [...rnnList, i32Scalar(0)], 1, laterVersions],
    ["BIDIRECTIONAL_SEQUENCE_LSTM", bidirectionalSequenceLstm, inOrder(sequenceList), 2, laterVersions],
    ["BIDIRECTIONAL_SEQUENCE_RNN", bidirectionalSequenceRnn, bidirectionalRnnList, 2, laterVersions],
  ];

  it.each(all)("%s takes floats only", (_, operation, inputs, outputs, versions) => {
    expectTypes(
      operation,
      versions,
      (type) => retyped(inputs, type),
      (type) => of(type, outputs),
    );
  });

  it.each(all)("%s refuses one operand of another type, and other counts", (_, operation, inputs, outputs) => {
    inputs.forEach((input, index) => {
      const other = input.type === "TENSOR_INT32" ? "TENSOR_FLOAT32" : "TENSOR_INT32";
      const changed = inputs.map((given, at) => (at === index ? tensorOf(other, [1]) : given));
      expect(mismatchOf(operation, changed, floats(outputs)), `input ${index}`).toContain(`input ${index} (`);
    });
    for (let index = 0; index < outputs; index++) {
      const changed = floats(outputs).outputs.map((given, at) => (at === index ? declared("TENSOR_INT32") : given));
      expect(mismatchOf(operation, inputs, { outputs: changed }), `output ${index}`).toContain(`output ${index} (`);
    }
    const tooMany = [...inputs, ...new Array<Given>(5).fill(none)];
    expect(mismatchOf(operation, inputs.slice(0, 5), floats(outputs))).toContain("it has 5 inputs");
    expect(mismatchOf(operation, tooMany, floats(outputs))).toContain(`it has ${tooMany.length} inputs`);
    expect(mismatchOf(operation, inputs, floats(7))).toContain("7 outputs");
  });
});
