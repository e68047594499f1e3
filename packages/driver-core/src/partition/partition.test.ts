import { elementAt } from "@nnhal/operations";
import {
  ExecutionPreference,
  type Model,
  OperandLifeTime,
  OperandType,
  OperationType,
  type OperationTypeName,
  type Subgraph,
} from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plan } from "./partition.ts";
import type { ExecutionStep, Plan } from "./plan.ts";
import { capabilitiesOf, deviceOf, modelOf, type Sketch, sketch } from "./planning.test-helper.ts";
import { androidPolicy, costPolicy } from "./policy.ts";
import type { PlanningDevice, PlanOptions } from "./questions.ts";

const android: PlanOptions = { policy: androidPolicy };

/** The plan of a model that can be planned. */
function planParts(main: Subgraph, devices: readonly PlanningDevice[], options: PlanOptions = {}): Plan {
  const result = plan(modelOf(main), devices, options);
  if ("unplannable" in result) throw new Error(result.message);
  return result;
}

/** Which device each operation goes to, by name. */
function devicesOf({ choices, devices }: Plan): (string | undefined)[] {
  return choices.map(({ device }) => (device === undefined ? undefined : devices[device]));
}

function executions({ steps }: Plan): ExecutionStep[] {
  return steps.flatMap((step) => (step.kind === "execution" ? [step] : []));
}

const cpu = (execTime = 1, powerUsage = execTime) => deviceOf("cpu", capabilitiesOf(execTime, powerUsage));
const chain = (...names: OperationTypeName[]): Subgraph =>
  sketch(
    names.map((name, index): Sketch[number] => [name, `t${index}`, `t${index + 1}`]),
    "t0",
    `t${names.length}`,
  );

describe("plan by Android's policy", () => {
  it("passes the unchanged model to a single device", () => {
    const model = modelOf(chain("ABS", "NEG"));
    const result = plan(model, [cpu()], android);
    expect(result).toMatchObject({ steps: [{ kind: "execution", device: 0, operations: [0, 1] }] });
    expect("steps" in result && elementAt(executions(result), 0).model).toBe(model);
  });

  it("assigns each operation to the fastest device that supports it", () => {
    const fast = deviceOf("fast", capabilitiesOf(0.1), ["ABS"]);
    const slow = deviceOf("slow", capabilitiesOf(0.5));
    expect(devicesOf(planParts(chain("ABS", "NEG", "ABS"), [slow, fast], android))).toEqual(["fast", "slow", "fast"]);
  });

  it("assigns equals to the first device, but to the CPU before all", () => {
    const equals = [deviceOf("a", capabilitiesOf(1)), deviceOf("b", capabilitiesOf(1)), cpu()];
    expect(devicesOf(planParts(chain("ABS"), equals, android))).toEqual(["a"]);
    expect(devicesOf(planParts(chain("ABS"), equals, { ...android, cpu: "cpu" }))).toEqual(["cpu"]);
    const faster = [deviceOf("a", capabilitiesOf(0.99)), cpu()];
    expect(devicesOf(planParts(chain("ABS"), faster, { ...android, cpu: "cpu" }))).toEqual(["a"]);
  });

  it("compares power if LOW_POWER is preferred", () => {
    const devices = [deviceOf("quick", capabilitiesOf(0.1, 2)), deviceOf("frugal", capabilitiesOf(2, 0.1))];
    expect(devicesOf(planParts(chain("ABS"), devices, android))).toEqual(["quick"]);
    const { LOW_POWER } = ExecutionPreference;
    expect(devicesOf(planParts(chain("ABS"), devices, { ...android, preference: LOW_POWER }))).toEqual(["frugal"]);
  });

  it("looks at the relaxed figures of a relaxed model", () => {
    const relaxed = {
      ...capabilitiesOf(2),
      relaxedFloat32toFloat16PerformanceTensor: { execTime: 0.1, powerUsage: 0.1 },
    };
    const devices = [deviceOf("relaxed", relaxed), deviceOf("exact", capabilitiesOf(1))];
    const choose = (isRelaxed: boolean) => {
      const result = plan(modelOf(chain("ABS"), [], isRelaxed), devices, android);
      return "steps" in result && devicesOf(result);
    };
    expect(choose(false)).toEqual(["exact"]);
    expect(choose(true)).toEqual(["relaxed"]);
  });

  it("puts a device that names no figure for the type behind all others", () => {
    const silent = { ...capabilitiesOf(0.1), operandPerformance: [] };
    const other = {
      ...silent,
      operandPerformance: [{ type: OperandType.TENSOR_INT32, info: { execTime: 0.1, powerUsage: 1 } }],
    };
    const devices = [deviceOf("silent", silent), deviceOf("other", other), deviceOf("slow", capabilitiesOf(99))];
    expect(devicesOf(planParts(chain("ABS"), devices, android))).toEqual(["slow"]);
  });

  it("reports which operation no device supports, and why", () => {
    const result = plan(modelOf(chain("ABS", "NEG")), [deviceOf("npu", capabilitiesOf(1), ["ABS"])], android);
    expect(result).toEqual({
      unplannable: "BAD_DATA",
      message: "no device supports operation 2 of 2. npu: NEG is not for npu",
      places: [{ path: "main.operations[1]", message: "no device supports it. npu: NEG is not for npu" }],
    });
  });
});

describe("steps", () => {
  const npu = deviceOf("npu", capabilitiesOf(0.1), ["ABS"]);
  const devices = [npu, cpu()];

  it("carry what crosses between them as inputs and outputs", () => {
    const { steps } = planParts(chain("ABS", "NEG", "ABS"), devices, android);
    expect(steps).toMatchObject([
      { device: 0, operations: [0], inputs: [0], outputs: [1] },
      { device: 1, operations: [1], inputs: [1], outputs: [2] },
      { device: 0, operations: [2], inputs: [2], outputs: [3] },
    ]);
    for (const { model } of executions(planParts(chain("ABS", "NEG", "ABS"), devices, android))) {
      const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;
      expect(model.main.operands.map(({ lifetime }) => lifetime)).toEqual([SUBGRAPH_INPUT, SUBGRAPH_OUTPUT]);
      expect(model.main.operands.map(({ numberOfConsumers }) => numberOfConsumers)).toEqual([1, 0]);
    }
  });

  it("collect what one device can do before the next one's turn", () => {
    // Two independent branches: both ABS run in one step.
    const main = sketch(
      [
        ["ABS", "a", "b"],
        ["NEG", "b", "c"],
        ["ABS", "a", "d"],
        ["NEG", "d", "e"],
      ],
      "a",
      "c e",
    );
    expect(planParts(main, devices, android).steps).toMatchObject([
      { device: 0, operations: [0, 2], inputs: [0] },
      { device: 1, operations: [1, 3] },
    ]);
  });

  it("list model inputs, then temporaries, then model outputs", () => {
    const main = sketch(
      [
        ["ABS", "in", "out"],
        ["ABS", "in", "temporary"],
        ["SELECT", "out temporary in", "last"],
      ],
      "in",
      "out last",
    );
    const [first, second] = executions(planParts(main, devices, android));
    const [input, out, temporary, last] = [0, 1, 2, 3];
    expect(first).toMatchObject({ inputs: [input], outputs: [out, temporary] });
    expect(second).toMatchObject({
      inputs: [input, temporary, out],
      outputs: [last],
    });
  });

  it("keep constants where they are", () => {
    const location = { poolIndex: 3, offset: 8, length: 16 };
    const constant = { lifetime: OperandLifeTime.CONSTANT_REFERENCE, location };
    const main = sketch(
      [
        ["ABS", "in", "t"],
        ["MAXIMUM", "t weights", "out"],
      ],
      "in",
      "out",
      { weights: constant },
    );
    const second = elementAt(executions(planParts(main, devices, android)), 1);
    expect(second.inputs).toEqual([1]);
    expect(elementAt(second.model.main.operands, 1)).toMatchObject(constant);
  });

  it("keep subgraphs and extensions only if they are used", () => {
    const extended = { type: 0x0007_0001 };
    const subgraph = { type: OperandType.SUBGRAPH, dimensions: [], lifetime: OperandLifeTime.SUBGRAPH };
    const main = sketch(
      [
        ["ABS", "in", "a"],
        ["IF", "flag yes yes a", "b"],
        ["NEG", "b", "c"],
        ["MAXIMUM", "c own", "out"],
      ],
      "in flag own",
      "out",
      { flag: { type: OperandType.TENSOR_BOOL8, dimensions: [1] }, yes: subgraph, own: extended },
    );
    const inside = sketch([["ABS", "in", "out"]], "in", "out");
    const model: Model = {
      ...modelOf(main, [inside]),
      extensionNameToPrefix: [{ name: "com.example.test", prefix: 7 }],
    };
    const takes = (name: OperationTypeName) => deviceOf(name.toLowerCase(), capabilitiesOf(1), [name]);
    const divided = plan(model, [takes("ABS"), takes("IF"), takes("NEG"), takes("MAXIMUM")], android);
    if ("unplannable" in divided) throw new Error(divided.message);
    const carried = executions(divided).map((step) => [
      step.model.referenced.length,
      step.model.extensionNameToPrefix.length,
    ]);
    // Operations inside an IF can belong to any extension.
    expect(carried).toEqual([
      [0, 0],
      [1, 1],
      [0, 0],
      [0, 1],
    ]);
  });

  it("do not cut a temporary whose size is not known", () => {
    const main = (middle: OperationTypeName) =>
      sketch(
        [
          ["ABS", "in", "t"],
          [middle, "t", "out"],
        ],
        "in",
        "out",
        { t: { dimensions: [0] } },
      );
    // The CPU takes both, so both go there.
    expect(devicesOf(planParts(main("NEG"), devices, android))).toEqual(["cpu", "cpu"]);
    const disjoint = [npu, deviceOf("cpu", capabilitiesOf(1), ["NEG"])];
    expect(plan(modelOf(main("NEG")), disjoint, android)).toEqual({
      unplannable: "OP_FAILED",
      message: "operand 1 has no known size, so operations 0 and 1 cannot be in different steps",
    });
  });
});

describe("control flow", () => {
  const branch = chain("ABS");
  const SUBGRAPH = (offset: number) => ({
    type: OperandType.SUBGRAPH,
    dimensions: [],
    lifetime: OperandLifeTime.SUBGRAPH,
    location: { poolIndex: 0, offset, length: 0 },
  });
  const main = sketch([["IF", "flag yes no in", "out"]], "flag in", "out", {
    flag: { type: OperandType.TENSOR_BOOL8, dimensions: [1] },
    yes: SUBGRAPH(0),
    no: SUBGRAPH(1),
  });
  const model = modelOf(main, [branch, chain("NEG")]);
  const npu = deviceOf("npu", capabilitiesOf(0.1), ["ABS"]);

  it("goes whole to a device that supports it and is faster", () => {
    const all = deviceOf("gpu", capabilitiesOf(0.1));
    expect(plan(model, [all, cpu()], { ...android, cpu: "cpu" })).toMatchObject({
      steps: [{ kind: "execution", device: 0 }],
    });
  });

  it("is interpreted beside the CPU, so that the branches go to the best devices", () => {
    expect(plan(model, [npu, cpu()], { ...android, cpu: "cpu" })).toMatchObject({
      choices: [{ device: undefined }],
      steps: [
        {
          kind: "if",
          operation: 0,
          condition: 0,
          inputs: [3],
          outputs: [4],
          thenPlan: { steps: [{ kind: "execution", device: 0 }] },
          elsePlan: { steps: [{ kind: "execution", device: 1 }] },
        },
      ],
    });
  });

  it("of unknown size stays on the CPU", () => {
    const unknown = { ...branch, operands: branch.operands.map((operand) => ({ ...operand, dimensions: [0] })) };
    const result = plan(modelOf(main, [unknown, chain("NEG")]), [npu, cpu()], { ...android, cpu: "cpu" });
    expect(result).toMatchObject({ steps: [{ kind: "execution", device: 1 }] });
  });

  it("has no device if none supports it and there is no CPU", () => {
    expect(plan(model, [npu], android)).toMatchObject({ unplannable: "BAD_DATA" });
  });
});

describe("plan by cost", () => {
  it("does not send a lone cheap operation to another device and back", () => {
    const npu = deviceOf("npu", capabilitiesOf(0.1), ["ABS"]);
    const devices = [npu, cpu()];
    const main = chain("NEG", "ABS", "NEG");
    expect(devicesOf(planParts(main, devices, android))).toEqual(["cpu", "npu", "cpu"]);
    const { choices } = planParts(main, devices);
    expect(choices.map(({ device }) => device)).toEqual([1, 1, 1]);
    expect(elementAt(choices, 1).reason).toBe(
      "another device computes faster, but not with the transfers to and from it",
    );
  });

  it("moves an operation if its work is worth it", () => {
    const large = { dimensions: [1, 1000, 1000] };
    const main = sketch(
      [
        ["NEG", "in", "a"],
        ["ABS", "a", "b"],
        ["NEG", "b", "out"],
      ],
      "in",
      "out",
      { in: large, a: large, b: large, out: large },
    );
    const free = { ...costPolicy, costs: { ...costPolicy.costs, element: 10, byteMoved: 0, step: 1 } };
    const npu = deviceOf("npu", capabilitiesOf(0.01), ["ABS"]);
    expect(devicesOf(planParts(main, [npu, cpu()], { policy: free }))).toEqual(["cpu", "npu", "cpu"]);
  });

  it("keeps a chain together if two devices are equals", () => {
    const devices = [
      deviceOf("a", capabilitiesOf(1), ["ABS", "NEG"]),
      deviceOf("b", capabilitiesOf(1), ["NEG", "FLOOR"]),
    ];
    const { steps } = planParts(chain("ABS", "NEG", "NEG", "FLOOR"), devices);
    expect(steps).toHaveLength(2);
  });

  it("never predicts worse than Android's policy, and always runs each operation once, after its producers", () => {
    const names = ["ABS", "NEG", "FLOOR"] as const;
    const randomModel = fc
      .array(fc.tuple(fc.constantFrom(...names), fc.nat(), fc.integer({ min: 1, max: 1000 })), {
        minLength: 1,
        maxLength: 25,
      })
      .map((rows) => {
        const operations = rows.map(([name, read], index): Sketch[number] => [
          name,
          `t${read % (index + 1)}`,
          `t${index + 1}`,
        ]);
        const sizes = Object.fromEntries(rows.map(([, , size], index) => [`t${index + 1}`, { dimensions: [size] }]));
        const read = new Set(operations.map(([, input]) => input));
        const unread = operations.map(([, , output]) => output).filter((output) => !read.has(output));
        return sketch(operations, "t0", unread.join(" "), sizes);
      });
    const randomDevices = fc.array(
      fc.tuple(fc.subarray([...names]), fc.constantFrom(0.1, 0.5, 1, 3)).map(([takes, speed]) => ({ takes, speed })),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(randomModel, randomDevices, (main, rows) => {
        const devices = rows.map(({ takes, speed }, index) => deviceOf(`d${index}`, capabilitiesOf(speed), takes));
        const all = [...devices, cpu()];
        const byCost = planParts(main, all, { cpu: "cpu" });
        const byAndroid = planParts(main, all, { policy: androidPolicy, cpu: "cpu" });
        expect(byCost.predictedTime).toBeLessThanOrEqual(byAndroid.predictedTime);
        for (const one of [byCost, byAndroid]) {
          const order = executions(one).flatMap(({ operations }) => operations);
          expect([...order].sort((a, b) => a - b)).toEqual(main.operations.map((_, index) => index));
          const done = new Set(main.inputIndexes);
          for (const operation of order) {
            for (const input of elementAt(main.operations, operation).inputs) expect(done.has(input)).toBe(true);
            for (const output of elementAt(main.operations, operation).outputs) done.add(output);
          }
        }
      }),
    );
  });

  it("plans 30,000 operations", () => {
    const count = 30_000;
    const operation = (index: number) => ({
      type: index % 3 === 0 ? OperationType.ABS : OperationType.NEG,
      inputs: [index],
      outputs: [index + 1],
    });
    const { operands: ofOne } = chain("ABS");
    const [input, output] = [elementAt(ofOne, 0), elementAt(ofOne, 1)];
    const temporary = { ...input, lifetime: OperandLifeTime.TEMPORARY_VARIABLE };
    const operands = Array.from({ length: count + 1 }, (_, index) =>
      index === 0 ? input : index === count ? output : temporary,
    );
    const main = {
      operands,
      operations: Array.from({ length: count }, (_, index) => operation(index)),
      inputIndexes: [0],
      outputIndexes: [count],
    };
    const devices = [
      deviceOf("a", capabilitiesOf(0.5), ["ABS"]),
      deviceOf("b", capabilitiesOf(0.5), ["NEG"]),
      deviceOf("c", capabilitiesOf(0.7)),
      cpu(),
    ];
    const byAndroid = planParts(main, devices, { ...android, cpu: "cpu" });
    expect(byAndroid.steps.length).toBeGreaterThan(count / 2);
    expect(planParts(main, devices, { cpu: "cpu" }).steps).toHaveLength(1);
  });
});
