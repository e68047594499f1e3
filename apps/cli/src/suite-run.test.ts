import type { CaseResult } from "@nnhal/conformance";
import { DeviceStatus } from "@nnhal/types";
import { expect, it } from "vitest";
import { untilOffline } from "./suite-run.ts";

const passed: CaseResult = { name: "a", subject: "ADD", verdict: "passed" };
const failed: CaseResult = { name: "b", subject: "ADD", verdict: "failed", reason: "DEAD_OBJECT" };

/** The results of a run on a device with statuses, one for each question, the last one from then on. */
async function run(results: readonly CaseResult[], ...statuses: DeviceStatus[]) {
  const waits: number[] = [];
  const device = { name: "npu", getStatus: () => statuses.shift() ?? DeviceStatus.OFFLINE };
  const give = async function* () {
    yield* results;
  };
  const found: CaseResult[] = [];
  for await (const result of untilOffline(device, give(), async (time) => waits.push(time))) found.push(result);
  return { found, waits };
}

const { AVAILABLE, OFFLINE } = DeviceStatus;

it("a run goes on after failures of a device that is there", async () => {
  expect(await run([failed, passed, failed], AVAILABLE, AVAILABLE)).toMatchObject({ found: [failed, passed, failed] });
});

it("a run goes on if a device comes back", async () => {
  const { found, waits } = await run([failed, passed], OFFLINE, AVAILABLE);
  expect(found).toEqual([failed, passed]);
  expect(waits).toHaveLength(1);
});

it("a run ends with the failure after which a device stays OFFLINE, and says so", async () => {
  const { found } = await run([passed, failed, failed, passed], OFFLINE, OFFLINE);
  const reason = "DEAD_OBJECT\nnpu is OFFLINE: the cases that follow were not run";
  expect(found).toEqual([passed, { ...failed, reason }]);
});
