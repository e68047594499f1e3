/**
 * The extension in devices and a runtime: the equivalents of Android's tests of the Fibonacci extension, and each rule broken alone.
 */
import type { Backend } from "@nnhal/backend";
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import {
  allowEveryApplication,
  Compilation,
  Execution,
  Model,
  NeuralNetworksError,
  ResultCode,
  registerDevices,
} from "@nnhal/runtime";
import { ErrorStatus, type Model as HalModel } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { fibonacciBackend } from "./backend.ts";
import { fibonacci } from "./fibonacci.ts";
import { INT64, TENSOR_QUANT64_ASYMM } from "./types.ts";

const { name } = fibonacci;
const quantised = { scale: 0.5, zeroPoint: 10n };

async function openTested(backend: Backend): Promise<OpenedDevice> {
  const device = await openDevice({ backend, log: silentLogger });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const reference = await openTested(referenceBackend);
const engine = await openTested(fibonacciBackend);
const options = { log: silentLogger, allowList: allowEveryApplication, cpu: reference };
const { extensions, devices } = registerDevices([engine, reference], options);

/** An open model that may use the extension. */
const emptyModel = () => new Model({ extensions, log: silentLogger });
const float = (...dimensions: number[]) => ({ type: "TENSOR_FLOAT32", dimensions }) as const;
const fibonacciType = (model: Model) => model.getExtensionOperationType(fibonacci, "FIBONACCI");

/** A finished model of FIBONACCI with quantised 64-bit numbers. */
function wideModel(): Model {
  const model = emptyModel();
  const n = model.addOperand({ type: INT64 });
  const sequence = model.addOperand({ type: TENSOR_QUANT64_ASYMM, dimensions: [0] });
  model.setOperandExtensionData(sequence, TENSOR_QUANT64_ASYMM, quantised);
  model.addOperation(fibonacciType(model), [n], [sequence]);
  model.identifyInputsAndOutputs([n], [sequence]);
  model.finish();
  return model;
}

/** n + 2 → FIBONACCI → sequence * 3, with real numbers. */
function mixedModel(): Model {
  const model = emptyModel();
  const [n, two, sum] = [float(1), float(1), float(1)].map((operand) => model.addOperand(operand));
  // Values between devices have known sizes.
  const [sequence, three, result] = [float(5), float(1), float(5)].map((operand) => model.addOperand(operand));
  const activation = model.addOperand({ type: "INT32" });
  model.setOperandValue(activation, 0);
  model.setOperandValue(two as number, Float32Array.of(2));
  model.setOperandValue(three as number, Float32Array.of(3));
  model.addOperation("ADD", [n as number, two as number, activation], [sum as number]);
  model.addOperation(fibonacciType(model), [sum as number], [sequence as number]);
  model.addOperation("MUL", [sequence as number, three as number, activation], [result as number]);
  model.identifyInputsAndOutputs([n as number], [result as number]);
  model.finish();
  return model;
}

/** The output of a model with one input, on devices. */
async function run<Output extends Float32Array | BigInt64Array>(
  model: Model,
  on: readonly OpenedDevice[],
  input: Float32Array | BigInt64Array,
  output: Output,
): Promise<Output> {
  const compilation = new Compilation(model, on);
  await compilation.finish();
  const execution = new Execution(compilation);
  execution.setInput(0, input);
  execution.setOutput(0, output);
  await execution.compute();
  compilation.close();
  return output;
}

const coded = (code: keyof typeof ResultCode, ...parts: string[]) =>
  expect.objectContaining({
    code: ResultCode[code],
    message: expect.stringMatching(parts.map((part) => `(?=.*${part})`).join("")),
  });
const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => (error instanceof NeuralNetworksError ? error : undefined),
  );

describe("the devices", () => {
  it("report the extension if they have it", () => {
    expect(engine.getSupportedExtensions()).toEqual({
      status: ErrorStatus.NONE,
      extensions: [
        {
          name,
          operandTypes: [
            { type: 0, isTensor: false, byteSize: 8 },
            { type: 1, isTensor: true, byteSize: 8 },
          ],
        },
      ],
    });
    expect(reference.getSupportedExtensions()).toEqual({ status: ErrorStatus.NONE, extensions: [] });
    expect(devices.map((device) => device.getExtensionSupport(fibonacci))).toEqual([true, false]);
    expect(devices[0]?.getExtensionSupport("com.example.nonexistent")).toBe(false);
    expect(devices[0]?.getExtensionSupport("malformed name")).toBe(false);
  });

  it("support the extension's operation only if they have the extension, and say why not", () => {
    const { hal } = mixedModel();
    expect(engine.getSupportedOperations(hal)).toMatchObject({
      supported: [false, true, false],
      reasons: ["ADD: fibonacci has no kernel for it", undefined, "MUL: fibonacci has no kernel for it"],
    });
    expect(reference.getSupportedOperations(hal)).toMatchObject({
      supported: [true, false, true],
      reasons: [undefined, `${name} operation 0: the engine does not have this operation`, undefined],
    });
  });

  it("know the operation under every prefix", () => {
    const { hal } = wideModel();
    for (const prefix of [1, 2, 0x7fff, 0xffff]) {
      const move = <Typed extends { readonly type: number }>(one: Typed) => ({
        ...one,
        type: one.type > 0xffff ? prefix * 0x1_0000 + (one.type % 0x1_0000) : one.type,
      });
      const { operands, operations } = hal.main;
      const main = { ...hal.main, operands: operands.map(move), operations: operations.map(move) };
      const moved: HalModel = { ...hal, main, extensionNameToPrefix: [{ name, prefix }] };
      expect(engine.getSupportedOperations(moved)).toMatchObject({ supported: [true] });
    }
  });
});

describe("FIBONACCI", () => {
  it("has 64-bit numbers with the quantisation of the extension data", async () => {
    const output = await run(wideModel(), [engine], BigInt64Array.of(6n), new BigInt64Array(6));
    expect(output).toEqual(BigInt64Array.of(12n, 12n, 14n, 16n, 20n, 26n));
  });

  it("runs between operations of the HAL on another device", async () => {
    const model = mixedModel();
    const compilation = new Compilation(model, [engine, reference]);
    await compilation.finish();
    expect(compilation.deviceNames).toEqual(["nnhal-reference", "nnhal-fibonacci"]);
    expect(await run(model, [engine, reference], Float32Array.of(3), new Float32Array(5))).toEqual(
      Float32Array.of(3, 3, 6, 9, 15),
    );
  });

  it("runs on the reference if it was given the extension", async () => {
    const explicit = await openTested(createReferenceBackend({ extensions: [fibonacci] }));
    expect(await run(wideModel(), [explicit], BigInt64Array.of(3n), new BigInt64Array(3))).toEqual(
      BigInt64Array.of(12n, 12n, 14n),
    );
    expect(await run(mixedModel(), [explicit], Float32Array.of(3), new Float32Array(5))).toEqual(
      Float32Array.of(3, 3, 6, 9, 15),
    );
    await explicit.close();
  });

  it("does not run on the CPU otherwise", async () => {
    const { createCompilation } = registerDevices([reference], options);
    expect(await rejection(createCompilation(mixedModel()).finish())).toEqual(
      coded("BAD_DATA", "no device supports operation 2 of 3"),
    );
  });

  it.each([-1, 0, 93])("fails with n = %i", async (n) => {
    const failed = await rejection(run(wideModel(), [engine], BigInt64Array.of(BigInt(n)), new BigInt64Array(6)));
    expect(failed).toEqual(coded("OP_FAILED", `n: expected an integer within \\[1, 92\\], got ${n}`));
  });

  it("tells the shape of its result if the output is too small", async () => {
    const compilation = new Compilation(wideModel(), [engine]);
    await compilation.finish();
    const execution = new Execution(compilation);
    execution.setInput(0, BigInt64Array.of(6n));
    execution.setOutput(0, new BigInt64Array(5));
    await expect(execution.compute()).rejects.toEqual(coded("OUTPUT_INSUFFICIENT_SIZE"));
    expect(execution.getOutputOperandDimensions(0)).toEqual([6]);
  });
});

describe("a model that breaks a rule", () => {
  /** The error of preparing FIBONACCI with other operands. */
  async function failureOf(build: (model: Model) => void): Promise<NeuralNetworksError | undefined> {
    return rejection(
      (async () => {
        const model = emptyModel();
        build(model);
        model.finish();
        expect(engine.getSupportedOperations(model.hal).supported.includes(true)).toBe(false);
        await new Compilation(model, [engine]).finish();
      })(),
    );
  }

  it("with a wrong input type is refused", async () => {
    const failure = await failureOf((model) => {
      const [n, sequence] = [model.addOperand({ type: "TENSOR_INT32", dimensions: [1] }), model.addOperand(float(0))];
      model.addOperation(fibonacciType(model), [n], [sequence]);
      model.identifyInputsAndOutputs([n], [sequence]);
    });
    expect(failure).toEqual(coded("BAD_DATA", "FIBONACCI: input 0 \\(n\\): expected .* INT64, got TENSOR_INT32"));
  });

  it("with a wrong output type is refused", async () => {
    const failure = await failureOf((model) => {
      const [n, sequence] = [model.addOperand(float(1)), model.addOperand({ type: "TENSOR_INT32", dimensions: [0] })];
      model.addOperation(fibonacciType(model), [n], [sequence]);
      model.identifyInputsAndOutputs([n], [sequence]);
    });
    expect(failure).toEqual(coded("BAD_DATA", "FIBONACCI: output 0 \\(sequence\\): expected .*, got TENSOR_INT32"));
  });

  it("with a wrong number of inputs or outputs is refused", async () => {
    const inputs = await failureOf((model) => {
      const [n, m, sequence] = [float(1), float(1), float(0)].map((operand) => model.addOperand(operand));
      model.addOperation(fibonacciType(model), [n as number, m as number], [sequence as number]);
      model.identifyInputsAndOutputs([n as number, m as number], [sequence as number]);
    });
    expect(inputs).toEqual(coded("BAD_DATA", "FIBONACCI: expected 1 inputs and 1 outputs, got 2 inputs and 1 outputs"));
    const outputs = await failureOf((model) => {
      const [n, one, other] = [float(1), float(0), float(0)].map((operand) => model.addOperand(operand));
      model.addOperation(fibonacciType(model), [n as number], [one as number, other as number]);
      model.identifyInputsAndOutputs([n as number], [one as number, other as number]);
    });
    expect(outputs).toEqual(
      coded("BAD_DATA", "FIBONACCI: expected 1 inputs and 1 outputs, got 1 inputs and 2 outputs"),
    );
  });

  it("with an unknown operation of the extension is refused", async () => {
    const failure = await failureOf((model) => {
      const [n, sequence] = [model.addOperand(float(1)), model.addOperand(float(0))];
      model.addOperation(model.getExtensionOperationType(name, 42), [n], [sequence]);
      model.identifyInputsAndOutputs([n], [sequence]);
    });
    expect(failure).toEqual(coded("BAD_DATA", `${name} operation 42: the engine does not have this operation`));
  });

  it("with extension data of a wrong length, with none, or with some that the type does not have is refused", async () => {
    const withData = (data: Uint8Array | null, isOnScalar = false) =>
      failureOf((model) => {
        const n = model.addOperand({ type: INT64 });
        const sequence = model.addOperand({ type: TENSOR_QUANT64_ASYMM, dimensions: [0] });
        if (isOnScalar) model.setOperandExtensionData(sequence, TENSOR_QUANT64_ASYMM, quantised);
        model.setOperandExtensionData(isOnScalar ? n : sequence, data);
        model.addOperation(fibonacciType(model), [n], [sequence]);
        model.identifyInputsAndOutputs([n], [sequence]);
      });
    expect(await withData(Uint8Array.of(1, 2, 3))).toEqual(
      coded("BAD_DATA", "main.operands\\[1\\].extraParams.extension", "expected 16 bytes of data, got 3"),
    );
    expect(await withData(null)).toEqual(coded("BAD_DATA", "has no extension data, but the type requires it"));
    expect(await withData(Uint8Array.of(1), true)).toEqual(
      coded("BAD_DATA", "1 bytes of extension data, but the type"),
    );
  });

  it("with an operand of the extension in an operation of the HAL is refused", () => {
    const model = emptyModel();
    const [wide, result] = [
      model.addOperand({ type: TENSOR_QUANT64_ASYMM, dimensions: [2] }),
      model.addOperand(float(2)),
    ];
    model.addOperation("FLOOR", [wide], [result]);
    model.identifyInputsAndOutputs([wide], [result]);
    expect(() => model.finish()).toThrow(
      coded("BAD_DATA", "FLOOR: input 0 \\(input\\): expected .*, got an extension type"),
    );
  });

  it("with data for another type, or an operation that the definition lacks, is refused at once", () => {
    const model = emptyModel();
    const n = model.addOperand({ type: INT64 });
    expect(() => model.setOperandExtensionData(n, TENSOR_QUANT64_ASYMM, quantised)).toThrow(
      coded("BAD_DATA", `the operand is not a ${name} TENSOR_QUANT64_ASYMM`),
    );
    // @ts-expect-error The extension has no such operation.
    expect(() => model.getExtensionOperationType(fibonacci, "LUCAS")).toThrow(
      coded("BAD_DATA", "has no operation LUCAS"),
    );
    // @ts-expect-error The zero point is a bigint.
    const wrong = () => model.setOperandExtensionData(n, TENSOR_QUANT64_ASYMM, { scale: 1, zeroPoint: 1 });
    expect(wrong).toThrow(coded("BAD_DATA"));
  });

  it("is refused if no device describes the extension", () => {
    const model = new Model({ extensions: [], log: silentLogger });
    expect(() => model.addOperand({ type: INT64 })).toThrow(
      coded("BAD_DATA", `no extension that the model was given describes operand type 0 of ${name}`),
    );
  });
});
