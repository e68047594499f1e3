/**
 * Explanations of control flow that the runtime interprets.
 */
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { androidPolicy, askAndPlan } from "@nnhal/driver-core/partition";
import { Model } from "@nnhal/runtime";
import { TENSOR_LONG, wideExtension, wideName } from "@nnhal/test-kit/wide-extension";
import { type Device, ErrorStatus, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { formatExplanation } from "./explain-report.ts";
import { type Explanation, explainAnswers, explainPlan } from "./explanation.ts";
import { drawExplanation } from "./svg.ts";

/** Doubles while less than 100. */
function makeDoubling(): Model {
  const number = { type: "TENSOR_FLOAT32", dimensions: [1] } as const;
  const condition = new Model();
  const [state, bound] = [condition.addOperand(number), condition.addOperand(number)];
  const verdict = condition.addOperand({ type: "TENSOR_BOOL8", dimensions: [1] });
  condition.setOperandValue(bound, Float32Array.of(100));
  condition.addOperation("LESS", [state, bound], [verdict]);
  condition.identifyInputsAndOutputs([state], [verdict]);
  condition.finish();
  const body = new Model();
  const [before, after] = [body.addOperand(number), body.addOperand(number)];
  const activation = body.addOperand({ type: "INT32" });
  body.setOperandValue(activation, 0);
  body.addOperation("ADD", [before, before, activation], [after]);
  body.identifyInputsAndOutputs([before], [after]);
  body.finish();
  const model = new Model();
  const [test, turn] = [model.addOperand({ type: "SUBGRAPH" }), model.addOperand({ type: "SUBGRAPH" })];
  const [start, end] = [model.addOperand(number), model.addOperand(number)];
  model.setOperandValueFromModel(test, condition);
  model.setOperandValueFromModel(turn, body);
  model.addOperation("WHILE", [test, turn, start], [end]);
  model.identifyInputsAndOutputs([start], [end]);
  model.finish();
  return model;
}

async function explanation(names?: Parameters<typeof explainPlan>[3]): Promise<Explanation> {
  const reference = await openDevice({ backend: referenceBackend });
  if ("unavailable" in reference) throw new Error(reference.unavailable);
  const { capabilities } = reference.getCapabilities();
  const info = { execTime: 0.5, powerUsage: 0.5 };
  const operandPerformance = capabilities.operandPerformance.map(({ type }) => ({ type, info }));
  const adder: Device = {
    ...reference,
    name: "adder",
    getCapabilities: () => ({ status: ErrorStatus.NONE, capabilities: { ...capabilities, operandPerformance } }),
    getSupportedOperations({ main }) {
      const supported = main.operations.map(({ type }) => type === OperationType.ADD);
      const reasons = supported.map((yes) => (yes ? undefined : "only ADD"));
      return { status: ErrorStatus.NONE, supported, reasons };
    },
  };
  const devices = [adder, reference];
  const planned = await askAndPlan(makeDoubling().hal, devices, { policy: androidPolicy, cpu: reference.name });
  if ("unplannable" in planned) throw new Error(planned.message);
  const all = devices.map(({ name }) => name);
  const halVersions = Object.fromEntries(all.map((name) => [name, "aidl4" as const]));
  const about = { model: "doubling", policy: "android", preference: "FAST_SINGLE_ANSWER", devices: all, halVersions };
  return { ...about, ...(await explainPlan(planned, devices, undefined, names)) };
}

describe("control flow that is interpreted", () => {
  it("has the plans of its parts", async () => {
    expect(await explanation()).toMatchObject({
      operations: [
        { type: "WHILE", device: null, step: 0, devices: { adder: { supported: false, reason: "only ADD" } } },
      ],
      steps: [
        {
          device: null,
          operations: [0],
          inputBytes: 4,
          outputBytes: 4,
          inside: [
            {
              part: "condition",
              operations: [{ type: "LESS" }],
              steps: [{ device: "nnhal-reference", outputBytes: 1 }],
            },
            { part: "body", operations: [{ type: "ADD" }], steps: [{ device: "adder", inputBytes: 4 }] },
          ],
        },
      ],
      // The state of two turns.
      memory: { peak: 8, lowerBound: 8 },
    });
  });

  it("is told to people with its parts", async () => {
    const text = formatExplanation(await explanation(), { verbose: true });
    expect(text).toMatch(/^ {2}1 {2}WHILE {2}2 x SUBGRAPH, TENSOR_FLOAT32 \[1\] → TENSOR_FLOAT32 \[1\]$/m);
    expect(text).toMatch(/^ {2}1 {2}the runtime interprets: operation 1, predicted /m);
    expect(text).toMatch(/^ {5}body\n {7}Operations\n {9}1 {2}ADD {2}TENSOR_FLOAT32 \[1\] \[1\], INT32 → /m);
    expect(text).toMatch(/^ {9}1 {2}adder: operation 1, predicted /m);
  });

  it("is one table of steps, unless more is asked for", async () => {
    const [, table = "", refused] = formatExplanation(await explanation()).split("\n\n");
    expect(table.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["step", "device", "operations", "predicted", "in", "out"],
      ["1", "interpreted", "1", expect.any(String), "4 bytes", "4 bytes"],
      ["1 condition 1", "nnhal-reference", "1", expect.any(String), "4 bytes", "1 byte"],
      ["1 body 1", "adder", "1", expect.any(String), "4 bytes", "4 bytes"],
    ]);
    expect(refused).toBe("adder does not take\n  1  WHILE  only ADD");
  });

  it("is drawn grey, with its parts below", async () => {
    const svg = drawExplanation(await explanation());
    expect(svg).toContain("interpreted by the runtime");
    expect(svg).toMatch(/fill="#e4e4e4" stroke="#333333" stroke-dasharray="4 3"\/><text [^>]+>1 WHILE</);
    expect(svg).toContain(">WHILE 1, condition</text>");
    expect(svg).toContain(">WHILE 1, body</text>");
  });

  it("is drawn with the names of tensors, also in its parts", async () => {
    const explained = await explanation({
      operandNames: [undefined, undefined, "start", "end"],
      referencedNames: [
        ["state", "bound", "verdict"],
        ["before", "after"],
      ],
    });
    const svg = drawExplanation(explained);
    expect(formatExplanation(explained, { verbose: true })).toMatch(/^ +in +4 bytes: "start" TENSOR_FLOAT32 \[1\]$/m);
    const names = ["end", "verdict", "after"].filter((name) => new RegExp(`\\d: ${name}<`).test(svg));
    expect(names).toEqual(["end", "verdict", "after"]);
  });
});

describe("a model with an extension", () => {
  it("has names, data and sizes of the extension's types", async () => {
    const device = await openDevice({ backend: createReferenceBackend({ extensions: [wideExtension] }) });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const model = new Model({ extensions: device.getSupportedExtensions().extensions });
    const real = { type: "TENSOR_FLOAT32", dimensions: [3] } as const;
    const [input, long, output] = [
      model.addOperand(real),
      model.addOperand({ type: TENSOR_LONG, dimensions: [3] }),
      model.addOperand(real),
    ];
    model.setOperandExtensionData(long, TENSOR_LONG, { factor: 0.5 });
    model.addOperation(model.getExtensionOperationType(wideExtension, "WIDEN"), [input], [long]);
    model.addOperation(model.getExtensionOperationType(wideExtension, "NARROW"), [long], [output]);
    model.identifyInputsAndOutputs([input], [output]);
    model.finish();
    const apart = await askAndPlan(model.hal, [device], { separateOperations: true });
    if ("unplannable" in apart) throw new Error(apart.message);
    const { operations, steps } = await explainPlan(apart, [device], undefined, {
      definitions: { extensions: [wideExtension] },
    });
    expect(operations.map(({ type }) => type)).toEqual([`${wideName} WIDEN`, `${wideName} NARROW`]);
    const tensor = { operand: 1, type: `${wideName} TENSOR_LONG`, shape: [3], extensionData: "{factor: 0.5}" };
    expect(operations[0]?.outputs).toEqual([tensor]);
    expect(steps[0]?.outputs).toEqual([{ ...tensor, bytes: 24 }]);
    const unnamed = await explainAnswers(model.hal, [device]);
    expect(unnamed.operations[1]).toMatchObject({
      type: `${wideName} operation 2`,
      inputs: [{ type: `${wideName} type 5`, extensionData: "0x000000000000e03f" }],
    });
    await device.close();
  });
});
