import { manualClock } from "@nnhal/test-kit/clock";
import { ErrorStatus, type Outcome } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { settleAll } from "../versions/versions.test-helper.ts";
import { type AnswerOptions, answerInTime, answerLimitsOf, withGrace } from "./wait.ts";

const { NONE, GENERAL_FAILURE, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;

function waitFor(options: Partial<AnswerOptions> = {}, deadline?: bigint) {
  const clock = manualClock(100n);
  const log: string[] = [];
  const limits = answerLimitsOf({ now: clock.now, timer: clock.timer, ...options }, (line) => log.push(line));
  let resolve: (outcome: Outcome) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const answer = new Promise<Outcome>((...settle) => {
    [resolve, reject] = settle;
  });
  const drop = vi.fn();
  const result = answerInTime(
    { what: "the driver: it", answer, deadline, answerFailure: (outcome) => outcome, drop },
    limits,
  );
  return { clock, log, limits, resolve, reject, drop, result };
}

describe("an answer", () => {
  it("in time is the answer, and nothing is waited for any more", async () => {
    const { clock, resolve, result, log } = waitFor();
    resolve({ status: NONE });
    expect(await result).toEqual({ status: NONE });
    expect([clock.waiting, log]).toEqual([0, []]);
  });

  it("that cannot be read is a failure", async () => {
    const { clock, reject, result } = waitFor();
    reject(new Error("gone"));
    expect(await result).toEqual({ status: GENERAL_FAILURE, message: "the driver: it threw: gone" });
    expect(clock.waiting).toBe(0);
  });

  it.each([
    [
      "by its deadline",
      { deadline: 150n, wait: 50n },
      MISSED_DEADLINE_TRANSIENT,
      "there was no answer by the deadline",
    ],
    ["within 10 minutes", { wait: 600_000_000_000n }, GENERAL_FAILURE, "there was no answer within 600000 ms"],
    ["within its limit", { answerLimit: 5_000_000n, wait: 5_000_000n }, GENERAL_FAILURE, "no answer within 5 ms"],
  ])(
    "that does not come %s is a failure; one that comes later is dropped and logged",
    async (_when, how, status, why) => {
      const { answerLimit, deadline, wait } = { answerLimit: undefined, deadline: undefined, ...how };
      const { clock, log, resolve, drop, result } = waitFor(answerLimit === undefined ? {} : { answerLimit }, deadline);
      clock.advance(wait - 1n);
      await settleAll();
      const early = vi.fn();
      void result.then(early);
      await settleAll();
      expect(early).not.toHaveBeenCalled();
      clock.advance(1n);
      expect(await result).toEqual({ status, message: expect.stringContaining(why) });
      expect(drop).not.toHaveBeenCalled();
      resolve({ status: NONE });
      await settleAll();
      expect(drop).toHaveBeenCalledWith({ status: NONE });
      expect(log).toEqual(["the driver: it: an answer that came too late is ignored"]);
      expect(clock.waiting).toBe(0);
    },
  );

  it("that comes at once counts even if the deadline has passed", async () => {
    const { resolve, result } = waitFor({}, 50n);
    resolve({ status: NONE });
    expect(await result).toEqual({ status: NONE });
  });
});

describe("withGrace", () => {
  it("adds 100 ms to the deadline, or to now if the deadline has passed", () => {
    const { limits } = waitFor();
    expect([withGrace(undefined, limits), withGrace(50n, limits), withGrace(150n, limits)]).toEqual([
      undefined,
      100_000_100n,
      100_000_150n,
    ]);
  });
});
