import { expect, it } from "vitest";
import { isOperationError, OperationError } from "./fail.ts";

/** The module once more, as a second installed copy of the package has it. */
const secondCopy = "./fail.ts?copy";

it("an OperationError is known in every copy of the package, and other errors are not taken for one", async () => {
  const { OperationError: OfCopy }: typeof import("./fail.ts") = await import(secondCopy);
  expect(new OfCopy("the rule")).not.toBeInstanceOf(OperationError);
  expect([new OperationError("the rule"), new OfCopy("the rule")].map(isOperationError)).toEqual([true, true]);
  const others = [new Error("x"), new TypeError("x"), { name: "OperationError" }, undefined];
  expect(others.map(isOperationError)).toEqual([false, false, false, false]);
});
