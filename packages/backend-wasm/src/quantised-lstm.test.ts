/** LSTM cells of integers have the bits of the reference: random cells, with all that a cell may have or lack. */
import { type Example, randomExamples, runVectors, summarise } from "@nnhal/conformance";
import { operationByCode } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { expect, it } from "vitest";
import { deviceOf } from "./_devices.test-helper.ts";

const everyWay = process.env.NNHAL_VECTOR_WAYS === "all";

/** An example of which each result must be exactly the expected one. */
function exact(example: Example): Example {
  const operands = example.main.operands.map((operand) => ({ ...operand, allowance: { absolute: 0, relative: 0 } }));
  return { ...example, main: { ...example.main, operands } };
}

it.each(["QUANTIZED_LSTM", "QUANTIZED_16BIT_LSTM"] as const)("%s", { timeout: 300_000 }, async (name) => {
  const operation = operationByCode(OperationType[name]);
  if (operation === undefined) throw new Error(`there is no ${name}`);
  const count = everyWay ? 600 : 60;
  const examples = [...randomExamples({ count, operations: [operation] })].map(exact);
  const { failures, passed } = await summarise(runVectors(await deviceOf(), examples));
  expect(failures.map((failure) => `${failure.name}: ${failure.reason}`)).toEqual([]);
  expect(passed).toBeGreaterThan(count / 2);
});
