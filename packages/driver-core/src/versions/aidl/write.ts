/**
 * From the canonical shape to AIDL. As the conversions to older versions of HIDL, each returns a value and what it loses: parts that need
 * a later version, and parts that AIDL does not have in any version.
 */
import {
  type AidlVersion,
  type BufferRole,
  type Capabilities,
  type DataLocation,
  DEVICE_TYPE_UNKNOWN,
  DeviceType,
  type HardwareBufferDescription,
  type Memory,
  type Model,
  type Operand,
  OperandTypeRange,
  type Request,
  type RequestArgument,
  type Subgraph,
} from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { getOperandTypeName } from "@nnhal/utils";
import { hardwareBufferFormats, hardwareBufferSize } from "../../memory/hardware-buffer.ts";
import { modelNeeds, requestNeeds } from "../compliance/needs.ts";
import type { AnyCapabilities, AnyModel, AnyRequest } from "../convert/any.ts";
import { type Conversion, conversion, type Loss, lossesOf, type WarningSink } from "../convert/conversion.ts";
import { convertToV1_3 } from "../convert/v1-3.ts";
import { consumersOf } from "./consumers.ts";

/** Conversions to one version of AIDL, from any version. */
export interface AidlConversions {
  /** Performances of the OEM's types are left out. */
  capabilities(from: AnyCapabilities, warn?: WarningSink): Conversion<AIDL1.Capabilities>;
  /** Counts of consumers are left out, which the operations tell. */
  model(from: AnyModel, warn?: WarningSink): Conversion<AIDL1.Model>;
  request(from: AnyRequest, warn?: WarningSink): Conversion<AIDL1.Request>;
  /** The type that a device before HAL 1.2 does not know becomes OTHER. */
  deviceType(from: DeviceType | typeof DEVICE_TYPE_UNKNOWN, warn?: WarningSink): Conversion<DeviceType>;
}

/** The conversions to a version of AIDL. */
export function conversionsToAidl(version: AidlVersion): AidlConversions {
  return {
    capabilities(from, warn) {
      const canonical = convertToV1_3.capabilities(from);
      const isKnown = ({ type }: Capabilities["operandPerformance"][number]) => !isOemType(type);
      const value = { ...canonical, operandPerformance: canonical.operandPerformance.filter(isKnown) };
      const lost = canonical.operandPerformance
        .filter((entry) => !isKnown(entry))
        .map(({ type }) => harmless("operandPerformance", `${getOperandTypeName(type)} exists in HAL 1.0 to 1.3 only`));
      return conversion("capabilities", version, value, lost, warn);
    },
    model(from, warn) {
      const canonical = convertToV1_3.model(from);
      return conversion("a model", version, writeModel(canonical), modelLosses(canonical, version), warn);
    },
    request(from, warn) {
      const canonical = convertToV1_3.request(from);
      return conversion("a request", version, writeRequest(canonical), requestLosses(canonical, version), warn);
    },
    deviceType(from, warn) {
      if (from !== DEVICE_TYPE_UNKNOWN) return conversion("a type", version, from, [], warn);
      const lost = [harmless("type", "that a device does not know its type cannot be sent")];
      return conversion("a type", version, DeviceType.OTHER, lost, warn);
    },
  };
}

/** The parts of a model that a version of AIDL cannot express. */
export function modelLosses(model: Model, version: AidlVersion): Loss[] {
  const { main, referenced, pools } = model;
  return [
    ...lossesOf(modelNeeds(model), version),
    ...subgraphLosses(main, "main"),
    ...referenced.flatMap((subgraph, index) => subgraphLosses(subgraph, `referenced[${index}]`)),
    ...pools.flatMap((pool, index) => memoryLosses(pool, `pools[${index}]`)),
  ];
}

/** The parts of a request that a version of AIDL cannot express. */
export function requestLosses(request: Request, version: AidlVersion): Loss[] {
  const { inputs, outputs, pools } = request;
  const ofArguments = (list: readonly RequestArgument[], name: string) =>
    list.flatMap(({ location, dimensions }, index) => [
      ...dimensionLosses(dimensions, `${name}[${index}].dimensions`),
      ...indexLoss(location.poolIndex, `${name}[${index}].location.poolIndex`),
    ]);
  return [
    ...lossesOf(requestNeeds(request), version),
    ...ofArguments(inputs, "inputs"),
    ...ofArguments(outputs, "outputs"),
    ...pools.flatMap((pool, index) => {
      const path = `pools[${index}]`;
      return pool.kind === "token" ? indexLoss(pool.token, path) : memoryLosses(pool.memory, path);
    }),
  ];
}

const greatestInt32 = 0x7fff_ffff;

function isOemType(type: number): boolean {
  return type >= OperandTypeRange.OEM_MIN && type <= OperandTypeRange.OEM_MAX;
}

function subgraphLosses({ operands, operations }: Subgraph, path: string): Loss[] {
  const lost: Loss[] = [];
  const consumers = consumersOf(operations);
  for (const [index, operand] of operands.entries()) {
    const at = `${path}.operands[${index}]`;
    lost.push(...dimensionLosses(operand.dimensions, `${at}.dimensions`));
    lost.push(...indexLoss(operand.location.poolIndex, `${at}.location.poolIndex`));
    const { extraParams, numberOfConsumers } = operand;
    if (extraParams.kind === "channelQuant") {
      lost.push(...indexLoss(extraParams.channelQuant.channelDim, `${at}.extraParams.channelQuant.channelDim`));
    }
    if (numberOfConsumers !== (consumers.get(index) ?? 0)) {
      lost.push(harmless(`${at}.numberOfConsumers`, "a count that the operations contradict cannot be sent"));
    }
  }
  return lost;
}

function dimensionLosses(dimensions: readonly number[], path: string): Loss[] {
  return dimensions.flatMap((extent, axis) => indexLoss(extent, `${path}[${axis}]`));
}

function indexLoss(value: number, path: string): Loss[] {
  return value <= greatestInt32 ? [] : [loss(path, `${value} is more than 2^31 - 1`)];
}

/** The parts that AIDL cannot express of a memory of a kind that it has. */
function memoryLosses({ name, size, handle }: Memory, path: string): Loss[] {
  const wrong = (what: string) => [loss(path, what)];
  if (handle === null) return wrong("a memory without a handle cannot be sent");
  switch (name) {
    case "ashmem":
      if (handle.kind === "hardwareBuffer") return wrong("ashmem memory lies in a hardware buffer");
      break;
    case "mmap_fd":
      if (handle.kind !== "fileDescriptor") return wrong(`mmap_fd memory lies in a ${handle.kind}`);
      if (handle.protection > 3) return wrong(`protection ${handle.protection} has bits beside read and write`);
      break;
    case "hardware_buffer_blob":
      if (handle.kind !== "hardwareBuffer") return [harmless(path, "a BLOB without a description gets one")];
      return isAs(handle.description, true, size) ? [] : wrong("the description is not of a BLOB of that size");
    case "hardware_buffer":
      if (handle.kind !== "hardwareBuffer") return wrong(`a hardware_buffer lies in a ${handle.kind}`);
      return isAs(handle.description, false, size) ? [] : wrong("the description is of a BLOB, or of another size");
  }
  return size > 0 ? [] : wrong("a memory of 0 bytes cannot be sent");
}

/** Returns true if a description is of a BLOB or not, and has a size. */
function isAs(description: HardwareBufferDescription, isBlob: boolean, size: number): boolean {
  if (isBlob !== (description.format === hardwareBufferFormats.BLOB.code)) return false;
  return size === (isBlob ? description.width : (hardwareBufferSize(description) ?? 0));
}

function loss(path: string, what: string): Loss {
  return { path, message: `${path}: ${what}`, harmless: false };
}

function harmless(path: string, what: string): Loss {
  return { ...loss(path, what), harmless: true };
}

function writeModel({ main, referenced, pools, ...same }: Model): AIDL1.Model {
  return {
    ...same,
    main: writeSubgraph(main),
    referenced: referenced.map(writeSubgraph),
    pools: pools.map(writeMemory),
  };
}

function writeSubgraph({ operands, ...same }: Subgraph): AIDL1.Subgraph {
  return { ...same, operands: operands.map(writeOperand) };
}

function writeOperand({ numberOfConsumers: _count, location, extraParams, ...same }: Operand): AIDL1.Operand {
  return { ...same, location: writeLocation(location), extraParams: writeExtraParams(extraParams) };
}

function writeExtraParams(params: Operand["extraParams"]): AIDL1.OperandExtraParams | null {
  switch (params.kind) {
    case "none":
      return null;
    case "channelQuant":
      return { channelQuant: params.channelQuant };
    case "extension":
      return { extension: params.extension };
  }
}

function writeLocation({ poolIndex, offset, length, padding = 0 }: DataLocation): AIDL1.DataLocation {
  return { poolIndex, offset, length, padding };
}

/** A memory. One that AIDL cannot express becomes one without a descriptor, which a service refuses. */
export function writeMemory({ name, size, handle }: Memory): AIDL1.Memory {
  if (name === "mmap_fd" && handle?.kind === "fileDescriptor") {
    return { mappableFile: { length: size, prot: handle.protection, fd: handle.fd, offset: handle.offset } };
  }
  if (name.startsWith("hardware_buffer") && handle?.kind === "hardwareBuffer") {
    return { hardwareBuffer: { description: handle.description, handle: handle.content } };
  }
  if (name === "hardware_buffer_blob" && handle !== null && handle.kind !== "hardwareBuffer") {
    return { hardwareBuffer: { description: { ...blob, width: size, stride: size }, handle } };
  }
  return { ashmem: { fd: name === "ashmem" && handle?.kind !== "hardwareBuffer" ? handle : null, size } };
}

/** The description of a BLOB that CPUs read and write often, without its size. */
const blob = { height: 1, layers: 1, format: hardwareBufferFormats.BLOB.code, usage: 0x33n } as const;

function writeRequest({ inputs, outputs, pools }: Request): AIDL1.Request {
  return {
    inputs: inputs.map(writeArgument),
    outputs: outputs.map(writeArgument),
    pools: pools.map((pool) => (pool.kind === "token" ? { token: pool.token } : { pool: writeMemory(pool.memory) })),
  };
}

function writeArgument({ hasNoValue, location, dimensions }: RequestArgument): AIDL1.RequestArgument {
  return { hasNoValue, location: writeLocation(location), dimensions };
}

/** A role of a buffer. */
export function writeBufferRole({ modelIndex, ioIndex, frequency }: BufferRole): AIDL1.BufferRole {
  return { modelIndex, ioIndex, probability: frequency };
}
