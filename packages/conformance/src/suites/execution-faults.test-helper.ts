/** Faults of a device's executions are found, one at a time. */

import { createFence } from "@nnhal/driver-core/fence";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, MeasureTiming, type Request } from "@nnhal/types";
import { type Fault, type FaultRow, never } from "./faulty-device.test-helper.ts";
import { emptyMemory, requestFor } from "./values.ts";

const { GENERAL_FAILURE, INVALID_ARGUMENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

/** Prepared models that execute something else than they are asked. */
function executeChanged(change: (request: Request) => Request): Fault {
  return {
    preparedModel: ({ execute }) => ({ execute: (request, options) => execute(change(request), options) }),
  };
}

export const executionFaults: readonly FaultRow[] = [
  [
    "computes with the wrong input",
    executeChanged((request) => ({
      ...request,
      inputs: request.inputs.map((input) => ({ ...input, location: { ...input.location, offset: 0 } })),
    })),
    "prepared-model/execute",
    /output 0/,
  ],
  [
    "writes nothing",
    {
      preparedModel: ({ execute }) => ({
        execute: async (request, options) => {
          const { outputs } = request;
          const spare = requestFor(
            [],
            outputs.map(({ location }) => emptyMemory(location.length)),
          );
          const places = spare.outputs.map((output, index) => ({
            ...output,
            location: { ...output.location, poolIndex: request.pools.length + index },
            dimensions: elementAt(outputs, index).dimensions,
          }));
          return execute({ ...request, outputs: places, pools: [...request.pools, ...spare.pools] }, options);
        },
      }),
    },
    "prepared-model/execute",
    /output 0: expected/,
  ],
  [
    "reports durations that were not asked for",
    {
      preparedModel: ({ execute }) => ({
        execute: (request) => execute(request, { measure: MeasureTiming.YES }),
      }),
    },
    "prepared-model/execute",
    /expected no durations, got/,
  ],
  [
    "was longer on the device than in the driver",
    {
      preparedModel: ({ execute }) => ({
        execute: async (request, options) => {
          const result = await execute(request, options);
          return options?.measure === MeasureTiming.YES
            ? { ...result, timing: { timeOnDevice: 2n, timeInDriver: 1n } }
            : result;
        },
      }),
    },
    "prepared-model/execute",
    /2 microseconds on the device are more than the 1 in the driver/,
  ],
  [
    "says of no output that it does not fit",
    {
      preparedModel: ({ execute }) => ({
        execute: async (request, options) => {
          const result = await execute(request, options);
          const outputShapes = result.outputShapes.map((shape) => ({ ...shape, isSufficient: true }));
          return result.status === OUTPUT_INSUFFICIENT_SIZE ? { ...result, outputShapes } : result;
        },
      }),
    },
    "prepared-model/shapes",
    /execute: OUTPUT_INSUFFICIENT_SIZE, but isSufficient is true of every output/,
  ],
  [
    "tells the shapes of some outputs only",
    {
      preparedModel: ({ execute }) => ({
        execute: async (request, options) => {
          const result = await execute(request, options);
          return { ...result, outputShapes: result.outputShapes.slice(0, 1) };
        },
      }),
    },
    "prepared-model/shapes",
    /1 shapes of 2 outputs/,
  ],
  [
    "calls a wrong request a failure",
    {
      preparedModel: ({ execute }) => ({
        execute: async (request, options) => {
          const result = await execute(request, options);
          return result.status === INVALID_ARGUMENT ? { ...result, status: GENERAL_FAILURE } : result;
        },
      }),
    },
    "prepared-model/requests",
    /expected INVALID_ARGUMENT, got GENERAL_FAILURE/,
  ],
  [
    "does not close",
    { preparedModel: () => ({ close() {} }) },
    "prepared-model/life",
    /execute after close: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "mixes up what runs at once",
    (() => {
      let before: Request | undefined;
      return executeChanged((request) => {
        const mixed =
          before === undefined
            ? request
            : { ...request, inputs: before.inputs, pools: [elementAt(before.pools, 0), ...request.pools.slice(1)] };
        before = request;
        return mixed;
      });
    })(),
    "prepared-model/concurrency",
    /output 0/,
  ],
  [
    "waits for no fence",
    {
      preparedModel: ({ executeFenced }) => ({
        executeFenced: async (request, _, options) => (await executeFenced?.(request, [], options)) ?? never(),
      }),
    },
    "fenced/waiting",
    /executeFenced: no fence, but there is one to wait for/,
  ],
  [
    "takes null for a fence",
    {
      preparedModel: ({ executeFenced }) => ({
        executeFenced: async (request, waitFor, options) =>
          (await executeFenced?.(
            request,
            waitFor.filter((fence) => fence !== null),
            options,
          )) ?? never(),
      }),
    },
    "fenced/launch",
    /with a null fence: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "signals where it failed",
    {
      preparedModel: ({ executeFenced }) => ({
        executeFenced: async (request, waitFor, options) => {
          const launched = (await executeFenced?.(request, waitFor, options)) ?? never();
          const { fence, signal } = createFence();
          launched.syncFence?.wait().then(signal);
          return { ...launched, syncFence: launched.syncFence && fence };
        },
      }),
    },
    "fenced/waiting",
    /the fence is SIGNALED, but the callback says/,
  ],
  [
    "knows no deadlines",
    { preparedModel: ({ execute }) => ({ execute: (request) => execute(request) }) },
    "qos/execute",
    /expected MISSED_DEADLINE_TRANSIENT or MISSED_DEADLINE_PERSISTENT, got NONE/,
  ],
];
