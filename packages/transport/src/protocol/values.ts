/** The values of the HAL that calls carry, as bytes. Codes of enums may be unknown: the receiver validates them. */
import {
  type BufferRole,
  type Capabilities,
  type DataLocation,
  type DeviceStatus,
  type DeviceType,
  ErrorStatus,
  type ExecutionPreference,
  type ExecutionResult,
  type Extension,
  errorStatusNames,
  type FenceState,
  type HardwareBufferDescription,
  type Hints,
  type MeasureTiming,
  type Outcome,
  type OutputShape,
  type PerformanceInfo,
  type Priority,
  type RequestArgument,
  type Timing,
  type TokenValuePair,
} from "@nnhal/types";
import { isErrorStatus } from "@nnhal/utils";
import {
  bytes,
  type Codec,
  dataLocation,
  flag,
  float64,
  int32,
  list,
  type ModelStructure,
  mapCodec,
  modelStructure,
  optional,
  struct,
  text,
  UnreadableBytes,
  Unwritable,
  uint8,
  uint32,
  uint64,
  union,
} from "@nnhal/utils/codec";

/** A code of an enum. A peer can send any number: its user validates it, as it does the codes of local callers. */
function code<Code extends number>(): Codec<Code> {
  return mapCodec<Code, number>(
    int32,
    (value) => value,
    (value) => value as Code,
  );
}

export const preference = code<ExecutionPreference>();
export const priority = code<Priority>();
export const measureTiming = code<MeasureTiming>();
export const deviceType = code<DeviceType | 0>();
export const deviceStatus = code<DeviceStatus>();

/** A status that is not known is GENERAL_FAILURE. An error without a message gets one, as the contract has it: the other side may be anything. */
export const outcome: Codec<Outcome> = mapCodec<Outcome, { status: number; message: string | undefined }>(
  struct({ status: int32, message: optional(text) }),
  ({ status, message }) => ({ status, message: message === undefined ? undefined : shorten(message) }),
  ({ status, message }) => {
    if (isErrorStatus(status)) {
      const isExplained = status === ErrorStatus.NONE || (message ?? "") !== "";
      const said = isExplained ? message : `the answer has status ${errorStatusNames.get(status)} and no message`;
      return { status, ...(said !== undefined && { message: said }) };
    }
    return { status: ErrorStatus.GENERAL_FAILURE, message: `the answer has status ${status}: ${message ?? ""}` };
  },
);

/** Messages are for people; a device may quote what a caller has sent. */
function shorten(message: string): string {
  return message.length > 4000 ? `${message.slice(0, 4000)}…` : message;
}

const performance: Codec<PerformanceInfo> = struct({ execTime: float64, powerUsage: float64 });

export const capabilities: Codec<Capabilities> = struct<Capabilities>({
  relaxedFloat32toFloat16PerformanceScalar: performance,
  relaxedFloat32toFloat16PerformanceTensor: performance,
  operandPerformance: list(struct({ type: uint32, info: performance })),
  ifPerformance: performance,
  whilePerformance: performance,
});

export const extensions: Codec<readonly Extension[]> = list(
  struct<Extension>({
    name: text,
    operandTypes: list(struct({ type: uint32, isTensor: flag, byteSize: uint32 })),
  }),
);

/** A memory: the number that the client has defined for it. */
export const memory = uint32;

/** A model whose pools are numbers of memories. */
export interface WiredModel {
  readonly structure: ModelStructure;
  readonly operandValues: Uint8Array;
  readonly pools: readonly number[];
}

export const model: Codec<WiredModel> = struct<WiredModel>({
  structure: modelStructure,
  operandValues: bytes,
  pools: list(memory),
});

/** A pool of a request. Tokens can be any number. */
export type WiredPool =
  | { readonly kind: "memory"; readonly memory: number }
  | { readonly kind: "token"; readonly token: number };

/** A request whose pools are numbers of memories, or tokens. */
export interface WiredRequest {
  readonly inputs: readonly RequestArgument[];
  readonly outputs: readonly RequestArgument[];
  readonly pools: readonly WiredPool[];
}

function requestAt(location: Codec<DataLocation>): Codec<WiredRequest> {
  const argument = struct<RequestArgument>({ hasNoValue: flag, location, dimensions: list(uint32) });
  return struct<WiredRequest>({
    inputs: list(argument),
    outputs: list(argument),
    pools: list(union<WiredPool>({ memory: struct({ memory }), token: struct({ token: float64 }) })),
  });
}

/** A request without the padding of its arguments. */
export const request: Codec<WiredRequest> = requestAt(dataLocation);

/** Since version 2. */
export const paddedRequest: Codec<WiredRequest> = requestAt(
  mapCodec<DataLocation, Required<DataLocation>>(
    struct({ poolIndex: uint32, offset: uint32, length: uint32, padding: uint32 }),
    ({ poolIndex, offset, length, padding = 0 }) => ({ poolIndex, offset, length, padding }),
    ({ padding, ...location }) => (padding === 0 ? location : { ...location, padding }),
  ),
);

export const timing: Codec<Timing> = struct<Timing>({ timeOnDevice: uint64, timeInDriver: uint64 });

export const executionResult: Codec<{
  readonly outcome: Outcome;
  readonly outputShapes: ExecutionResult["outputShapes"];
  readonly timing: Timing;
}> = struct({
  outcome,
  outputShapes: list(struct<OutputShape>({ dimensions: list(uint32), isSufficient: flag })),
  timing,
});

export const hints: Codec<Hints> = struct<Hints>({
  pairs: list(struct<TokenValuePair>({ token: uint32, value: bytes })),
  extensionNameToPrefix: list(struct({ name: text, prefix: uint32 })),
});

export const roles: Codec<readonly BufferRole[]> = list(
  struct<BufferRole>({ modelIndex: uint32, ioIndex: uint32, frequency: float64 }),
);

const fenceStates: readonly FenceState[] = ["ACTIVE", "SIGNALED", "ERROR", "UNKNOWN"];

export const fenceState: Codec<FenceState> = mapCodec<FenceState, number>(
  uint8,
  (state) => {
    const index = fenceStates.indexOf(state);
    if (index < 0) throw new Unwritable(`${String(state)} instead of the state of a fence`);
    return index;
  },
  (index) => {
    const state = fenceStates[index];
    if (state === undefined) throw new UnreadableBytes(`${index} is not the state of a fence`);
    return state;
  },
);

/** A fence of the side that sends it, and its state at that time. While it is ACTIVE, its end is sent later. */
export const fence = struct({ id: uint32, state: fenceState });

/** Descriptors of the files of a cache, as the connection passes them. */
export const cache = struct({ modelCache: list(list(uint32)), dataCache: list(list(uint32)), token: bytes });

export const hardwareBuffer: Codec<HardwareBufferDescription> = struct<HardwareBufferDescription>({
  width: float64,
  height: float64,
  layers: float64,
  format: float64,
  usage: uint64,
  stride: float64,
});

/** The meaning of a memory's number from then on. */
export type MemoryDefinition =
  /** The connection's way of sharing memory knows it. `attachments`: how many buffers came with the frame. */
  | { readonly kind: "shared"; readonly reference: Uint8Array }
  /** The bytes are copied: the receiver allocates as many. */
  | {
      readonly kind: "copied";
      readonly name: string;
      readonly size: number;
      readonly description: HardwareBufferDescription | undefined;
    }
  /** A memory that cannot be used. The device refuses it as it would refuse a local one. */
  | { readonly kind: "unusable"; readonly name: string; readonly size: number; readonly hasHandle: boolean };

export const memoryDefinition: Codec<MemoryDefinition> = union<MemoryDefinition>({
  shared: struct({ reference: bytes }),
  copied: struct({ name: text, size: float64, description: optional(hardwareBuffer) }),
  unusable: struct({ name: text, size: float64, hasHandle: flag }),
});
