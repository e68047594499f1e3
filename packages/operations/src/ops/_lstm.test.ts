/**
 * LSTM on floats, and the sequence operations that run it.
 */

import { describe, expect, it } from "vitest";
import {
  auxiliaryNames,
  type CellShape,
  type CellValues,
  cellNames,
  lstmFormula,
  normNames,
  type StepSettings,
} from "./_lstm.test-helper.ts";
import {
  along,
  batches,
  firstVersions,
  floats,
  laterVersions,
  mergeDirections,
  none,
  operandsOf,
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
  f32Scalar,
  type Given,
  i32Scalar,
  inOrder,
  type Named,
  runOperation,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { bidirectionalSequenceLstm } from "./bidirectional-sequence-lstm.ts";
import { lstm } from "./lstm.ts";
import { unidirectionalSequenceLstm } from "./unidirectional-sequence-lstm.ts";

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

  it.each(cells)("%s follows the formula", (_, cell) => expectStep(lstmInputs(cell)));

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

  it("has a scratch buffer of a quarter less if the gates are coupled", () => {
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
    ["recurrentToInputWeights", "expected all or none of the 3 input gate operands, got 2"],
    ["inputGateBias", "expected all or none of the 3 input gate operands, got 2"],
    ["cellToForgetWeights", "expected all or none of the 2 peephole operands, got 1"],
    ["cellToOutputWeights", "expected all or none of the 2 peephole operands, got 1"],
    ["cellToInputWeights", "cellToInputWeights must be given exactly where"],
    ["projectionWeights", "a projection bias is given, but no projection weights"],
    ["forgetLayerNormWeights", "expected all or none of the 3 layer normalisation operands, got 2"],
    ["inputLayerNormWeights", "inputLayerNormWeights must be given exactly where"],
  ])("refuses a cell without %s alone", (name, message) => {
    const inputs = inOrder(lstmInputs(full), { [name]: none });
    expect(() => runOperation(lstm, inputs, floats(4))).toThrow(message);
  });

  it("refuses peepholes or normalisation of a coupled input gate", () => {
    const inputs = lstmInputs({ ...full, coupled: true });
    const run = (changes: Named) => () => runOperation(lstm, inOrder(inputs, changes), floats(4));
    expect(run({ cellToInputWeights: f32([4]) })).toThrow("cellToInputWeights must be given exactly where");
    expect(run({ inputLayerNormWeights: f32([4]) })).toThrow("inputLayerNormWeights must be given exactly where");
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
    expect(run({ input: f32([2, 3]) })).toThrow("input: expected rank 3, got 2");
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
      expectClose(together, untimeline(mergeDirections(fw.outputs, bw.outputs), timeMajor));
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
    for (const count of [0, 3, 4, 7]) expect(run(false, count)).toThrow(`got 61 inputs and ${count} outputs`);
  });

  it("refuses auxiliary operands that do not go together", () => {
    const inputs = bidirectional(links[1][1], timeMajor, false);
    const run = (changes: Named) => () => runOperation(bidirectionalSequenceLstm, inOrder(inputs, changes), floats(2));
    expect(run({ auxiliaryInput: none })).toThrow("auxiliary weights must be given for both directions");
    expect(run({ fwAuxiliaryToCellWeights: none })).toThrow("expected all or none of the 3 auxiliary operands, got 2");
    const without = Object.fromEntries(auxiliaryNames.map((name) => [`bwA${name.slice(1)}`, none]));
    expect(run(without)).toThrow("auxiliary weights must be given for both directions");
    expect(run({ auxiliaryInput: f32([4, 4, 2]) })).toThrow("other times and batches");
    expect(run({ bwAuxiliaryToCellWeights: f32([3, 3]) })).toThrow("the cell gate's auxiliary weights");
    expect(run({ bwCellStateIn: f32([2, 4]) })).toThrow("the backward cell states");
    expect(run({ fwOutputStateIn: f32([2, 3]) })).toThrow("the forward output states");
  });
});

describe("signatures of LSTM operations", () => {
  const list = inOrder(lstmInputs({ inputs: 1, units: 1 }));
  const unidirectionalList = [...list, boolScalar(true), ...new Array<Given>(4).fill(none)];
  const bidirectionalList = inOrder(bidirectional({ fw: fwCell, bw: bwCell }, true, false));
  testSignatures([
    ["LSTM", lstm, list, 4, firstVersions],
    ["LSTM with normalisation", lstm, [...list, none, none, none, none], 4, laterVersions],
    ["UNIDIRECTIONAL_SEQUENCE_LSTM", unidirectionalSequenceLstm, unidirectionalList, 1, laterVersions],
    ["BIDIRECTIONAL_SEQUENCE_LSTM", bidirectionalSequenceLstm, bidirectionalList, 2, laterVersions],
  ]);
});
