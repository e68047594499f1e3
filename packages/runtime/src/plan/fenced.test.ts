import { ErrorStatus, MeasureTiming, TIMING_NOT_MEASURED } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { executeAfter } from "./fenced.ts";

/** The times of a measured execution that takes 5 us, by the time that the device reports. */
async function timesWith(timeOnDevice: bigint) {
  let time = 0n;
  const { answer, ended } = executeAfter(
    [],
    { measure: MeasureTiming.YES },
    () => time,
    async () => {
      time += 5000n;
      return { status: ErrorStatus.NONE, outputShapes: [], timing: { timeOnDevice, timeInDriver: 1n } };
    },
  );
  await ended;
  return answer.callback?.getExecutionInfo();
}

describe("the times of a fenced execution", () => {
  it.each([
    [3n, 3n],
    [5n, 5n],
    [6n, 5n],
    [TIMING_NOT_MEASURED, TIMING_NOT_MEASURED],
  ])("%i us on the device are reported as %i: never more than in the driver", async (reported, expected) => {
    const times = { timeOnDevice: expected, timeInDriver: 5n };
    expect(await timesWith(reported)).toEqual({
      status: ErrorStatus.NONE,
      timingLaunched: times,
      timingFenced: times,
    });
  });

  it("are from the launch at least as long as from the end of the fences, whenever the clock is read", async () => {
    let time = 0n;
    const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: 1n };
    const { answer, ended } = executeAfter(
      [],
      { measure: MeasureTiming.YES },
      () => {
        time *= 2n;
        time += 1000n;
        return time;
      },
      async () => ({ status: ErrorStatus.NONE, outputShapes: [], timing }),
    );
    await ended;
    const info = await answer.callback?.getExecutionInfo();
    expect(info?.timingFenced.timeInDriver).toBeGreaterThan(0n);
    expect(info?.timingLaunched.timeInDriver).toBeGreaterThanOrEqual(info?.timingFenced.timeInDriver ?? 0n);
  });
});
