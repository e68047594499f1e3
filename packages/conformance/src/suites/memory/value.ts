/**
 * When a buffer has a value: after what succeeded, and not after what failed; and how long it lives.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectStatus } from "../check.ts";
import { expectValues } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, requestFor, sizeOf } from "../values.ts";
import { allocate, expectCopy, fill, role } from "./buffers.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;

/** A buffer with a value, for the input and output of a prepared model. */
async function ready(bench: Bench) {
  const small = await smallModel(bench);
  const preparedModel = await prepare(bench, small.model);
  const roles = { models: [preparedModel], inputs: [role(0)], outputs: [role(0)] };
  const { buffer, token } = await allocate(bench, roles);
  const values = sampleValues(small.type, 6);
  const [given, target] = [memoryWith(small.type, values), emptyMemory(sizeOf(small.type, [6]))];
  await fill(buffer, given);
  return { small, preparedModel, roles, buffer, token, values, given, target };
}

export const valueCases: readonly SuiteCase[] = group("value", "1.3", {
  async "a copyFrom that fails leaves none"(bench) {
    const { buffer, target } = await ready(bench);
    expectStatus("copyFrom of one byte", await buffer.copyFrom(emptyMemory(1), []), INVALID_ARGUMENT);
    await expectCopy("copyTo afterwards", buffer.copyTo(target), GENERAL_FAILURE);
  },
  async "an execution that misses its deadline leaves none"(bench) {
    const { preparedModel, buffer, token, given, target } = await ready(bench);
    const result = await preparedModel.execute(requestFor([given], [token]), { deadline: bench.now() });
    expectExecution("execute", result, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT);
    await expectCopy("copyTo afterwards", buffer.copyTo(target), GENERAL_FAILURE);
  },
  async "a request that is refused takes no input's value away"(bench) {
    const { small, preparedModel, buffer, token, target, values } = await ready(bench);
    const result = await preparedModel.execute({ ...requestFor([token], [target]), outputs: [] });
    expectExecution("execute without outputs", result, INVALID_ARGUMENT);
    await expectCopy("copyTo afterwards", buffer.copyTo(target), NONE);
    expectValues("the value afterwards", small.type, target, values);
  },
  async "a second value replaces the first"(bench) {
    const { small, buffer, target } = await ready(bench);
    const others = sampleValues(small.type, 6, 1);
    await fill(buffer, memoryWith(small.type, others));
    await expectCopy("copyTo", buffer.copyTo(target), NONE);
    expectValues("the second value", small.type, target, others);
  },
  async "many executions read it at once"(bench) {
    const { small, preparedModel, token, values } = await ready(bench);
    const outputs = Array.from({ length: 12 }, () => emptyMemory(sizeOf(small.type, [6])));
    const results = await Promise.all(outputs.map((output) => preparedModel.execute(requestFor([token], [output]))));
    const expected = elementAt(small.compute([values]), 0);
    results.forEach((result, index) => {
      expectExecution("execute", result, NONE);
      expectValues(`execution ${index}`, small.type, elementAt(outputs, index), expected);
    });
  },
  async "it is gone with its buffer"(bench) {
    const { preparedModel, buffer, token, target, given } = await ready(bench);
    buffer.close?.();
    if (buffer.close === undefined) return;
    const result = await preparedModel.execute(requestFor([token], [target]));
    expectExecution("execute with the token of a closed buffer", result, INVALID_ARGUMENT);
    expectStatus("copyFrom to a closed buffer", await buffer.copyFrom(given, []), INVALID_ARGUMENT, GENERAL_FAILURE);
    expectStatus("copyTo from a closed buffer", await buffer.copyTo(target), INVALID_ARGUMENT, GENERAL_FAILURE);
  },
  async "closing a buffer leaves an execution that uses it"(bench) {
    const { small, preparedModel, buffer, token, target, values } = await ready(bench);
    const running = preparedModel.execute(requestFor([token], [target]));
    buffer.close?.();
    expectExecution("execute", await running, NONE);
    expectValues("the result", small.type, target, elementAt(small.compute([values]), 0));
  },
  async "of two buffers, closing one leaves the other"(bench) {
    const { roles, buffer, target, given } = await ready(bench);
    const other = await allocate(bench, roles);
    await fill(other.buffer, given);
    buffer.close?.();
    await expectCopy("copyTo", other.buffer.copyTo(target), NONE);
  },
});
