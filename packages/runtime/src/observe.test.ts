import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { androidPolicy } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { type Device, ErrorStatus } from "@nnhal/types";
import { createLogger, createTraceRecorder, type LogEntry, sectionMark, toTraceTable } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { Compilation, type CompilationOptions } from "./compilation.ts";
import { Execution } from "./execution.ts";
import type { ModelOptions } from "./finished-model.ts";
import { Model } from "./model.ts";
import { addOperands, float32 } from "./models.test-helper.ts";

/** The differences of a device from the reference device. */
interface Change {
  /** The only operation that it supports. */
  readonly only?: string;
  /** Faster than the reference device, but it fails at every execution. */
  readonly fails?: boolean;
}

async function open(name: string, options: ModelOptions, { only, fails = false }: Change = {}): Promise<Device> {
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  const { capabilities } = session;
  const info = { execTime: 0.1, powerUsage: 0.1 };
  const fast = {
    ...capabilities,
    operandPerformance: capabilities.operandPerformance.map((row) => ({ ...row, info })),
  };
  const failed = { status: ErrorStatus.GENERAL_FAILURE, message: "on fire", outputShapes: [] };
  const backend: typeof referenceBackend = {
    ...referenceBackend,
    open: async () => ({
      ...session,
      capabilities: fails ? fast : capabilities,
      supports: ({ definition }) =>
        only === undefined || definition.name === only
          ? { supported: true }
          : { supported: false, reason: `not ${only}` },
      compile: async (...given) => ({ ...(await session.compile(...given)), ...(fails && { run: () => failed }) }),
    }),
  };
  const device = await openDevice({ backend, name, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** FLOOR(ABS(x)) under watch: its model, its compilation and one execution. */
async function runWatched(
  options: ModelOptions,
  devices?: readonly Device[],
  compilationOptions: CompilationOptions = {},
): Promise<Float32Array> {
  const model = new Model(options);
  const [input, between, result] = addOperands(model, float32(2), float32(2), float32(2));
  model.addOperation("ABS", [input], [between]);
  model.addOperation("FLOOR", [between], [result]);
  model.identifyInputsAndOutputs([input], [result]);
  model.finish();
  const compilation = new Compilation(model, devices ?? [await open("device", options)], compilationOptions);
  await compilation.finish();
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(-1.5, 2));
  execution.setOutput(0, output);
  await execution.compute();
  compilation.close();
  return output;
}

function logLines(vlog: string): ModelOptions & { readonly lines: string[] } {
  const lines: string[] = [];
  const sink = ({ severity, tag, message }: LogEntry) => lines.push(`${severity} ${tag} ${message}`);
  return { lines, log: createLogger({ sink, properties: () => vlog }) };
}

describe("the log of the runtime", () => {
  it("is silent by default", async () => {
    const { log, lines } = logLines("");
    await runWatched({ log });
    expect(lines).toEqual([]);
  });

  it("shows finished models if MODEL is on", async () => {
    const { log, lines } = logLines("model");
    await runWatched({ log });
    const dump = lines.filter((line) => line.startsWith("info MODEL "));
    expect(dump[0]).toBe("info MODEL // a finished model");
    expect(dump[1]).toBe("info MODEL digraph {");
    expect(dump).toContain('info MODEL     n1 [shape=box label="1: FLOOR"]');
    expect(lines.filter((line) => !line.startsWith("info MODEL "))).toEqual([
      "verbose MODEL device: a model of 2 operations, 3 operands, 1 input, 1 output",
    ]);
  });

  it("shows the choices, the steps and their models if COMPILATION is on", async () => {
    const { log, lines } = logLines("compilation");
    await runWatched({ log });
    expect(lines[0]).toBe("verbose COMPILATION compile 2 operations, 3 operands, 1 input, 1 output for device");
    expect(lines[1]).toMatch(/^verbose COMPILATION operation 1 \(ABS\): ./);
    expect(lines[2]).toMatch(/^verbose COMPILATION operation 2 \(FLOOR\): ./);
    expect(lines.slice(3, 6)).toEqual([
      "verbose COMPILATION step 1: operations 1 to 2 on device",
      "info COMPILATION // step 1: operations 1 to 2 on device",
      "info COMPILATION digraph {",
    ]);
    expect(lines.at(-1)).toBe("info COMPILATION }");
  });

  it("logs each execution if EXECUTION is on", async () => {
    const { log, lines } = logLines("execution");
    await runWatched({ log });
    expect(lines).toEqual([
      "verbose EXECUTION compute with 1 inputs and 1 outputs",
      "verbose EXECUTION compute returns NONE: outputs of [2]",
    ]);
  });

  it("logs each step if there are several", async () => {
    const { log, lines } = logLines("execution");
    await runWatched({ log }, [
      await open("first", { log }, { only: "ABS" }),
      await open("second", { log }, { only: "FLOOR" }),
    ]);
    expect(lines).toEqual([
      "verbose EXECUTION compute with 1 inputs and 1 outputs",
      "verbose EXECUTION run operation 1 on first",
      "verbose EXECUTION run operation 2 on second",
      "verbose EXECUTION compute returns NONE: outputs of [2]",
    ]);
  });

  it("logs fallbacks to the CPU, which the caller is told too", async () => {
    const { log, lines } = logLines("execution");
    const told: string[] = [];
    const failing = await open("failing", { log }, { fails: true });
    const cpu = await open("cpu", { log });
    const onFallback = (message: string) => told.push(message);
    const output = await runWatched({ log }, [failing], { cpu, policy: androidPolicy, onFallback });
    expect([...output]).toEqual([1, 2]);
    expect(told).toEqual(["the step of operations 1, 2 runs again on cpu"]);
    expect(lines).toContain("verbose EXECUTION the step of operations 1, 2 runs again on cpu");
  });

  it("passes on the engine's lines if CPUEXE is on", async () => {
    const { log, lines } = logLines("cpuexe");
    await runWatched({ log });
    expect(lines).toEqual([
      "verbose CPUEXE device: run: 2 operations in the main subgraph",
      "verbose CPUEXE device: operation 1 (ABS)",
      "verbose CPUEXE device: operation 2 (FLOOR)",
    ]);
  });
});

describe("the trace of the runtime", () => {
  it("goes through all layers, one inside the other", async () => {
    const trace = createTraceRecorder();
    trace.start();
    expect([...(await runWatched({ trace }))]).toEqual([1, 2]);
    const { sections } = trace.read();
    const depth = (index: number): number => (index < 0 ? -1 : 1 + depth(elementAt(sections, index).parent));
    expect(sections.map((section, index) => `${"  ".repeat(depth(index))}${sectionMark(section)}`)).toEqual([
      "[NN_LR_PP]Model.finish",
      "[NN_LD_PI]reference: open",
      "[NN_LR_PC]Compilation.finish",
      "  [NN_LR_PC]divide and prepare",
      "    [NN_LD_PI]device: getCapabilities",
      "    [NN_LD_PC]device: getSupportedOperations",
      "    [NN_LD_PC]device: prepareModel",
      "      [NN_LC_PC]compile",
      "[NN_LR_PIO]Execution.setInput",
      "[NN_LR_PIO]Execution.setOutput",
      "[NN_LR_PE]Execution.compute",
      "  [NN_LD_PE]device: execute",
      "    [NN_LD_PIO]map pools",
      "    [NN_LC_PE]run",
      "      [NN_LC_PTR]decode inputs",
      "      [NN_LC_PCO]ABS",
      "      [NN_LC_PCO]FLOOR",
      "      [NN_LC_PR]encode outputs",
      "[NN_LR_PT]Compilation.close",
      "  [NN_LD_PT]device: close",
    ]);
    expect(sections.every(({ isOpen, lane }) => !isOpen && lane === 0)).toBe(true);
    expect(toTraceTable(trace.read()).problems).toEqual([]);
  });

  it("holds the sections of every step, of those after the first too", async () => {
    const trace = createTraceRecorder();
    const options = { trace };
    const devices = [await open("first", options, { only: "ABS" }), await open("second", options, { only: "FLOOR" })];
    trace.start();
    await runWatched(options, devices);
    const { sections } = trace.read();
    const around = (detail: string) =>
      sections.flatMap((section) => (section.detail === detail ? [sections[section.parent]?.detail] : []));
    expect(around("second: prepareModel")).toEqual(["divide and prepare"]);
    expect(around("run plan")).toEqual(["Execution.compute"]);
    expect([around("first: execute"), around("second: execute")]).toEqual([["run plan"], ["run plan"]]);
    expect(toTraceTable(trace.read()).problems).toEqual([]);
  });
});
