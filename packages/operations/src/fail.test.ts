import { expect, it } from "vitest";
import { OperationError } from "./fail.ts";

/** The module once more, as a second installed copy of the package has it. */
const secondCopy = "./fail.ts?copy";

it("an OperationError is one in every copy of the package, and other errors are not", async () => {
  const { OperationError: OfCopy }: typeof import("./fail.ts") = await import(secondCopy);
  expect(OfCopy).not.toBe(OperationError);
  expect(new OfCopy("the rule")).toBeInstanceOf(OperationError);
  for (const other of [new Error("x"), new TypeError("x"), { name: "OperationError" }, undefined])
    expect(other).not.toBeInstanceOf(OperationError);
});

it("a class that extends OperationError has its own instances only", () => {
  class Narrow extends OperationError {}
  expect(new Narrow("x")).toBeInstanceOf(Narrow);
  expect(new Narrow("x")).toBeInstanceOf(OperationError);
  expect(new OperationError("x")).not.toBeInstanceOf(Narrow);
});
