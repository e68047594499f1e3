/**
 * The rehearsal of an execution, once per process. JavaScript compiles a function when it is first called. On the path from an execution
 * through a device to a backend and back this takes longer than a small network does, so the first `Compilation.finish` in the
 * process calls all of it, with a backend that computes nothing.
 */
import { type DeviceOptions, openDevice } from "@nnhal/driver-core/device";
import { loadOperations } from "@nnhal/operations";
import {
  type Device,
  DeviceType,
  ErrorStatus,
  type Model,
  OperandLifeTime,
  OperandType,
  OperationType,
} from "@nnhal/types";
import { noTracer, silentLogger } from "@nnhal/utils";
import type { CompiledModel } from "./compiled-model.ts";
import { Execution } from "./execution.ts";
import { FinishedModel } from "./finished-model.ts";

const performance = { execTime: 1, powerUsage: 1 };

const nowhere = { poolIndex: 0, offset: 0, length: 0 };
const element = { type: OperandType.TENSOR_FLOAT32, dimensions: [1], scale: 0, zeroPoint: 0, location: nowhere };
const extraParams = { kind: "none" } as const;

/** TANH of one number. */
const tanhModel: Model = {
  main: {
    operands: [
      { ...element, extraParams, numberOfConsumers: 1, lifetime: OperandLifeTime.SUBGRAPH_INPUT },
      { ...element, extraParams, numberOfConsumers: 0, lifetime: OperandLifeTime.SUBGRAPH_OUTPUT },
    ],
    operations: [{ type: OperationType.TANH, inputs: [0], outputs: [1] }],
    inputIndexes: [0],
    outputIndexes: [1],
  },
  referenced: [],
  operandValues: new Uint8Array(),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

/** Supports every operation and computes nothing. */
const idleBackend: DeviceOptions["backend"] = {
  name: "rehearsal",
  deviceType: DeviceType.CPU,
  open: async () => ({
    version: "rehearsal-1",
    capabilities: {
      relaxedFloat32toFloat16PerformanceScalar: performance,
      relaxedFloat32toFloat16PerformanceTensor: performance,
      operandPerformance: [],
      ifPerformance: performance,
      whilePerformance: performance,
    },
    supports: () => ({ supported: true }),
    compile: async () => ({
      run: (_, outputs) => ({
        status: ErrorStatus.NONE,
        outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })),
      }),
      close() {},
    }),
    close: async () => {},
  }),
};

/** Creates a compilation. A parameter, since compilations rehearse. */
type Compile = (
  model: FinishedModel,
  devices: readonly Device[],
) => CompiledModel & { finish(): Promise<void>; close(): void };

let hasBegun = false;

/** Rehearses once per process; later calls resolve immediately. */
export async function rehearse(compile: Compile): Promise<void> {
  if (hasBegun) return;
  hasBegun = true;
  await executeNothing(compile);
}

/** Compiles a model for the idle backend and executes it. It is neither logged nor traced. */
export async function executeNothing(compile: Compile): Promise<void> {
  await loadOperations([OperationType.TANH]);
  const model = FinishedModel.from(tanhModel, { log: silentLogger, trace: noTracer });
  const device = await openDevice({ backend: idleBackend, log: silentLogger, trace: noTracer, caching: false });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const compilation = compile(model, [device]);
  await compilation.finish();
  const execution = new Execution(compilation);
  execution.setInput(0, new Float32Array(1));
  execution.setOutput(0, new Float32Array(1));
  await execution.compute();
  compilation.close();
  await device.close();
}
