/**
 * A device whose every answer a test chooses.
 */
import { elementAt } from "@nnhal/operations";
import {
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type Model,
  type OutputShape,
  type PrepareResult,
  type Request,
  type SupportedOperations,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";

/** Behaviour of the device. The default of every method succeeds. */
export interface FakeBehaviour {
  /** Default: all operations are supported. */
  readonly getSupportedOperations?: (model: Model) => SupportedOperations;
  /** Default: a prepared model. */
  readonly prepareModel?: (model: Model) => PrepareResult | undefined;
  /** Default: the outputs stay as they are, and have the shapes that the model declares. */
  readonly execute?: (
    execution: FakeExecution,
  ) => Promise<Partial<ExecutionResult>> | Partial<ExecutionResult> | undefined;
}

/** An execution as a fake sees it. */
export interface FakeExecution {
  readonly model: Model;
  readonly request: Request;
  readonly options: ExecuteOptions | undefined;
  /** Bytes of an input; empty if it is omitted. */
  input(index: number): Uint8Array;
  /** Bytes of an output, to be written. */
  output(index: number): Uint8Array;
  /** Bytes of a pool of the request. */
  pool(index: number): Uint8Array;
}

/** A device that records its calls. */
export interface FakeDevice extends Device {
  readonly prepared: Model[];
  /** Prepared models that were closed. */
  closed: number;
}

export function fakeDevice(behaviour: FakeBehaviour = {}): FakeDevice {
  const info = { execTime: 1, powerUsage: 1 };
  const ok = { status: ErrorStatus.NONE } as const;
  const device: FakeDevice = {
    name: "fake",
    prepared: [],
    closed: 0,
    getCapabilities: () => ({
      ...ok,
      capabilities: {
        relaxedFloat32toFloat16PerformanceScalar: info,
        relaxedFloat32toFloat16PerformanceTensor: info,
        operandPerformance: [],
        ifPerformance: info,
        whilePerformance: info,
      },
    }),
    getType: () => ({ ...ok, type: DeviceType.CPU }),
    getVersionString: () => ({ ...ok, version: "1" }),
    getSupportedExtensions: () => ({ ...ok, extensions: [] }),
    getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache: 0, numDataCache: 0 }),
    getStatus: () => DeviceStatus.AVAILABLE,
    getSupportedOperations: (model) =>
      behaviour.getSupportedOperations?.(model) ?? {
        ...ok,
        supported: model.main.operations.map(() => true),
        reasons: model.main.operations.map(() => undefined),
      },
    async prepareModel(model) {
      device.prepared.push(model);
      const chosen = behaviour.prepareModel?.(model);
      if (chosen !== undefined) return chosen;
      return {
        ...ok,
        preparedModel: {
          async execute(request, options) {
            const result = await behaviour.execute?.(execution(model, request, options));
            const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
            return { ...ok, outputShapes: declaredShapes(model), timing, ...result };
          },
          close() {
            device.closed++;
          },
        },
      };
    },
  };
  return device;
}

/** The shapes that a model declares for its outputs. */
export function declaredShapes({ main }: Model): OutputShape[] {
  return main.outputIndexes.map((index) => ({
    dimensions: elementAt(main.operands, index).dimensions,
    isSufficient: true,
  }));
}

function execution(model: Model, request: Request, options: ExecuteOptions | undefined): FakeExecution {
  const pool = (index: number): Uint8Array => {
    const chosen = elementAt(request.pools, index);
    if (chosen.kind !== "memory" || chosen.memory.handle?.kind !== "buffer") throw new TypeError("not a buffer");
    const { buffer, byteOffset } = chosen.memory.handle;
    return new Uint8Array(buffer, byteOffset, chosen.memory.size);
  };
  const bytes = ({ hasNoValue, location }: Request["inputs"][number]) =>
    hasNoValue
      ? new Uint8Array(0)
      : pool(location.poolIndex).subarray(location.offset, location.offset + location.length);
  return {
    model,
    request,
    options,
    input: (index) => bytes(elementAt(request.inputs, index)),
    output: (index) => bytes(elementAt(request.outputs, index)),
    pool,
  };
}
