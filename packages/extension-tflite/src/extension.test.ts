/** The extension as a device has it: named, validated in a model, compiled and executed by the reference. The operations are tested beside them. */
import { viewModel } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { extensionCode } from "@nnhal/operations";
import { ErrorStatus, type Model, type Operand, OperandLifeTime, OperandType } from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { tfliteExtension } from "./extension.ts";
import { extensionName, tfliteTypes } from "./types.ts";

const prefix = 1;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;

function operand(type: number, lifetime: Operand["lifetime"], numberOfConsumers: number): Operand {
  return {
    type,
    dimensions: [3],
    numberOfConsumers,
    scale: 0,
    zeroPoint: 0,
    lifetime,
    location: { poolIndex: 0, offset: 0, length: 0 },
    extraParams: { kind: "none" },
  };
}

/** A model of REAL: the real parts of 3 numbers. */
function realModel(inputType: number): Model {
  const real = tfliteExtension.operations.find(({ name }) => name === "REAL");
  if (real === undefined) throw new TypeError("the extension has no REAL");
  return {
    main: {
      operands: [operand(inputType, SUBGRAPH_INPUT, 1), operand(OperandType.TENSOR_FLOAT32, SUBGRAPH_OUTPUT, 0)],
      operations: [{ type: extensionCode(prefix, real.code), inputs: [0], outputs: [1] }],
      inputIndexes: [0],
      outputIndexes: [1],
    },
    referenced: [],
    operandValues: new Uint8Array(),
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [{ name: extensionName, prefix }],
  };
}

const complex = extensionCode(prefix, tfliteTypes.TENSOR_COMPLEX64.code);
const issuesOf = (model: Model) => modelIssues(model, { mode: "runtime", extensions: [tfliteExtension] });

describe("nnhal.tflite", () => {
  it("is executed by a backend that has it", async () => {
    const model = realModel(complex);
    expect(issuesOf(model)).toEqual([]);
    const session = await createReferenceBackend({ extensions: [tfliteExtension] }).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    const graph = viewModel({ model, pools: [], extensions: [tfliteExtension] });
    const executable = await session.compile(graph, { preference: 1, priority: 1 });
    const output = new Float32Array(3);
    const { status } = await executable.run(
      [{ bytes: new Uint8Array(Float32Array.of(1, -1, 2, -2, 3, -3).buffer), dimensions: [3] }],
      [{ bytes: new Uint8Array(output.buffer), dimensions: [3] }],
      { now: () => 0n, random: () => 0.5, loopTimeoutDuration: 10n ** 12n, measure: false },
    );
    executable.close();
    expect(status).toBe(ErrorStatus.NONE);
    expect([...output]).toEqual([1, 2, 3]);
  });

  it("is refused by validation where the types fit no row, with the operand's place", () => {
    const [issue] = issuesOf(realModel(OperandType.TENSOR_FLOAT32));
    expect(issue.path).toContain("operations[0]");
    expect(issue.message).toContain(
      "REAL: input 0 (input): expected nnhal.tflite TENSOR_COMPLEX64, got TENSOR_FLOAT32",
    );
  });

  it("has one operation for each name and each code", () => {
    const { operations } = tfliteExtension;
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
    expect(new Set(operations.map(({ code }) => code)).size).toBe(operations.length);
  });
});
