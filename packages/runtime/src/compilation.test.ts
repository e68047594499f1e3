import { collectUntil } from "@nnhal/test-kit/garbage";
import { type Device, DeviceStatus, ErrorStatus, type PrepareOptions } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { code, gate, withPrepared } from "./fakes.test-helper.ts";
import { Model } from "./model.ts";
import { addModel, openReference } from "./models.test-helper.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

/** The reference device under another name, with some methods replaced. */
const alter = (name: string, change: Partial<Device>): Device => ({ ...device, name, ...change });
const makeRefusing = (name: string): Device =>
  alter(name, {
    getSupportedOperations: () => ({
      status: ErrorStatus.NONE,
      supported: [false],
      reasons: ["ADD: not on this device"],
    }),
  });

describe("Compilation", () => {
  it("chooses the first device that supports the whole model among equals", async () => {
    const compilation = new Compilation(addModel(), [makeRefusing("first"), alter("second", {}), alter("third", {})]);
    await compilation.finish();
    const { steps, devices } = compilation.plan;
    expect(steps.map((step) => step.kind === "execution" && devices[step.device])).toEqual(["second"]);
  });

  it("reports why no device supports the model", async () => {
    const compilation = new Compilation(addModel(), [makeRefusing("first"), makeRefusing("second")]);
    await expect(compilation.finish()).rejects.toThrow(
      "no device supports operation 1 of 1. first: ADD: not on this device. second: ADD: not on this device",
    );
  });

  it("reports why a device could not prepare the model", async () => {
    const failing = alter("failing", {
      prepareModel: async () => ({
        status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
        message: "too slow",
        preparedModel: null,
      }),
    });
    const compilation = new Compilation(addModel(), [failing]);
    const finish = compilation.finish();
    await expect(finish).rejects.toThrow(code("MISSED_DEADLINE_TRANSIENT"));
    await expect(finish).rejects.toThrow("failing: too slow");
    expect(() => compilation.plan).toThrow(code("BAD_STATE"));
  });

  it("refuses an unfinished model, no devices, and a device listed twice", () => {
    expect(() => new Compilation(new Model(), [device])).toThrow(code("BAD_STATE"));
    expect(() => new Compilation(addModel(), [])).toThrow(code("BAD_DATA"));
    expect(() => new Compilation(addModel(), [device, device])).toThrow(code("BAD_DATA"));
  });

  it("refuses settings that do not exist or come too late, and executions that come too early", async () => {
    const compilation = new Compilation(addModel(), [device]);
    expect(() => compilation.setPreference(Number.NaN as 0)).toThrow(code("BAD_DATA"));
    expect(() => compilation.setPriority(-1 as 0)).toThrow(code("BAD_DATA"));
    expect(() => new Execution(compilation)).toThrow(code("BAD_STATE"));
    compilation.setPreference(2);
    compilation.setPriority(2);
    await compilation.finish();
    expect(() => compilation.setPreference(0)).toThrow(code("BAD_STATE"));
    expect(() => compilation.setPriority(0)).toThrow(code("BAD_STATE"));
    await expect(compilation.finish()).rejects.toThrow(code("BAD_STATE"));
  });

  it("frees the prepared model when it is closed", async () => {
    const compilation = new Compilation(addModel(), [device]);
    await compilation.finish();
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(1, 2));
    execution.setOutput(0, new Float32Array(2));
    compilation.close();
    await expect(execution.compute()).rejects.toThrow(code("BAD_STATE"));
    expect(() => new Execution(compilation)).toThrow(code("BAD_STATE"));
  });

  it("refuses missing arguments", () => {
    const missing = JSON.parse("null");
    const compilation = new Compilation(addModel(), [device]);
    expect(() => new Compilation(missing, [device])).toThrow(code("UNEXPECTED_NULL"));
    expect(() => new Compilation(addModel(), missing)).toThrow(code("UNEXPECTED_NULL"));
    expect(() => new Compilation(addModel(), [device, missing])).toThrow(code("UNEXPECTED_NULL"));
    expect(() => compilation.setCaching(missing, new Uint8Array(32))).toThrow(code("UNEXPECTED_NULL"));
    expect(() => compilation.setCaching("cache", missing)).toThrow(code("UNEXPECTED_NULL"));
  });

  it("refuses partition 0 without a CPU, and runs everything on it with one", async () => {
    expect(() => new Compilation(addModel(), [device], { partition: 0 })).toThrow(code("BAD_DATA"));
    const compilation = new Compilation(addModel(), [alter("other", {})], { partition: 0, cpu: device });
    await compilation.finish();
    expect(compilation.deviceNames).toEqual([device.name]);
  });

  it("has no plan after a failure, and accepts no second finish", async () => {
    const compilation = new Compilation(addModel(), [makeRefusing("first")]);
    await expect(compilation.finish()).rejects.toThrow(code("BAD_DATA"));
    expect(compilation.isFinished).toBe(false);
    for (const ask of [
      () => compilation.plan,
      () => compilation.deviceNames,
      () => compilation.executable,
      () => compilation.lend(),
      () => compilation.rolesOf,
    ]) {
      expect(ask).toThrow("the compilation is failed");
      expect(ask).toThrow(code("BAD_STATE"));
    }
    await expect(compilation.finish()).rejects.toThrow(code("BAD_STATE"));
  });

  describe("with a timeout", () => {
    /** A device that notes its options. */
    const makeNoting = (options: PrepareOptions[]) =>
      alter("noting", {
        prepareModel(model, given = {}) {
          options.push(given);
          return device.prepareModel(model);
        },
      });

    it("passes the device a deadline that counts from finish", async () => {
      const options: PrepareOptions[] = [];
      let time = 1_000n;
      const compilation = new Compilation(addModel(), [makeNoting(options)], { now: () => time });
      compilation.setTimeout(50n);
      time = 2_000n;
      await compilation.finish();
      expect(options.map(({ deadline }) => deadline)).toEqual([2_050n]);
    });

    it("passes none after the timeout was removed", async () => {
      const options: PrepareOptions[] = [];
      const compilation = new Compilation(addModel(), [makeNoting(options)]);
      compilation.setTimeout(50n);
      compilation.setTimeout(0n);
      await compilation.finish();
      expect(options.map(({ deadline }) => deadline)).toEqual([undefined]);
    });

    it("ends with a missed deadline", async () => {
      const compilation = new Compilation(addModel(), [device]);
      compilation.setTimeout(1n);
      await expect(compilation.finish()).rejects.toThrow(code("MISSED_DEADLINE_PERSISTENT"));
    });

    it("needs one explicit device, and a duration", async () => {
      expect(() => new Compilation(addModel(), [device, alter("b", {})]).setTimeout(1n)).toThrow(code("BAD_DATA"));
      expect(() => new Compilation(addModel(), [], { cpu: device }).setTimeout(1n)).toThrow(code("BAD_DATA"));
      const compilation = new Compilation(addModel(), [device]);
      expect(() => compilation.setTimeout(-1n)).toThrow(code("BAD_DATA"));
      expect(() => compilation.setTimeout(JSON.parse("1"))).toThrow(code("BAD_DATA"));
      await compilation.finish();
      expect(() => compilation.setTimeout(1n)).toThrow(code("BAD_STATE"));
    });
  });

  it.each([
    ["RESOURCE_EXHAUSTED_TRANSIENT", "RESOURCE_EXHAUSTED_TRANSIENT"],
    ["RESOURCE_EXHAUSTED_PERSISTENT", "RESOURCE_EXHAUSTED_PERSISTENT"],
    ["DEVICE_UNAVAILABLE", "UNAVAILABLE_DEVICE"],
    ["INVALID_ARGUMENT", "BAD_DATA"],
    ["GENERAL_FAILURE", "OP_FAILED"],
  ] as const)("says of a device that answers %s: %s", async (status, expected) => {
    const failing = alter("failing", {
      prepareModel: async () => ({ status: ErrorStatus[status], message: "no", preparedModel: null }),
    });
    await expect(new Compilation(addModel(), [failing]).finish()).rejects.toThrow(code(expected));
  });

  it("is DEAD_OBJECT for a device that is gone", async () => {
    const gone = alter("gone", {
      prepareModel: async () => ({ status: ErrorStatus.DEVICE_UNAVAILABLE, message: "gone", preparedModel: null }),
      getStatus: () => DeviceStatus.OFFLINE,
    });
    await expect(new Compilation(addModel(), [gone]).finish()).rejects.toThrow(code("DEAD_OBJECT"));
    const compilation = new Compilation(addModel(), [gone], { cpu: device });
    await compilation.finish();
    expect(compilation.deviceNames).toEqual([device.name]);
  });

  it("frees the prepared model if it is closed meanwhile", async () => {
    let closed = 0;
    const { opened, open } = gate();
    const slow = withPrepared(device, () => ({ close: () => closed++ }));
    const compilation = new Compilation(addModel(), [
      { ...slow, prepareModel: async (...request) => opened.then(() => slow.prepareModel(...request)) },
    ]);
    const finishing = compilation.finish();
    compilation.close();
    open();
    await expect(finishing).rejects.toThrow(code("BAD_STATE"));
    expect(closed).toBe(1);
    compilation.close();
    expect(closed).toBe(1);
  });

  it("is kept until running executions have ended after it is closed", async () => {
    let closed = 0;
    const counting = withPrepared(device, ({ close }) => ({
      close() {
        closed++;
        close();
      },
    }));
    const compilation = new Compilation(addModel(), [counting]);
    await compilation.finish();
    const ready = () => {
      const execution = new Execution(compilation);
      const output = new Float32Array(2);
      execution.setInput(0, Float32Array.of(1, 2));
      execution.setInput(1, Float32Array.of(10, 20));
      execution.setOutput(0, output);
      return { execution, output };
    };
    const [started, waiting] = [ready(), ready()];
    const event = started.execution.startCompute();
    const after = await waiting.execution.startComputeWithDependencies([event]);
    compilation.close();
    expect(closed).toBe(0);
    await event.wait();
    await after.wait();
    expect([started, waiting].map(({ output }) => [...output])).toEqual([
      [11, 22],
      [11, 22],
    ]);
    expect(closed).toBe(1);
  });

  it("is closed by using, and once it is garbage-collected", async () => {
    let closed = 0;
    const counting = withPrepared(device, ({ close }) => ({
      close() {
        closed++;
        close();
      },
    }));
    {
      using compilation = new Compilation(addModel(), [counting]);
      await compilation.finish();
    }
    expect(closed).toBe(1);
    await (async () => new Compilation(addModel(), [counting]).finish())();
    await collectUntil(() => closed === 2);
    expect(closed).toBe(2);
  });
});
