/**
 * Buffers of several clients: what one holds is nothing to another, though their tokens may be the same numbers.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { anotherClient, type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution } from "../check.ts";
import { expectValues } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, requestFor, sizeOf } from "../values.ts";
import { allocate, expectCopy, expectRefusedBuffer, fill, role } from "./buffers.ts";

const { NONE, INVALID_ARGUMENT } = ErrorStatus;

/** A prepared model of a client, and a buffer with a value for its input and output. */
async function holdValue(bench: Bench, salt: number) {
  const small = await smallModel(bench);
  const preparedModel = await prepare(bench, small.model);
  const roles = { models: [preparedModel], inputs: [role(0)], outputs: [role(0)] };
  const { buffer, token } = await allocate(bench, roles);
  const values = sampleValues(small.type, 6, salt);
  await fill(buffer, memoryWith(small.type, values));
  const target = () => emptyMemory(sizeOf(small.type, [6]));
  /** Executes on the buffer, and looks at the result. */
  const use = async () => {
    const output = target();
    expectExecution("execute", await preparedModel.execute(requestFor([token], [output])), NONE);
    expectValues("execute: output 0", small.type, output, elementAt(small.compute([values]), 0));
  };
  return { small, preparedModel, roles, buffer, token, values, target, use };
}

export const clientCases: readonly SuiteCase[] = group("clients", "1.3", {
  async "a buffer for a prepared model of another client is refused"(bench) {
    const other = await holdValue(anotherClient(bench), 1);
    const own = await prepare(bench, other.small.model);
    await expectRefusedBuffer(bench, "for another client's model", other.roles);
    const models = [own, other.preparedModel];
    await expectRefusedBuffer(bench, "for another client's model beside its own", {
      models,
      inputs: [role(0), role(0, 1)],
    });
  },
  async "the token of another client's buffer is INVALID_ARGUMENT"(bench) {
    const { small, token, values, target, use } = await holdValue(anotherClient(bench), 1);
    const own = await prepare(bench, small.model);
    const input = memoryWith(small.type, values);
    for (const request of [requestFor([token], [target()]), requestFor([input], [token])]) {
      expectExecution("execute with another client's token", await own.execute(request), INVALID_ARGUMENT);
    }
    await use();
  },
  async "each client's tokens stand for its own buffers"(bench) {
    const [own, other] = [await holdValue(bench, 1), await holdValue(anotherClient(bench), 2)];
    await Promise.all([own.use(), other.use(), own.use(), other.use()]);
  },
  async "a client that ends takes nothing from the others"(bench) {
    const client = anotherClient(bench);
    const [own, other] = [await holdValue(bench, 1), await holdValue(client, 2)];
    await other.use();
    await client.close();
    await own.use();
    await expectCopy("copyTo", own.buffer.copyTo(own.target()), NONE);
  },
  async "buffers of a client that ended can be used no more"(bench) {
    const client = anotherClient(bench);
    const { preparedModel, token, target } = await holdValue(client, 1);
    await client.close();
    const { DEVICE_UNAVAILABLE } = ErrorStatus;
    const result = await preparedModel.execute(requestFor([token], [target()]));
    expectExecution("execute of a client that ended", result, INVALID_ARGUMENT, DEVICE_UNAVAILABLE);
  },
});
