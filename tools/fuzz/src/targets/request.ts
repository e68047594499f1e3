/** Requests to prepared models. */
import type { OpenedDevice } from "@nnhal/driver-core/device";
import { ErrorStatus, type MeasureTiming, type Model, type PreparedModel, type Request } from "@nnhal/types";
import { requestIssues } from "@nnhal/validation";
import { mustBeExecuted, mustBeOutcome, takePrepared } from "../answers.ts";
import { callTime, openReference, soon } from "../device.ts";
import { bytesOf, readAs } from "../model-input.ts";
import { mutateRequest } from "../mutate/request.ts";
import { requestInput, requestOf } from "../request-input.ts";
import { smallModels } from "../small-models.ts";
import { must, type Target } from "../target.ts";

export const request: Target = {
  name: "request",
  says: "a request is executed, at once and behind fences: a status, no byte outside of its outputs changes, and no valid one is invalid",
  longest: 4096,
  packages: ["driver-core", "validation", "backend", "backend-reference"],
  mutate: mutateRequest,
  async open() {
    const device = await openReference();
    const prepared = await prepareAll(device);
    return {
      async run(input) {
        const read = readAs(requestInput, input);
        if (read === undefined) return;
        const index = read.model % prepared.length;
        const [model, target] = [smallModels[index], prepared[index]];
        if (model === undefined || target === undefined) return;
        const asked = requestOf(read);
        const before = contents(asked);
        // A caller in another process can send any code.
        const measure = read.measure as MeasureTiming;
        const isFenced = read.way % 2 === 1;
        const status = isFenced
          ? await launchFenced(target, asked, measure)
          : await direct(target, model, asked, measure);
        const isValid = requestIssues(asked, model, { allowUnspecifiedOutput: !isFenced }).length === 0;
        const isRefused = status === ErrorStatus.INVALID_ARGUMENT;
        must(isValid || isRefused, () => `a request that is not valid has status ${status}`);
        mustKeep(asked, before, model, status);
      },
      close: () => device.close(),
    };
  },
};

async function prepareAll(device: OpenedDevice): Promise<PreparedModel[]> {
  const all: PreparedModel[] = [];
  for (const model of smallModels) {
    const result = await device.prepareModel(model);
    const one = takePrepared("prepareModel", result);
    must(one !== undefined, () => `a model of this target is refused: ${result.message}`);
    all.push(one);
  }
  return all;
}

async function direct(target: PreparedModel, { main }: Model, asked: Request, measure: MeasureTiming) {
  const result = await target.execute(asked, { measure, deadline: soon() });
  mustBeExecuted("execute", result, main.outputIndexes.length);
  return result.status;
}

async function launchFenced(target: PreparedModel, asked: Request, measure: MeasureTiming) {
  const result = await target.executeFenced?.(asked, [], { measure, deadline: soon(), duration: callTime });
  must(result !== undefined, () => "the device has no executeFenced");
  mustBeOutcome("executeFenced", result);
  const { status, syncFence, callback } = result;
  must(
    (status === ErrorStatus.NONE) === (callback !== null),
    () => `executeFenced: status ${status}, callback ${callback}`,
  );
  if (syncFence !== null) await syncFence.wait();
  if (callback === null) return status;
  const info = await callback.getExecutionInfo();
  mustBeOutcome("getExecutionInfo", info);
  return info.status;
}

function contents({ pools }: Request): (Uint8Array | undefined)[] {
  return pools.map((pool) => (pool.kind === "memory" ? bytesOf(pool.memory).slice() : undefined));
}

/** Only bytes of outputs have changed, and none if the request was refused. */
function mustKeep(asked: Request, before: readonly (Uint8Array | undefined)[], { main }: Model, status: number): void {
  const outputs = status === ErrorStatus.INVALID_ARGUMENT ? [] : asked.outputs.slice(0, main.outputIndexes.length);
  for (const [pool, after] of contents(asked).entries()) {
    const old = before[pool];
    if (after === undefined || old === undefined) continue;
    for (const { location, hasNoValue } of outputs) {
      if (location.poolIndex !== pool || hasNoValue) continue;
      const end = location.offset + location.length;
      old.set(after.subarray(location.offset, end), Math.min(location.offset, old.length));
    }
    must(
      Buffer.compare(after, old) === 0,
      () => `bytes of pool ${pool} have changed that are not of an output; status ${status}`,
    );
  }
}
