import { ErrorStatus } from "@nnhal/types";
import { expect, it } from "vitest";
import { isStatusError, StatusError } from "./status-error.ts";

const { INVALID_ARGUMENT } = ErrorStatus;
/** The module once more, as a second installed copy of the package has it. */
const secondCopy = "./status-error.ts?copy";

it("a StatusError is known in every copy of the package, and other errors are not taken for one", async () => {
  const { StatusError: OfCopy }: typeof import("./status-error.ts") = await import(secondCopy);
  expect(new OfCopy(INVALID_ARGUMENT, "x")).not.toBeInstanceOf(StatusError);
  const all = [new StatusError(INVALID_ARGUMENT, "x"), new OfCopy(INVALID_ARGUMENT, "x")];
  expect(all.map(isStatusError)).toEqual([true, true]);
  const named = Object.assign(new Error("x"), { name: "StatusError" });
  const others = [new Error("x"), named, { name: "StatusError", status: INVALID_ARGUMENT }, undefined];
  expect(others.map(isStatusError)).toEqual([false, false, false, false]);
});
