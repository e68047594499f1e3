import { ErrorStatus } from "@nnhal/types";
import { expect, it } from "vitest";
import { failedRun, StatusError } from "./status-error.ts";

/** The module once more, as a second installed copy of the package has it. */
const secondCopy = "./status-error.ts?copy";

it("a StatusError is one in every copy of the package, and other errors are not", async () => {
  const { StatusError: OfCopy }: typeof import("./status-error.ts") = await import(secondCopy);
  expect(OfCopy).not.toBe(StatusError);
  expect(new OfCopy(ErrorStatus.INVALID_ARGUMENT, "x")).toBeInstanceOf(StatusError);
  const named = Object.assign(new Error("x"), { name: "StatusError" });
  for (const other of [new Error("x"), named, { name: "StatusError", status: 1 }, undefined])
    expect(other).not.toBeInstanceOf(StatusError);
});

it("a class that extends StatusError has its own instances only", () => {
  class Missed extends StatusError {}
  expect(new Missed(ErrorStatus.INVALID_ARGUMENT, "x")).toBeInstanceOf(Missed);
  expect(new Missed(ErrorStatus.INVALID_ARGUMENT, "x")).toBeInstanceOf(StatusError);
  expect(new StatusError(ErrorStatus.INVALID_ARGUMENT, "x")).not.toBeInstanceOf(Missed);
});

it.each([
  [new StatusError(ErrorStatus.INVALID_ARGUMENT, "a"), ErrorStatus.INVALID_ARGUMENT, "a"],
  [new RangeError("b"), ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, "b"],
  [new TypeError("c"), ErrorStatus.GENERAL_FAILURE, "c"],
  ["d", ErrorStatus.GENERAL_FAILURE, "d"],
])("a run that throws %s ends with status %d", (error, status, message) => {
  expect(failedRun(error)).toEqual({ status, message, outputShapes: [] });
});
