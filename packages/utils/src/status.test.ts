import { ErrorStatus, TIMING_NOT_MEASURED } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import {
  convertErrorStatusToResultCode,
  convertResultCodeToErrorStatus,
  getExecutionResult,
  isErrorStatus,
  notMeasured,
  ResultCode,
} from "./status.ts";

const shapes = [{ dimensions: [2], isSufficient: false }];
const timing = { timeOnDevice: 3n, timeInDriver: 4n };

describe("result codes", () => {
  const changed: Readonly<Record<string, keyof typeof ErrorStatus>> = {
    NO_ERROR: "NONE",
    OUT_OF_MEMORY: "GENERAL_FAILURE",
    INCOMPLETE: "GENERAL_FAILURE",
    UNEXPECTED_NULL: "INVALID_ARGUMENT",
    BAD_DATA: "INVALID_ARGUMENT",
    OP_FAILED: "GENERAL_FAILURE",
    BAD_STATE: "GENERAL_FAILURE",
    UNMAPPABLE: "GENERAL_FAILURE",
    UNAVAILABLE_DEVICE: "DEVICE_UNAVAILABLE",
    DEAD_OBJECT: "GENERAL_FAILURE",
  };

  it.each(Object.entries(ResultCode))("%s has its status", (name, code) => {
    const expected = changed[name] ?? name;
    expect(convertResultCodeToErrorStatus(code)).toBe(
      Object.entries(ErrorStatus).find(([key]) => key === expected)?.[1],
    );
  });

  it.each(Object.entries(ErrorStatus))("a status %s comes back from its result code", (_name, status) => {
    expect(convertResultCodeToErrorStatus(convertErrorStatusToResultCode(status))).toBe(status);
  });

  it("of numbers that mean nothing are failures", () => {
    const unknown: number = 99;
    expect(isErrorStatus(unknown)).toBe(false);
    // As a hostile peer can send it.
    expect(convertErrorStatusToResultCode(unknown as ErrorStatus)).toBe(ResultCode.OP_FAILED);
    expect(convertResultCodeToErrorStatus(unknown as ResultCode)).toBe(ErrorStatus.GENERAL_FAILURE);
    expect(isErrorStatus("0")).toBe(false);
    expect(isErrorStatus(8)).toBe(true);
  });
});

describe("getExecutionResult", () => {
  it("keeps all that a success may tell", () => {
    const answer = { status: ErrorStatus.NONE, outputShapes: shapes, timing };
    expect(getExecutionResult(answer)).toEqual(answer);
  });

  it("keeps the shapes of insufficient outputs, and no durations", () => {
    const status = ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
    expect(getExecutionResult({ status, outputShapes: shapes, timing })).toEqual({
      status,
      outputShapes: shapes,
      timing: notMeasured,
    });
  });

  it("makes insufficient outputs of unknown shape a failure", () => {
    const answer = { status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, outputShapes: [], timing };
    expect(getExecutionResult(answer)).toEqual({
      status: ErrorStatus.GENERAL_FAILURE,
      outputShapes: [],
      timing: { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED },
    });
  });

  it.each([ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.MISSED_DEADLINE_TRANSIENT])(
    "keeps nothing but status %s",
    (status) => {
      expect(getExecutionResult({ status, outputShapes: shapes, timing })).toEqual({
        status,
        outputShapes: [],
        timing: notMeasured,
      });
    },
  );
});
