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

/** The same with every other tensor as a constant, and the rest as inputs. */
function mixLifetimes(example: Example): Example {
  const { main } = example;
  const isConstant = (index: number) => main.inputIndexes.indexOf(index) % 2 === 1;
  const operands = main.operands.map((operand, index) =>
    isConstant(index) ? { ...operand, lifetime: "CONSTANT_COPY" as const } : operand,
  );
  const inputIndexes = main.inputIndexes.filter((index) => !isConstant(index));
  return { ...example, name: `${example.name} with constants`, main: { ...main, operands, inputIndexes } };
}

it.each(["QUANTIZED_LSTM", "QUANTIZED_16BIT_LSTM"] as const)("%s", { timeout: 300_000 }, async (name) => {
  const operation = operationByCode(OperationType[name]);
  if (operation === undefined) throw new Error(`there is no ${name}`);
  const count = everyWay ? 600 : 60;
  const drawn = [...randomExamples({ count, operations: [operation] })].map(exact);
  const examples = [...drawn, ...drawn.map(mixLifetimes)];
  const { failures, passed } = await summarise(runVectors(await deviceOf(), examples));
  expect(failures.map((failure) => `${failure.name}: ${failure.reason}`)).toEqual([]);
  expect(passed).toBeGreaterThan(count);
});
