import { type Device, ErrorStatus } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { Model } from "./model.ts";
import { addModel, openReference } from "./models.test-helper.ts";
import { ResultCode } from "./result-code.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

const code = (name: keyof typeof ResultCode) => expect.objectContaining({ code: ResultCode[name] });

/** The reference device under another name, but for what is given. */
const altered = (name: string, change: Partial<Device>): Device => ({ ...device, name, ...change });
const refusing = (name: string): Device =>
  altered(name, {
    getSupportedOperations: () => ({
      status: ErrorStatus.NONE,
      supported: [false],
      reasons: ["ADD: not on this device"],
    }),
  });

describe("Compilation", () => {
  it("takes the first device that supports the whole model, of equals", async () => {
    const compilation = new Compilation(addModel(), [refusing("first"), altered("second", {}), altered("third", {})]);
    await compilation.finish();
    const { steps, devices } = compilation.plan;
    expect(steps.map((step) => step.kind === "execution" && devices[step.device])).toEqual(["second"]);
  });

  it("says why no device supports the model", async () => {
    const compilation = new Compilation(addModel(), [refusing("first"), refusing("second")]);
    await expect(compilation.finish()).rejects.toThrow(
      "no device takes operation 0 of 1. first: ADD: not on this device. second: ADD: not on this device",
    );
  });

  it("passes on why a device could not prepare the model", async () => {
    const failing = altered("failing", {
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
});
