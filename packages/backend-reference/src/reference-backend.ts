/**
 * The reference backend: a CPU device that runs the kernels of @nnhal/operations, one operation after the other.
 */
import {
  type Backend,
  type BackendSession,
  capabilitiesOf,
  type Executable,
  type OperationView,
  type RunContext,
  type RunResult,
  type Support,
} from "@nnhal/backend";
import { DeviceType, ErrorStatus } from "@nnhal/types";
import { drive } from "./drive.ts";
import { runMain } from "./execute.ts";
import { compileGraph } from "./plan.ts";
import { createScratch } from "./scratch.ts";

/** Runs every operation of HAL 1.0 – 1.3, in plain JavaScript. */
export const referenceBackend: Backend = {
  name: "reference",
  deviceType: DeviceType.CPU,
  open: async () => session,
};

const session: BackendSession = {
  version: "nnhal-reference-1",
  // The reference is what others are compared with.
  capabilities: capabilitiesOf({ float: 1, quantised: 1 }),
  supports({ definition }: OperationView): Support {
    if (definition.controlFlow || definition.reference !== undefined) return { supported: true };
    return { supported: false, reason: `${definition.name}: the operation has no reference kernel` };
  },
  async compile(graph): Promise<Executable> {
    const plan = compileGraph(graph);
    const scratch = createScratch();
    return {
      run: (inputs, outputs, context) => start(runMain(plan, inputs, outputs, context, scratch), context),
      releaseScratch: scratch.clear,
      close() {},
    };
  },
  async close() {},
};

function start(steps: Generator<void, RunResult>, context: RunContext): Promise<RunResult> {
  return drive(steps, context, {
    status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
    message: "the deadline passed before the execution ended",
    outputShapes: [],
  });
}
