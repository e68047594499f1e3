import { elementAt } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type FenceState,
  MeasureTiming,
  type PreparedModel,
  type Request,
  type SyncFence,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { answerLimitsOf } from "../guard/wait.ts";
import { executeBehindFences } from "./fenced-fallback.ts";
import { measured, model, requestOf, settleAll } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, MISSED_DEADLINE_TRANSIENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

/** A fence that a test signals. */
function fenceOf(): SyncFence & { signal(state: FenceState): void } {
  let state: FenceState = "ACTIVE";
  let resolve: (state: FenceState) => void = () => {};
  const ended = new Promise<FenceState>((settle) => {
    resolve = settle;
  });
  return {
    get state() {
      return state;
    },
    wait: () => ended,
    signal(next) {
      state = next;
      resolve(next);
    },
  };
}

function preparedOf(result: Partial<ExecutionResult> = {}) {
  const execute = vi.fn(async (_request: Request, _options?: ExecuteOptions) => ({
    status: NONE as ErrorStatus,
    outputShapes: [],
    timing: measured,
    ...result,
  }));
  const prepared: PreparedModel = { execute, close: () => {} };
  return { prepared, execute };
}

const request = requestOf();
const nothing = { syncFence: null, callback: null };
const limits = answerLimitsOf({ now: () => 100n }, () => {});

describe("executeBehindFences", () => {
  it("executes once all fences are signalled, and answers when all is done", async () => {
    const { prepared, execute } = preparedOf();
    const [first, second] = [fenceOf(), fenceOf()];
    const promise = executeBehindFences(
      prepared,
      model,
      request,
      [first, second],
      { measure: MeasureTiming.YES },
      limits,
    );
    second.signal("SIGNALED");
    await settleAll();
    expect(execute).not.toHaveBeenCalled();
    first.signal("SIGNALED");
    const { status, syncFence, callback } = await promise;
    expect({ status, syncFence }).toEqual({ status: NONE, syncFence: null });
    expect(await callback?.getExecutionInfo()).toEqual({
      status: NONE,
      timingLaunched: measured,
      timingFenced: measured,
    });
    expect(execute).toHaveBeenCalledWith(request, { measure: MeasureTiming.YES });
  });

  it.each<[string, string, () => (SyncFence | null)[]]>([
    ["null", "waitFor[1]: expected a fence, got null", () => [fenceOf(), null]],
    [
      "in state ERROR",
      "waitFor[0]: expected a fence in state ACTIVE or SIGNALED, got ERROR",
      () => {
        const fence = fenceOf();
        fence.signal("ERROR");
        return [fence];
      },
    ],
  ])("refuses a fence that is %s", async (_, message, fences) => {
    const { prepared, execute } = preparedOf();
    expect(await executeBehindFences(prepared, model, request, fences(), {}, limits)).toEqual({
      status: INVALID_ARGUMENT,
      message,
      ...nothing,
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it.each<FenceState>(["ERROR", "UNKNOWN"])("fails where a fence ends in state %s", async (state) => {
    const { prepared, execute } = preparedOf();
    const fence = fenceOf();
    const promise = executeBehindFences(prepared, model, request, [fence], {}, limits);
    fence.signal(state);
    expect(await promise).toEqual({
      status: GENERAL_FAILURE,
      message: `executeFenced: a fence waited for ended in state ${state}`,
      ...nothing,
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it("refuses outputs of unknown dimensions", async () => {
    const { prepared, execute } = preparedOf();
    const open = {
      ...model,
      main: { ...model.main, operands: model.main.operands.map((operand) => ({ ...operand, dimensions: [0] })) },
    };
    expect((await executeBehindFences(prepared, open, request, [], {}, limits)).status).toBe(INVALID_ARGUMENT);
    expect(execute).not.toHaveBeenCalled();
    expect((await executeBehindFences(prepared, undefined, request, [], {}, limits)).status).toBe(NONE);
  });

  it.each<[bigint | undefined, bigint | undefined, bigint | undefined]>([
    [undefined, undefined, undefined],
    [150n, undefined, 150n],
    [undefined, 10n, 110n],
    [150n, 10n, 110n],
    [105n, 10n, 105n],
  ])("with deadline %s and duration %s has to end by %s", async (deadline, duration, expected) => {
    const { prepared, execute } = preparedOf();
    const options = { ...(deadline !== undefined && { deadline }), ...(duration !== undefined && { duration }) };
    await executeBehindFences(prepared, model, request, [], options, limits);
    expect(elementAt(elementAt(execute.mock.calls, 0), 1)).toEqual(
      expected === undefined ? {} : { deadline: expected },
    );
  });

  it("answers what the execution fails with; outputs that do not fit are a failure", async () => {
    const missed = preparedOf({ status: MISSED_DEADLINE_TRANSIENT, message: "late", timing: notMeasured });
    expect(await executeBehindFences(missed.prepared, model, request, [], {}, limits)).toEqual({
      status: MISSED_DEADLINE_TRANSIENT,
      message: "late",
      ...nothing,
    });
    const small = preparedOf({ status: OUTPUT_INSUFFICIENT_SIZE });
    expect((await executeBehindFences(small.prepared, model, request, [], {}, limits)).status).toBe(GENERAL_FAILURE);
  });
});
