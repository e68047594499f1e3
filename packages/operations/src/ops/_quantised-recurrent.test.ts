/**
 * The LSTMs in fixed point, against the cell in float64 on the real values of their operands.
 */
import { describe, expect, it } from "vitest";
import { elementCount } from "../tensor.ts";
import {
  type CellShape,
  type CellValues,
  cellNames,
  lstmFormula,
  normNames,
  shapeOfOperand,
} from "./_lstm.test-helper.ts";
import { realValuesNow } from "./_real.ts";
import {
  declareOutput,
  expectClose,
  f32,
  f32Scalar,
  type Given,
  giveOmitted,
  i32,
  i32Scalar,
  inOrder,
  mismatchOf,
  type Named,
  q8,
  q8Symm,
  q8s,
  q16Symm,
  runOperation,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { quantized16bitLstm } from "./quantized-16bit-lstm.ts";
import { quantizedLstm } from "./quantized-lstm.ts";

/** Integers in [middle - spread, middle + spread] in no order, others for every seed. */
function some(shape: readonly number[], seed: number, spread: number, middle = 0): number[] {
  return Array.from(
    { length: elementCount(shape) },
    (_, index) => middle + Math.round(spread * Math.sin((index + 1) * 12.9898 + seed * 78.233)),
  );
}

function row(tensor: Given, index: number): number[] {
  const length = tensor.dimensions[1];
  return Array.from(realValuesNow(tensor)).slice(index * length, (index + 1) * length);
}

describe("QUANTIZED_16BIT_LSTM", () => {
  const weightScale = 1 / 64;
  const value = { scale: 1 / 128, zeroPoint: 128 };
  const outputs = [
    declareOutput("TENSOR_QUANT16_SYMM", { scale: 2 ** -11 }),
    declareOutput("TENSOR_QUANT8_ASYMM", value),
  ];
  const gates = ["Input", "Forget", "Cell", "Output"];
  const biasNames = ["inputGateBias", "forgetGateBias", "cellBias", "outputGateBias"];

  function list(inputs: number, units: number, batches = 2): Named {
    const matrices = (from: string, columns: number) =>
      gates.map((gate, index) => {
        const values = some([units, columns], index + from.length, 90, 120);
        return [`${from}To${gate}Weights`, q8([units, columns], weightScale, 120, values)];
      });
    return {
      input: q8([batches, inputs], value.scale, value.zeroPoint, some([batches, inputs], 20, 127, 128)),
      ...Object.fromEntries(matrices("input", inputs)),
      ...Object.fromEntries(matrices("recurrent", units)),
      ...Object.fromEntries(
        biasNames.map((name, index) => [name, i32([units], some([units], 30 + index, 4000), weightScale / 128)]),
      ),
      cellStateIn: q16Symm([batches, units], 2 ** -11, some([batches, units], 40, 3000)),
      outputStateIn: q8([batches, units], value.scale, value.zeroPoint, some([batches, units], 41, 127, 128)),
    };
  }

  const run = (inputs: Named, changes: Named = {}) =>
    runOperation(quantized16bitLstm, inOrder(inputs, changes), { outputs });

  it.each([
    [1, 1],
    [3, 3],
    [2, 4],
    [5, 2],
  ])("with %d inputs and %d units is near the float cell", (inputs, units) => {
    const named = list(inputs, units);
    const real = (name: string) => Array.from(realValuesNow(named[name]));
    // A row of weights is recurrent, then input; the values are input, then previous output: see the operation.
    const cell: CellValues = Object.fromEntries([
      ...gates.map((gate) => {
        const [fromInput, recurrent] = [real(`inputTo${gate}Weights`), real(`recurrentTo${gate}Weights`)];
        const rows = Array.from({ length: units }, (_, unit) => [
          ...recurrent.slice(unit * units, (unit + 1) * units),
          ...fromInput.slice(unit * inputs, (unit + 1) * inputs),
        ]);
        return [`inputTo${gate}Weights`, rows.flat()];
      }),
      ...biasNames.map((name) => [name, real(name)]),
    ]);
    const [state, output] = run(named);
    const steps = [0, 1].map((batch) =>
      lstmFormula(
        cell,
        [...row(named.input, batch), ...row(named.outputStateIn, batch)],
        [],
        row(named.cellStateIn, batch),
      ),
    );
    const expectedState = steps.flatMap((step) => step.cell);
    const expectedOutput = steps.flatMap((step) => step.output);
    expectClose(Array.from(realValuesNow(state)), expectedState, 4 * 2 ** -11);
    expectClose(Array.from(realValuesNow(output)), expectedOutput, 1.01 / 128);
  });

  it("of zeros halves the state", () => {
    const zeros = Object.fromEntries(
      Object.entries(list(1, 1, 1)).map(([name, given]) => [
        name,
        { ...given, data: given.data.slice().fill(given.zeroPoint) },
      ]),
    );
    const [state, output] = run(zeros, { cellStateIn: q16Symm([1, 1], 2 ** -11, [2 ** 11]) });
    // c' = 1/2; h' = tanh(1/2) / 2 = 0.2311 = 29.6 / 128
    expect([valuesOf(state), valuesOf(output)]).toEqual([[1024], [128 + 30]]);
  });

  it("saturates the state at both ends", () => {
    const inputs = list(1, 1, 1);
    const bias = (real: number) => i32([1], [real * 64 * 128], weightScale / 128);
    const gatesOpen = { inputGateBias: bias(100), forgetGateBias: bias(100), outputGateBias: bias(100) };
    for (const [sign, state] of [
      [1, 32767],
      [-1, -32768],
    ]) {
      const changes = { ...gatesOpen, cellBias: bias(100 * sign), cellStateIn: q16Symm([1, 1], 2 ** -11, [state]) };
      const [next, output] = run(inputs, changes);
      expect(valuesOf(next)).toEqual([state]);
      expectClose(valuesOf(output), [sign > 0 ? 255 : 0], 1);
    }
  });

  it("does nothing for no batches, and returns the fixed quantisation", () => {
    const [state, output] = run(list(2, 3, 0));
    expect(state).toMatchObject({ dimensions: [0, 3], scale: 2 ** -11, zeroPoint: 0 });
    expect(output).toMatchObject({ dimensions: [0, 3], ...value });
  });

  it("refuses another quantisation or shape of any operand", () => {
    const inputs = list(2, 3);
    for (const [name, given] of Object.entries(inputs)) {
      expect(() => run(inputs, { [name]: { ...given, scale: given.scale * 2 } }), name).toThrow("the quantisation of ");
      expect(() => run(inputs, { [name]: { ...given, zeroPoint: given.zeroPoint + 1 } }), name).toThrow(
        "the quantisation of ",
      );
      const dimensions = given.dimensions.map((extent) => extent + 1);
      const { type, scale, zeroPoint } = given;
      expect(() => run(inputs, { [name]: tensorOf(type, dimensions, undefined, { scale, zeroPoint }) }), name).toThrow(
        "the shape of",
      );
    }
  });

  it("has one signature, of HAL 1.2", () => {
    const inputs = inOrder(list(1, 1));
    expect(versionOf(quantized16bitLstm, inputs, { outputs })).toBe("1.2");
    inputs.forEach((_, index) => {
      const changed = inputs.map((given, at) => (at === index ? f32([1, 1]) : given));
      expect(mismatchOf(quantized16bitLstm, changed, { outputs })).toContain(`input ${index} (`);
    });
    outputs.forEach((_, index) => {
      const changed = outputs.map((given, at) => (at === index ? declareOutput("TENSOR_FLOAT32") : given));
      expect(mismatchOf(quantized16bitLstm, inputs, { outputs: changed })).toContain(`output ${index} (`);
    });
    expect(mismatchOf(quantized16bitLstm, inputs.slice(1), { outputs })).toContain(
      "expected 15 inputs and 2 outputs, got 14 inputs and 2 outputs",
    );
    expect(mismatchOf(quantized16bitLstm, inputs, { outputs: outputs.slice(1) })).toContain("1 outputs");
  });
});

describe("QUANTIZED_LSTM", () => {
  const inputScale = 1 / 100;
  const weightScale = 1 / 100;
  const stateScale = 2 ** -11;
  const hidden = { scale: 1 / 120, zeroPoint: -3 };
  const projected = { scale: 1 / 50, zeroPoint: 5 };
  const normScale = 1 / 8192;

  function list(cell: CellShape, { batches = 2, cellClip = 0, projectionClip = 0 } = {}): Named {
    const { inputs, units, outputs = units } = cell;
    // The elements of the hidden state are the result: their zero point is subtracted, not added.
    const outputQuantisation = cell.projection ? projected : { ...hidden, zeroPoint: -hidden.zeroPoint };
    const operand = (name: string, seed: number): [string, Given] => {
      const shape = shapeOfOperand(name, cell);
      if (name.startsWith("cellTo")) {
        return [name, shape ? q16Symm(shape, 1 / 16384, some(shape, seed, 9000)) : giveOmitted("TENSOR_QUANT16_SYMM")];
      }
      if (name.endsWith("LayerNormWeights")) {
        return [name, shape ? q16Symm(shape, normScale, some(shape, seed, 9000)) : giveOmitted("TENSOR_QUANT16_SYMM")];
      }
      if (name.endsWith("Bias")) {
        if (!shape) return [name, giveOmitted("TENSOR_INT32")];
        if (name === "projectionBias") return [name, i32(shape, some(shape, seed, 2000), weightScale * hidden.scale)];
        const scale = cell.norm ? normScale / 1024 : inputScale * weightScale;
        return [name, i32(shape, some(shape, seed, 0.5 / scale), scale)];
      }
      return [name, shape ? q8Symm(shape, weightScale, some(shape, seed, 100)) : giveOmitted("TENSOR_QUANT8_SYMM")];
    };
    const { scale, zeroPoint } = outputQuantisation;
    return {
      input: q8s([batches, inputs], inputScale, 10, some([batches, inputs], 1, 100, 10)),
      ...Object.fromEntries(cellNames.map((name, index) => operand(name, index + 10))),
      outputStateIn: q8s([batches, outputs], scale, zeroPoint, some([batches, outputs], 2, 60, zeroPoint)),
      cellStateIn: q16Symm([batches, units], stateScale, some([batches, units], 3, 3000)),
      ...Object.fromEntries(normNames.map((name, index) => operand(name, index + 40))),
      cellClip: f32Scalar(cellClip),
      projectionClip: f32Scalar(projectionClip),
      inputIntermediateScale: f32Scalar(2 ** -12),
      forgetIntermediateScale: f32Scalar(2 ** -12),
      cellIntermediateScale: f32Scalar(2 ** -12),
      outputIntermediateScale: f32Scalar(2 ** -12),
      hiddenStateZeroPoint: i32Scalar(hidden.zeroPoint),
      hiddenStateScale: f32Scalar(hidden.scale),
    };
  }

  function outputsOf({ outputStateIn }: Named) {
    const output = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", {
      scale: outputStateIn.scale,
      zeroPoint: outputStateIn.zeroPoint,
    });
    return [output, declareOutput("TENSOR_QUANT16_SYMM", { scale: stateScale }), output];
  }

  const run = (inputs: Named, changes: Named = {}) =>
    runOperation(quantizedLstm, inOrder(inputs, changes), { outputs: outputsOf(inputs) });

  const full: CellShape = { inputs: 3, units: 6, outputs: 2, peephole: true, projection: "biased", norm: true };

  it.each<[string, CellShape]>([
    ["plain", { inputs: 3, units: 4 }],
    ["of one unit", { inputs: 1, units: 1 }],
    ["coupled", { inputs: 3, units: 4, coupled: true }],
    ["with peepholes", { inputs: 3, units: 4, peephole: true }],
    ["with a projection", { inputs: 3, units: 4, outputs: 2, projection: "plain" }],
    ["with a biased projection", { inputs: 3, units: 4, outputs: 5, projection: "biased" }],
    ["normalised", { inputs: 3, units: 6, norm: true }],
    ["coupled and normalised", { inputs: 3, units: 6, coupled: true, norm: true }],
    ["with everything", full],
  ])("%s is near the float cell", (_, shape) => {
    const named = list(shape);
    const cell: CellValues = Object.fromEntries(
      [...cellNames, ...normNames].map((name) => [
        name,
        named[name].omitted ? undefined : Array.from(realValuesNow(named[name])),
      ]),
    );
    const [outputState, state, output] = run(named);
    const steps = [0, 1].map((batch) =>
      lstmFormula(cell, row(named.input, batch), row(named.outputStateIn, batch), row(named.cellStateIn, batch)),
    );
    const expectedState = steps.flatMap((step) => step.cell);
    const expectedOutput = steps.flatMap((step) => step.output);
    expectClose(Array.from(realValuesNow(state)), expectedState, 6 * stateScale);
    const tolerance = shape.projection ? 2.01 * projected.scale : 1.01 * hidden.scale;
    expectClose(Array.from(realValuesNow(output)), expectedOutput, tolerance);
    expect(valuesOf(outputState)).toEqual(valuesOf(output));
  });

  it("clips the cell and the projection", () => {
    const inputs = list({ inputs: 3, units: 4, outputs: 2, projection: "plain" });
    const [, free] = run(inputs);
    const [, clipped] = run(inputs, { cellClip: f32Scalar(0.125) });
    const limit = 0.125 / stateScale;
    expect(Math.max(...valuesOf(free).map(Math.abs))).toBeGreaterThan(limit);
    expect(valuesOf(clipped)).toEqual(valuesOf(free).map((value) => Math.max(-limit, Math.min(limit, value))));
    const unclipped = valuesOf(run(inputs)[2]);
    const [least, most] = [-3, 3].map((steps) => projected.zeroPoint + steps);
    const limited = { projectionClip: f32Scalar(3.5 * projected.scale) };
    expect(valuesOf(run(inputs, limited)[2])).toEqual(unclipped.map((value) => Math.max(least, Math.min(most, value))));
    expect(unclipped.some((value) => value < least || value > most)).toBe(true);
  });

  it("does nothing for no batches", () => {
    const results = run(list(full, { batches: 0 }));
    expect(results.map(({ dimensions }) => dimensions)).toEqual([
      [0, 2],
      [0, 6],
      [0, 2],
    ]);
  });

  it.each(["forget", "cell", "output", "input"])("needs a scale > 0 of the %s gate", (gate) => {
    const name = `${gate}IntermediateScale`;
    for (const value of [0, -1, Number.NaN]) {
      expect(() => run(list(full), { [name]: f32Scalar(value) })).toThrow(
        `${name}: expected a number > 0, got ${value}`,
      );
    }
  });

  it("needs no scale of an input gate that is not there, but one of the hidden state", () => {
    const coupled = list({ ...full, coupled: true });
    expect(valuesOf(run(coupled, { inputIntermediateScale: f32Scalar(0) })[2])).toEqual(valuesOf(run(coupled)[2]));
    expect(() => run(coupled, { hiddenStateScale: f32Scalar(0) })).toThrow(
      "hiddenStateScale: expected a number > 0, got 0",
    );
  });

  it("needs a cell state's scale that is a power of two from 2^-15 to 2^-9", () => {
    const inputs = list({ inputs: 1, units: 1 });
    const scaled = (scale: number) => () => run(inputs, { cellStateIn: q16Symm([2, 1], scale, [1, 2]) });
    expect(scaled(2 ** -9)).not.toThrow();
    expect(scaled(2 ** -15)).not.toThrow();
    for (const scale of [2 ** -8, 2 ** -16, 3 * 2 ** -12]) {
      expect(scaled(scale)).toThrow("expected a power of two from 2^-15 to 2^-9, got");
    }
  });

  it("needs a zero point of the hidden state within 8 bits", () => {
    const at = (zeroPoint: number) => () => run(list(full), { hiddenStateZeroPoint: i32Scalar(zeroPoint) });
    for (const zeroPoint of [-128, 127]) expect(at(zeroPoint)).not.toThrow();
    for (const zeroPoint of [-129, 128])
      expect(at(zeroPoint)).toThrow(`hiddenStateZeroPoint: expected a number within [-128, 127], got ${zeroPoint}`);
  });

  it.each([
    ["recurrentToInputWeights", "TENSOR_QUANT8_SYMM", "expected all or none of the 3 input gate operands, got 2"],
    ["cellToForgetWeights", "TENSOR_QUANT16_SYMM", "expected all or none of the 2 peephole operands, got 1"],
    ["projectionWeights", "TENSOR_QUANT8_SYMM", "a projection bias is given, but no projection weights"],
    [
      "cellLayerNormWeights",
      "TENSOR_QUANT16_SYMM",
      "expected all or none of the 3 layer normalisation operands, got 2",
    ],
  ] as const)("refuses a cell without %s alone", (name, type, message) => {
    expect(() => run(list(full), { [name]: giveOmitted(type) })).toThrow(message);
  });

  it("refuses operands of other shapes", () => {
    const inputs = list(full);
    for (const [name, { type, dimensions, scale, zeroPoint }] of Object.entries(inputs)) {
      if (dimensions.length === 0) continue;
      const [first, ...others] = dimensions;
      const changed = tensorOf(type, [first + 1, ...others], undefined, { scale, zeroPoint });
      expect(() => run(inputs, { [name]: changed }), name).toThrow("the shape of");
    }
  });

  it("has one signature, of HAL 1.3", () => {
    const named = list(full);
    const inputs = inOrder(named);
    const outputs = outputsOf(named);
    expect(versionOf(quantizedLstm, inputs, { outputs })).toBe("1.3");
    inputs.forEach((_, index) => {
      const changed = inputs.map((given, at) => (at === index ? f32([1, 1]) : given));
      expect(mismatchOf(quantizedLstm, changed, { outputs })).toContain(`input ${index} (`);
    });
    outputs.forEach((_, index) => {
      const changed = outputs.map((given, at) => (at === index ? declareOutput("TENSOR_FLOAT32") : given));
      expect(mismatchOf(quantizedLstm, inputs, { outputs: changed })).toContain(`output ${index} (`);
    });
    expect(mismatchOf(quantizedLstm, inputs.slice(1), { outputs })).toContain(
      "expected 32 inputs and 3 outputs, got 31 inputs and 3 outputs",
    );
    expect(mismatchOf(quantizedLstm, inputs, { outputs: outputs.slice(1) })).toContain("2 outputs");
  });
});
