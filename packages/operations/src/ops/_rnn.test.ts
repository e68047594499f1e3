/**
 * RNN and SVDF, and the sequence operations that run an RNN.
 */

import { describe, expect, it } from "vitest";
import {
  along,
  batches,
  firstVersions,
  floats,
  laterVersions,
  mergeDirections,
  none,
  row,
  sequenceShape,
  some,
  testSignatures,
  timeline,
  untimeline,
} from "./_recurrent.test-helper.ts";
import {
  boolScalar,
  expectClose,
  f32,
  type Given,
  i32Scalar,
  inOrder,
  type Named,
  runOperation,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { bidirectionalSequenceRnn } from "./bidirectional-sequence-rnn.ts";
import { rnn } from "./rnn.ts";
import { svdf } from "./svdf.ts";
import { unidirectionalSequenceRnn } from "./unidirectional-sequence-rnn.ts";

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
    ["input", f32([2]), "input: expected rank 2, got 1"],
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
    expect(run({ timeMajor: i32Scalar(value) })).toThrow(`timeMajor: expected 0 or 1, got ${value}`);
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
    expectClose(together, untimeline(mergeDirections(fw.outputs, bw.outputs), timeMajor), 1e-5);
    expect(others).toEqual(results.slice(2));
    expect(versionOf(bidirectionalSequenceRnn, inOrder(inputs), floats(2))).toBe(version);
  });

  it("refuses operands that do not fit together", () => {
    const run =
      (changes: Named, count = 2) =>
      () =>
        runOperation(bidirectionalSequenceRnn, inOrder(plain, changes), floats(count));
    expect(run({ mergeOutputs: boolScalar(true) })).toThrow("there is an output for the backward direction");
    expect(run({}, 1)).toThrow("the backward output is missing");
    expect(run({}, 5)).toThrow(
      "expected 15 inputs and 2/4 outputs, or 15 inputs and 1/3 outputs, got 15 inputs and 5 outputs",
    );
    expect(run({ ...cross, auxiliaryInput: none })).toThrow("auxiliary weights must be given for both directions");
    expect(run({ ...cross, bwAuxiliaryWeights: none })).toThrow("auxiliary weights must be given for both");
    expect(run({ ...cross, auxiliaryInput: f32([4, 4, 4]) })).toThrow("other times and batches");
    expect(run({ ...cross, fwAuxiliaryWeights: f32([3, 3]) })).toThrow("the auxiliary weights");
    expect(run({ activation: i32Scalar(4) })).toThrow("activation 4 is none of");
  });
});

describe("signatures of RNN operations and SVDF", () => {
  const list = [f32([1, 1]), f32([1, 1]), f32([1, 1]), f32([1]), f32([1, 1]), i32Scalar(0)];
  const bidirectionalList = [
    ...new Array<Given>(9).fill(f32([1, 1])),
    none,
    none,
    none,
    i32Scalar(0),
    boolScalar(false),
    boolScalar(false),
  ];
  testSignatures([
    ["RNN", rnn, list, 2, firstVersions],
    ["SVDF", svdf, [...list, i32Scalar(0)], 2, firstVersions],
    ["UNIDIRECTIONAL_SEQUENCE_RNN", unidirectionalSequenceRnn, [...list, i32Scalar(0)], 1, laterVersions],
    ["BIDIRECTIONAL_SEQUENCE_RNN", bidirectionalSequenceRnn, bidirectionalList, 2, laterVersions],
  ]);
});
