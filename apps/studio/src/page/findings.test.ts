import type { DiffReport } from "@nnhal/diff";
import type { Explanation, Profile } from "@nnhal/network";
import { describe, expect, it } from "vitest";
import { createEngine } from "../engine/engine.ts";
import { manyOperators } from "../files.test-helper.ts";
import { type ColorMode, colorGraph, type Findings } from "./colors.ts";
import { liveBytes } from "./liveness.ts";
import { partsOf } from "./parts.ts";
import { traceOf } from "./trace.ts";

const operation = (index: number, device: string | undefined, time: number) => ({
  index,
  operation: "ADD",
  operator: "ADD",
  device,
  reason: "",
  time,
});
const operations = [operation(0, "a", 9), operation(1, "b", 0.5), operation(2, undefined, 0.1)];

async function findColored(mode: ColorMode, findings: Partial<Findings>) {
  const engine = createEngine();
  const { graph } = await engine.open(manyOperators(3), "three.tflite");
  const file = await engine.examine();
  const none = { explanation: undefined, profile: undefined, difference: undefined };
  const { fills, legend } = colorGraph(
    { file, subgraph: 0, graph, folded: [] },
    mode,
    { ...none, ...findings },
    (name) => name,
  );
  return { fills: fills.slice(1, -1), legend: legend.map(({ label }) => label) };
}

describe("colors", () => {
  it("are by kind and by outcome, and those of inputs and outputs are others", async () => {
    expect(await findColored("kind", {})).toEqual({
      fills: ["--kind-other", "--kind-other", "--kind-other"],
      legend: ["elementwise and others"],
    });
    expect((await findColored("outcome", {})).legend).toEqual(["operations of the HAL"]);
  });

  it("are by memory, in shares of its peak", async () => {
    // The second operator adds two values of 32 bytes to a third; at the first there are two.
    expect((await findColored("memory", {})).legend).toEqual(["90 % of the most memory and more"]);
  });

  it("of a group are those of most of its operators, or the worst", async () => {
    const engine = createEngine();
    const { file } = await engine.open(manyOperators(3), "three.tflite");
    const folded = [{ name: "block_0", depth: 1, from: 0, to: 3 }];
    const graph = await engine.graph(0, folded);
    const now = { file: await engine.examine(), subgraph: 0, graph, folded };
    const none = { explanation: undefined, profile: undefined, difference: undefined };
    const fillOf = (mode: ColorMode, findings: Partial<Findings>) =>
      colorGraph(now, mode, { ...none, ...findings }, (name) => name).fills;
    expect(file.subgraphs[0]?.operators.length).toBe(3);
    expect(fillOf("kind", {})).toEqual([undefined, "--kind-other", undefined]);
    expect(fillOf("time", { profile: { time: 10, operations } })).toEqual([undefined, "--heat-4", undefined]);
  });

  it("are by device and time once these are known", async () => {
    const explanation: Explanation = { operations, steps: [], predictedTime: 1 };
    const profile: Profile = { time: 10, operations };
    expect((await findColored("device", {})).legend).toEqual(["not known"]);
    expect((await findColored("device", { explanation })).legend).toEqual(["a", "b", "the runtime"]);
    expect((await findColored("time", { profile })).legend).toEqual([
      "10 % of the time and more",
      "5 to 10 %",
      "less than 2 %",
    ]);
    // The most is first, wherever it is in the graph.
    const reversed: Profile = { time: 10, operations: [...operations].reverse() };
    expect((await findColored("time", { profile: reversed })).legend).toEqual([
      "10 % of the time and more",
      "5 to 10 %",
      "less than 2 %",
    ]);
  });

  it("are by error", async () => {
    const output = (differing: number) => ({ outputs: [{ name: null, alone: { differing }, accumulated: null }] });
    const difference = {
      operations: [
        { index: 0, verdict: "right", ...output(0) },
        { index: 1, verdict: "right", ...output(2) },
        { index: 2, verdict: "wrong", ...output(8) },
      ],
    } as unknown as DiffReport;
    expect((await findColored("error", { difference })).legend).toEqual([
      "wrong",
      "differs as arithmetic explains",
      "equal",
    ]);
  });
});

describe("memory", () => {
  it("is what is computed and still read", async () => {
    const { file } = await createEngine().open(manyOperators(9), "nine.tflite");
    const [part] = file.subgraphs;
    // Each value has 32 bytes; the second is read again by the eighth operator.
    expect(part && liveBytes(part)).toEqual([64, 64, 96, 96, 96, 96, 96, 96, 64]);
  });
});

describe("parts of a plan", () => {
  const steps = [
    { device: "a", operations: [0, 1], predictedTime: 8 },
    { device: "b", operations: [2], predictedTime: 0.5 },
    { device: undefined, operations: [3, 4, 5, 6, 7], predictedTime: 1 },
  ];

  it("have the bytes that cross their borders, and the time of their operations", async () => {
    const { file } = await createEngine().open(manyOperators(8), "eight.tflite");
    const [part] = file.subgraphs;
    const origins = [0, 1, 2, 3, 4, 5, 6, 7];
    // Each value has 32 bytes; the last operator also reads the result of the first.
    expect(part && partsOf(part, origins, { steps }, { operations })).toEqual([
      { device: "a", operations: 2, bytesIn: 32, bytesOut: 64, predictedTime: 8, time: 9.5 },
      { device: "b", operations: 1, bytesIn: 32, bytesOut: 32, predictedTime: 0.5, time: 0.1 },
      { device: "the runtime", operations: 5, bytesIn: 64, bytesOut: 32, predictedTime: 1, time: 0 },
    ]);
    expect(part && partsOf(part, origins, { steps }, undefined)[0]?.time).toBeUndefined();
  });

  it("have no bytes if a shape is open", async () => {
    const { file } = await createEngine().open(manyOperators(1, [-1, 8]), "open.tflite");
    const [part] = file.subgraphs;
    const [only] = part
      ? partsOf(part, [0], { steps: [{ device: "a", operations: [0], predictedTime: 1 }] }, undefined)
      : [];
    expect([only?.bytesIn, only?.bytesOut]).toEqual([undefined, undefined]);
  });
});

describe("a timeline", () => {
  const namesOf = (kind: string, { traceEvents }: ReturnType<typeof traceOf>) =>
    traceEvents.filter(({ name }) => name === kind).map(({ args }) => args.name);
  const sectionsOf = ({ traceEvents }: ReturnType<typeof traceOf>) =>
    traceEvents.filter(({ ph }) => ph === "X").map(({ name, pid, tid, ts, dur }) => [name, pid, tid, ts, dur]);

  it("has a row for each device, and the operations one after another in microseconds", () => {
    const trace = traceOf({ operations, preparation: undefined, run: undefined });
    expect(namesOf("process_name", trace)).toEqual(["each operation, median"]);
    expect(namesOf("thread_name", trace)).toEqual(["a", "b", "the runtime"]);
    expect(sectionsOf(trace).map(([, , ...more]) => more)).toEqual([
      [1, 0, 9000],
      [2, 9000, 500],
      [3, 9500, 100],
    ]);
  });

  it("has the phases of the preparation and of the last run, each in a group", () => {
    const preparation = [{ name: "import", start: 0, time: 2 }];
    const run = [
      { name: "read the inputs", start: 0.5, time: 1 },
      { name: "run the network", start: 1.5, time: 4 },
    ];
    const trace = traceOf({ operations: undefined, preparation, run });
    expect(namesOf("process_name", trace)).toEqual(["preparation", "the last run"]);
    expect(sectionsOf(trace)).toEqual([
      ["import", 1, 1, 0, 2000],
      ["read the inputs", 2, 1, 500, 1000],
      ["run the network", 2, 1, 1500, 4000],
    ]);
  });

  it("is empty if nothing was measured", () => {
    expect(traceOf({ operations: undefined, preparation: undefined, run: undefined }).traceEvents).toEqual([]);
  });
});
