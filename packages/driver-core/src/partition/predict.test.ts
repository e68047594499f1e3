/**
 * Predicted times, control flow by cost, and plans taken apart.
 */
import { elementAt } from "@nnhal/operations";
import { OperandLifeTime, OperandType, type Subgraph } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { whyUnsupported } from "./ask-and-plan.ts";
import { plan } from "./partition.ts";
import type { Plan } from "./plan.ts";
import { capabilitiesOf, deviceOf, modelOf, sketch } from "./planning.test-helper.ts";
import { androidPolicy, costPolicy } from "./policy.ts";
import type { PlanningDevice, PlanOptions } from "./questions.ts";
import { separateOperations } from "./separate.ts";

const android: PlanOptions = { policy: androidPolicy };
const cpu = deviceOf("cpu", capabilitiesOf(1));
const npu = deviceOf("npu", capabilitiesOf(0.1), ["ABS"]);

function planParts(
  main: Subgraph,
  devices: readonly PlanningDevice[],
  options: PlanOptions,
  referenced?: Subgraph[],
): Plan {
  const result = plan(modelOf(main, referenced), devices, options);
  if ("unplannable" in result) throw new Error(result.message);
  return result;
}

const alternating = sketch(
  [
    ["ABS", "in", "a"],
    ["NEG", "a", "b"],
    ["ABS", "b", "out"],
  ],
  "in",
  "out",
);

describe("predicted times", () => {
  // Four elements are read and four written, and 16 bytes cross.
  const { step, operation, element, byteMoved } = costPolicy.costs;
  const work = 8 * element;

  it("of a step are its start, what it reads from other devices, and its operations", () => {
    const { steps, predictedTime } = planParts(alternating, [npu, cpu], android);
    const started = step + operation;
    const times = [started + 0.1 * work, started + 16 * byteMoved + work, started + 16 * byteMoved + 0.1 * work];
    expect(steps.map((one) => one.predictedTime)).toEqual(times);
    expect(predictedTime).toBeCloseTo(
      times.reduce((a, b) => a + b, 0),
      6,
    );
  });

  it("of operations on types of extensions are those on float32, which capabilities have no figures for", () => {
    const main = sketch([["ABS", "in", "out"]], "in", "out");
    const timeOf = (type: number, execTime: number) => {
      const operands = main.operands.map((operand) => ({ ...operand, type }));
      const declared = [{ type: OperandType.TENSOR_FLOAT32, info: { execTime, powerUsage: 1 } }];
      const device = deviceOf("npu", { ...capabilitiesOf(1), operandPerformance: declared });
      return planParts({ ...main, operands }, [device], android).predictedTime;
    };
    expect(timeOf(0x1_0003, 0.25)).toBe(step + operation + 0.25 * work);
    expect(timeOf(OperandType.TENSOR_INT32, 0.25)).toBeGreaterThan(100 * timeOf(0x1_0003, 0.25));
  });

  it("count what a step reads twice once, and nothing between steps of one device", () => {
    const main = sketch(
      [
        ["ABS", "in", "a"],
        ["NEG", "a", "b"],
        ["SELECT", "a a b", "c"],
        ["ABS", "c", "d"],
        ["SELECT", "d a b", "out"],
      ],
      "in",
      "out",
    );
    const [, second, , last] = planParts(main, [npu, cpu], android).steps;
    expect(second?.predictedTime).toBe(step + 16 * byteMoved + 2 * operation + work + 16 * element);
    // d and a cross; b comes from the CPU's own step before.
    expect(last?.predictedTime).toBe(step + 32 * byteMoved + operation + 16 * element);
  });

  it("count the start of each computation that a device makes of an operation", () => {
    const many: PlanningDevice = {
      ...cpu,
      getSupportedOperations: (model) => ({ ...cpu.getSupportedOperations(model), dispatches: [5, 1, 1] }),
    };
    const { choices } = planParts(alternating, [many], {});
    expect(choices.map(({ candidates: [candidate] }) => candidate)).toMatchObject([
      { predictedTime: 5 * operation + work },
      { predictedTime: operation + work },
      { predictedTime: operation + work },
    ]);
  });

  it("let a slower device that has less to start have an operation", () => {
    const many: PlanningDevice = {
      ...npu,
      getSupportedOperations: (model) => ({ ...npu.getSupportedOperations(model), dispatches: [9, 9, 9] }),
    };
    const main = sketch([["ABS", "in", "out"]], "in", "out");
    expect(planParts(main, [many, cpu], {}).choices).toMatchObject([
      { device: 1, reason: "cpu has less start-up cost than devices that compute faster" },
    ]);
    expect(planParts(main, [many, cpu], android).choices).toMatchObject([{ device: 0 }]);
  });

  it("of an operation stand beside what each device says of it", () => {
    const { choices } = planParts(alternating, [npu, cpu], android);
    expect(elementAt(choices, 0).candidates).toEqual([
      { supported: true, performance: 0.1, predictedTime: operation + 0.1 * work },
      { supported: true, performance: 1, predictedTime: operation + work },
    ]);
  });
});

describe("equals by cost", () => {
  it("go to the first device, but to the CPU before all", () => {
    const copy = deviceOf("copy", capabilitiesOf(1));
    const deviceFor = (devices: readonly PlanningDevice[], options: PlanOptions = {}) => {
      const { steps, devices: names } = planParts(alternating, devices, options);
      return steps.map((one) => one.kind === "execution" && names[one.device]);
    };
    expect(deviceFor([copy, cpu])).toEqual(["copy"]);
    expect(deviceFor([cpu, copy])).toEqual(["cpu"]);
    expect(deviceFor([copy, cpu], { cpu: "cpu" })).toEqual(["cpu"]);
  });

  it("go to the CPU if they could not all be on one device", () => {
    const copy = deviceOf("copy", capabilitiesOf(1), ["ABS", "NEG"]);
    const some = deviceOf("some", capabilitiesOf(0.01), ["FLOOR"]);
    const plain = deviceOf("cpu", capabilitiesOf(1), ["ABS", "NEG"]);
    const main = sketch(
      [
        ["FLOOR", "in", "a"],
        ["ABS", "a", "out"],
      ],
      "in",
      "out",
    );
    const { choices } = planParts(main, [copy, some, plain], { cpu: "cpu" });
    expect(choices.map(({ device }) => device)).toEqual([1, 2]);
  });
});

const SUBGRAPH = (offset: number) => ({
  type: OperandType.SUBGRAPH,
  dimensions: [],
  lifetime: OperandLifeTime.SUBGRAPH,
  location: { poolIndex: 0, offset, length: 0 },
});
const flag = { type: OperandType.TENSOR_BOOL8, dimensions: [1] };
const branching = sketch([["IF", "flag yes no in", "out"]], "flag in", "out", {
  flag,
  yes: SUBGRAPH(0),
  no: SUBGRAPH(1),
});
const looping = sketch([["WHILE", "condition body in", "out"]], "in", "out", {
  condition: SUBGRAPH(0),
  body: SUBGRAPH(1),
});

/** A subgraph of one ABS on so many elements. */
function abs(elements: number): Subgraph {
  const size = { dimensions: [elements] };
  return sketch([["ABS", "in", "out"]], "in", "out", { in: size, out: size });
}

describe("control flow by cost", () => {
  it("stays whole on the CPU if its parts are not worth a step", () => {
    const { steps, choices } = planParts(branching, [npu, cpu], { cpu: "cpu" }, [abs(4), abs(4)]);
    expect(steps).toMatchObject([{ kind: "execution", device: 1 }]);
    expect(elementAt(choices, 0).device).toBe(1);
  });

  it("is interpreted if a part is worth it", () => {
    const large = abs(1_000_000);
    expect(planParts(branching, [npu, cpu], { cpu: "cpu" }, [large, large]).steps).toMatchObject([
      { kind: "if", thenPlan: { steps: [{ device: 0 }] } },
    ]);
  });

  it("counts the mean of an IF's branches and one turn of a WHILE, whole or interpreted", () => {
    const branches = [abs(100), abs(300)];
    const { costs } = costPolicy;
    const whole = (main: Subgraph) => planParts(main, [cpu], {}, branches).predictedTime - costs.step;
    const take = (touched: number) => costs.operation + touched * costs.element;
    const [small, large] = [take(200), take(600)];
    expect(whole(branching)).toBe((small + large) / 2);
    expect(whole(looping)).toBe(small + large);
    const apart = (main: Subgraph) => planParts(main, [npu, cpu], { ...android, cpu: "cpu" }, branches).steps[0];
    const steppedTo = (touched: number) => costs.step + costs.operation + 0.1 * touched * costs.element;
    const [yes, no] = [steppedTo(200), steppedTo(600)];
    expect(apart(branching)?.predictedTime).toBeCloseTo(costs.step + (yes + no) / 2, 6);
    expect(apart(looping)?.predictedTime).toBeCloseTo(costs.step + yes + no, 6);
  });

  it("is not interpreted if what is inside cannot be planned", () => {
    const unknown = sketch(
      [
        ["ABS", "in", "t"],
        ["NEG", "t", "out"],
      ],
      "in",
      "out",
      { t: { dimensions: [0] } },
    );
    const devices = [npu, deviceOf("cpu", capabilitiesOf(1), ["NEG", "IF"])];
    expect(planParts(branching, devices, { ...android, cpu: "cpu" }, [unknown, unknown]).steps).toMatchObject([
      { kind: "execution", device: 1 },
    ]);
  });

  it("plans each subgraph once, however often they are nested and shared", () => {
    // 30 IFs, both branches of each the next one: 2^30 paths.
    const depth = 30;
    const nest = (next: number) =>
      sketch([["IF", "flag yes no in", "out"]], "flag in", "out", {
        flag,
        yes: SUBGRAPH(next),
        no: SUBGRAPH(next),
      });
    const subgraphs = Array.from({ length: depth }, (_, index) => nest(index + 1));
    const leaf = sketch([["ABS", "in", "out"]], "flag in", "out", { flag });
    let asked = 0;
    const counting: PlanningDevice = {
      ...npu,
      getSupportedOperations(model) {
        asked++;
        return npu.getSupportedOperations(model);
      },
    };
    const result = plan(modelOf(nest(0), [...subgraphs, leaf]), [counting, cpu], { cpu: "cpu" });
    expect(result).toMatchObject({ choices: [{}] });
    expect(asked).toBe(depth + 2);
  });
});

describe("a temporary of unknown size", () => {
  it("does not cross between two steps of one device either", () => {
    const main = sketch(
      [
        ["ABS", "in", "unknown"],
        ["ABS", "in", "a"],
        ["NEG", "a", "b"],
        ["SELECT", "b b unknown", "out"],
      ],
      "in",
      "out",
      { unknown: { dimensions: [0] } },
    );
    const devices = [
      deviceOf("npu", capabilitiesOf(0.1), ["ABS", "SELECT"]),
      deviceOf("dsp", capabilitiesOf(1), ["NEG"]),
    ];
    expect(plan(modelOf(main), devices, android)).toEqual({
      unplannable: "OP_FAILED",
      message: "operand 1 has no known size, so operations 0 and 3 cannot be in different steps",
    });
  });
});

describe("whyUnsupported", () => {
  it("returns every device's reason if none supports an operation", async () => {
    const dsp = deviceOf("dsp", capabilitiesOf(1), ["FLOOR"]);
    expect(await whyUnsupported(modelOf(alternating), [npu, dsp])).toEqual([
      undefined,
      "npu: NEG is not for npu. dsp: NEG is not for dsp",
      undefined,
    ]);
  });

  it("treats control flow as supported if it can be interpreted", async () => {
    const plain = deviceOf("cpu", capabilitiesOf(1), ["ABS"]);
    const model = modelOf(branching, [abs(4), abs(4)]);
    expect(await whyUnsupported(model, [npu, plain], { cpu: "cpu" })).toEqual([undefined]);
    expect(await whyUnsupported(model, [npu, plain])).toEqual([expect.stringContaining("IF is not for npu")]);
  });
});

describe("separateOperations", () => {
  it("makes a step of each operation on its device", () => {
    const whole = planParts(alternating, [npu, cpu], {});
    expect(whole.steps).toHaveLength(1);
    expect(separateOperations(whole)).toMatchObject({
      choices: whole.choices,
      steps: [
        { device: 1, operations: [0], inputs: [0], outputs: [1] },
        { device: 1, operations: [1], inputs: [1], outputs: [2] },
        { device: 1, operations: [2], inputs: [2], outputs: [3] },
      ],
    });
  });

  it("leaves interpreted steps as they are", () => {
    const whole = planParts(branching, [npu, cpu], { ...android, cpu: "cpu" }, [abs(4), abs(4)]);
    expect(separateOperations(whole)).toMatchObject({ steps: whole.steps });
  });

  it("reports an unknown size", () => {
    const special = { a: { dimensions: [0] } };
    const main = sketch(
      [
        ["ABS", "in", "a"],
        ["ABS", "a", "out"],
      ],
      "in",
      "out",
      special,
    );
    expect(separateOperations(planParts(main, [cpu], {}))).toEqual({
      unplannable: "OP_FAILED",
      message: "operand 1 has no known size, so operation 2 cannot be in a step of its own",
    });
  });
});
