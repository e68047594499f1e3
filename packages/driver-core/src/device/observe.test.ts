import { ErrorStatus, MeasureTiming } from "@nnhal/types";
import { createLogger, createTraceRecorder, type LogEntry, sectionMark } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { absModel, absRequest, fakeDevice, succeeding } from "./fake-backend.test-helper.ts";

/** Creates a device's tracer and log, with lists of their output. */
function watch(vlog = "") {
  const lines: string[] = [];
  const state = { vlog };
  const sink = ({ tag, message }: LogEntry) => lines.push(`${tag} ${message}`);
  const log = createLogger({ sink, properties: () => state.vlog });
  const trace = createTraceRecorder();
  return {
    log,
    trace,
    lines,
    state,
    sections: () => trace.read().sections.map((section) => `${sectionMark(section)} in ${section.parent}`),
  };
}

describe("the log of a device", () => {
  it("logs every call and its outcome", async () => {
    const { log, lines } = watch("driver model");
    let time = 0n;
    const device = await fakeDevice(
      {
        compile: async () => ({
          ...succeeding,
          run: (_inputs, outputs) => {
            time += 7_000n;
            return {
              status: ErrorStatus.NONE,
              outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })),
              timeOnDevice: 5_000n,
            };
          },
        }),
      },
      { log, now: () => time },
    );
    device.getCapabilities();
    device.getStatus();
    device.getSupportedOperations(absModel);
    const { preparedModel } = await device.prepareModel(absModel);
    await preparedModel?.execute(absRequest().request, { measure: MeasureTiming.YES });
    await preparedModel?.execute({ ...absRequest().request, inputs: [] });
    expect(lines).toEqual([
      "DRIVER nnhal-fake: getCapabilities",
      "DRIVER nnhal-fake: getStatus",
      "DRIVER nnhal-fake: getSupportedOperations",
      "DRIVER nnhal-fake: 1 of 1 operations supported",
      "DRIVER nnhal-fake: prepareModel",
      "MODEL nnhal-fake: a model of 1 operation, 2 operands, 1 input, 1 output",
      "DRIVER nnhal-fake: prepareModel gives NONE",
      "DRIVER nnhal-fake: execute 1 inputs and 1 outputs in 1 pools",
      "DRIVER nnhal-fake: execute returns NONE in 7 us, 5 us on the device",
      // A request is not looked at before it is valid.
      expect.stringMatching(/^DRIVER nnhal-fake: execute returns INVALID_ARGUMENT: the request is not valid: /),
    ]);
  });

  it("names the reasons why operations are not supported", async () => {
    const { log, lines } = watch("driver");
    const device = await fakeDevice({ supports: () => ({ supported: false, reason: "ABS: too hard" }) }, { log });
    const { operations } = absModel.main;
    device.getSupportedOperations(absModel);
    await device.prepareModel(absModel);
    expect(operations).toHaveLength(1);
    expect(lines).toContain("DRIVER nnhal-fake: 0 of 1 operations supported; operation 1: ABS: too hard");
    expect(lines.at(-1)).toBe(
      "DRIVER nnhal-fake: prepareModel gives INVALID_ARGUMENT: nnhal-fake does not support the model: ABS: too hard",
    );
  });

  it("says nothing unless it is asked to, and reads what it is asked in getCapabilities", async () => {
    const { log, lines, state } = watch();
    const device = await fakeDevice({}, { log });
    await device.prepareModel(absModel);
    state.vlog = "driver";
    device.getStatus();
    expect(lines).toEqual([]);
    device.getCapabilities();
    device.getStatus();
    expect(lines).toEqual(["DRIVER nnhal-fake: getCapabilities", "DRIVER nnhal-fake: getStatus"]);
  });

  it("passes on an engine's messages if CPUEXE is on", async () => {
    const { log, lines, state } = watch("cpuexe");
    const seen: unknown[] = [];
    const compile = async () => ({
      ...succeeding,
      run: (...[inputs, outputs, context]: Parameters<typeof succeeding.run>) => {
        seen.push(context.log);
        context.log?.("step 1");
        return succeeding.run(inputs, outputs, context);
      },
    });
    const device = await fakeDevice({ compile }, { log });
    const { preparedModel } = await device.prepareModel(absModel);
    await preparedModel?.execute(absRequest().request);
    state.vlog = "driver";
    device.getCapabilities();
    await preparedModel?.execute(absRequest().request);
    expect(seen).toEqual([expect.any(Function), undefined]);
    expect(lines.filter((line) => line.startsWith("CPUEXE"))).toEqual(["CPUEXE nnhal-fake: step 1"]);
  });
});

describe("the trace of a device", () => {
  it("has sections of the driver, and of its engine inside them", async () => {
    const { trace, sections } = watch();
    trace.start();
    const seen: unknown[] = [];
    const compile = async () => ({
      ...succeeding,
      run: (...[inputs, outputs, context]: Parameters<typeof succeeding.run>) => {
        seen.push(context.section);
        context.section?.begin("LC", "PE", "run");
        return succeeding.run(inputs, outputs, context);
      },
    });
    const device = await fakeDevice({ compile }, { trace });
    device.getCapabilities();
    device.getStatus();
    device.getSupportedOperations(absModel);
    const { preparedModel } = await device.prepareModel(absModel);
    await preparedModel?.execute(absRequest().request);
    preparedModel?.close();
    expect(sections()).toEqual([
      "[NN_LD_PI]fake: open in -1",
      "[NN_LD_PI]nnhal-fake: getCapabilities in -1",
      "[NN_LD_PU]nnhal-fake: getStatus in -1",
      "[NN_LD_PC]nnhal-fake: getSupportedOperations in -1",
      "[NN_LD_PC]nnhal-fake: prepareModel in -1",
      "[NN_LC_PC]compile in 4",
      "[NN_LD_PE]nnhal-fake: execute in -1",
      "[NN_LD_PIO]map pools in 6",
      "[NN_LC_PE]run in 6",
      "[NN_LD_PT]nnhal-fake: close in -1",
    ]);
    expect(trace.read().sections.every(({ isOpen }) => !isOpen)).toBe(true);
    trace.stop();
    const { preparedModel: again } = await device.prepareModel(absModel);
    await again?.execute(absRequest().request);
    expect(sections()).toHaveLength(10);
    expect(seen).toEqual([expect.objectContaining({}), undefined]);
  });

  it("lies in the section that the caller runs it in, and ends if the call fails", async () => {
    const { trace, sections } = watch();
    const device = await fakeDevice({ compile: () => Promise.reject(new Error("out of ideas")) }, { trace });
    trace.start();
    const outer = trace.begin("LR", "PC", "finish");
    await outer.run(() => device.prepareModel(absModel));
    outer.end();
    expect(sections()).toEqual([
      "[NN_LR_PC]finish in -1",
      "[NN_LD_PC]nnhal-fake: prepareModel in 0",
      "[NN_LC_PC]compile in 1",
    ]);
    expect(trace.read().sections.every(({ isOpen }) => !isOpen)).toBe(true);
  });
});
