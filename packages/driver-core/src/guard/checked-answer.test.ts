import type { Request } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { expect, it } from "vitest";
import { CheckedAnswer } from "./checked-answer.ts";

const request: Request = { inputs: [], outputs: [], pools: [] };
const shapes = [{ dimensions: [2], isSufficient: true }];
const answered = () => new CheckedAnswer(request, shapes, notMeasured);

it("is known by the request that it answers, and by that alone", () => {
  const answer = answered();
  expect(answer).toEqual({ status: 0, outputShapes: shapes, timing: notMeasured });
  expect(CheckedAnswer.isTo(request, answer)).toBe(true);
  expect(CheckedAnswer.isTo({ ...request }, answer)).toBe(false);
});

it.each([
  ["a copy", (answer: object) => ({ ...answer })],
  ["an object behind it", (answer: object) => Object.create(answer)],
  ["an object with its methods", (answer: object) => Object.create(Object.getPrototypeOf(answer))],
  ["a function", () => () => {}],
  ["null", () => null],
  ["a number", () => 5],
])("is not %s", (_, make) => {
  expect(CheckedAnswer.isTo(request, make(answered()))).toBe(false);
});
