import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { type Device, ErrorStatus, OperandType } from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calibrate, calibratedBackend, readCalibration, writeCalibration } from "./calibration.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-calibration-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what is measured", () => {
  it("is the time beside that of the reference", async () => {
    const opened = await openDevice({ backend: referenceBackend, caching: false, log: silentLogger });
    if ("unavailable" in opened) throw new Error(opened.unavailable);
    let time = 0n;
    const now = () => time;
    /** The same device, whose executions take some nanoseconds of the clock above. */
    const take = (float: bigint, quantised: bigint): Device => ({
      ...opened,
      async prepareModel(model, options) {
        const { preparedModel, ...outcome } = await opened.prepareModel(model, options);
        if (preparedModel === null) return { ...outcome, preparedModel };
        const isFloat = model.main.operands[0]?.type === OperandType.TENSOR_FLOAT32;
        return {
          ...outcome,
          preparedModel: {
            ...preparedModel,
            async execute(request, more) {
              const result = await preparedModel.execute(request, more);
              expect(result.status).toBe(ErrorStatus.NONE);
              time += isFloat ? float : quantised;
              return result;
            },
          },
        };
      },
    });
    expect(await calibrate(take(500n, 250n), take(1000n, 1000n), now)).toEqual({
      version: opened.getVersionString().version,
      float: 0.5,
      quantised: 0.25,
    });
    await opened.close();
  });

  it("becomes the capabilities of the version that was measured, and of no other", async () => {
    const said: string[] = [];
    const timesOf = async (version: string) => {
      const calibration = { version, float: 0.5, quantised: 0.25 };
      const session = await calibratedBackend(referenceBackend, calibration, (message) => said.push(message)).open();
      if ("unavailable" in session) throw new Error(session.unavailable);
      const { operandPerformance } = session.capabilities;
      const of = (type: number) => operandPerformance.find((one) => one.type === type)?.info.execTime;
      return { own: session.version, times: [of(OperandType.TENSOR_FLOAT32), of(OperandType.TENSOR_QUANT8_ASYMM)] };
    };
    const { own, times } = await timesOf("another 1");
    expect([times, said]).toEqual([
      [1, 1],
      [`the kept figures are of another 1, and this is ${own}: --calibrate measures it`],
    ]);
    expect((await timesOf(own)).times).toEqual([0.5, 0.25]);
    expect(said).toHaveLength(1);
  });
});

describe("what is kept", () => {
  it("is read as it was written", async () => {
    const one = { version: "1", float: 0.5, quantised: 2 };
    await writeCalibration(join(folder, "a"), "npu", one);
    expect(await readCalibration(join(folder, "a"), "npu")).toEqual(one);
    expect(await readCalibration(join(folder, "a"), "other")).toBeUndefined();
  });

  it.each([
    "",
    "{",
    "null",
    '{"version":"1"}',
    '{"version":"1","float":0,"quantised":1}',
    '{"version":1,"float":1,"quantised":1}',
  ])("is not used if it is not whole: %j", async (text) => {
    writeFileSync(join(folder, "npu.calibration.json"), text);
    expect(await readCalibration(folder, "npu")).toBeUndefined();
  });
});
