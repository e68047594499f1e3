/**
 * From AIDL to the canonical shape. A value of the interface that has no canonical form, such as a negative index, is refused: the
 * functions throw a RangeError that says where. Rules about how values fit together are those of validation.
 */
import {
  type BufferRole,
  type DataLocation,
  type Memory,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandTypeRange,
  type Operation,
  OperationTypeRange,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
  type Subgraph,
} from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { hasFields, show } from "@nnhal/validation";
import { hardwareBufferFormats, hardwareBufferSize } from "../../memory/hardware-buffer.ts";
import { consumersOf } from "./consumers.ts";

const greatestInt32 = 0x7fff_ffff;
const greatestUint32 = 0xffff_ffff;
/** Codes of extensions have 15 bits of a prefix, because they are not negative. */
const greatestPrefix = 0x7fff;

/** A model. Counts of consumers, which AIDL does not have, are those of the operations. */
export function readModel(model: AIDL1.Model): Model {
  const { operandValues, relaxComputationFloat32toFloat16 } = model;
  return {
    main: readSubgraph(model.main, "main"),
    referenced: listOf(model.referenced, "referenced", readSubgraph),
    operandValues,
    pools: listOf(model.pools, "pools", readMemory),
    relaxComputationFloat32toFloat16,
    extensionNameToPrefix: listOf(model.extensionNameToPrefix, "extensionNameToPrefix", ({ name, prefix }, path) => ({
      name,
      prefix: within(prefix, 0, greatestPrefix, `${path}.prefix`),
    })),
  };
}

function readSubgraph(subgraph: AIDL1.Subgraph, path: string): Subgraph {
  const operations = listOf(subgraph.operations, `${path}.operations`, readOperation);
  const consumers = consumersOf(operations);
  const indexes = (list: readonly number[], name: string) => listOf(list, `${path}.${name}`, readIndex);
  return {
    operands: listOf(subgraph.operands, `${path}.operands`, (operand, at, index) =>
      readOperand(operand, at, consumers.get(index) ?? 0),
    ),
    operations,
    inputIndexes: indexes(subgraph.inputIndexes, "inputIndexes"),
    outputIndexes: indexes(subgraph.outputIndexes, "outputIndexes"),
  };
}

function readOperation({ type, inputs, outputs }: Operation, path: string): Operation {
  const { OEM_MIN, OEM_MAX } = OperationTypeRange;
  return {
    type: codeWithout(type, OEM_MIN, OEM_MAX, `${path}.type`),
    inputs: listOf(inputs, `${path}.inputs`, readIndex),
    outputs: listOf(outputs, `${path}.outputs`, readIndex),
  };
}

function readOperand(operand: AIDL1.Operand, path: string, numberOfConsumers: number): Operand {
  const { type, dimensions, scale, zeroPoint, lifetime, location, extraParams } = operand;
  const { OEM_MIN, OEM_MAX } = OperandTypeRange;
  const { SUBGRAPH } = OperandLifeTime;
  return {
    type: codeWithout(type, OEM_MIN, OEM_MAX, `${path}.type`),
    dimensions: listOf(dimensions, `${path}.dimensions`, readIndex),
    numberOfConsumers,
    scale,
    zeroPoint,
    lifetime: within(lifetime, 0, SUBGRAPH, `${path}.lifetime`),
    location: readLocation(location, `${path}.location`),
    extraParams: readExtraParams(extraParams, `${path}.extraParams`),
  };
}

function readExtraParams(params: AIDL1.OperandExtraParams | null, path: string): Operand["extraParams"] {
  if (params === null) return { kind: "none" };
  const tag = tagOf(params, ["channelQuant", "extension"], path);
  if (tag === "channelQuant" && "channelQuant" in params) {
    const { scales, channelDim } = params.channelQuant;
    return {
      kind: "channelQuant",
      channelQuant: { scales, channelDim: readIndex(channelDim, `${path}.channelQuant.channelDim`) },
    };
  }
  return "extension" in params ? { kind: "extension", extension: params.extension } : refuse(path, "a union", params);
}

/** A location; padding of 0 is left out. */
function readLocation({ poolIndex, offset, length, padding }: AIDL1.DataLocation, path: string): DataLocation {
  const bytes = (value: number, field: string) => within(value, 0, greatestUint32, `${path}.${field}`);
  const read = {
    poolIndex: readIndex(poolIndex, `${path}.poolIndex`),
    offset: bytes(offset, "offset"),
    length: bytes(length, "length"),
  };
  return bytes(padding, "padding") === 0 ? read : { ...read, padding };
}

/** A memory. */
export function readMemory(memory: AIDL1.Memory, path: string): Memory {
  const tag = tagOf(memory, ["ashmem", "mappableFile", "hardwareBuffer"], path);
  const at = `${path}.${tag}`;
  if ("ashmem" in memory) {
    const { fd, size } = memory.ashmem;
    return { name: "ashmem", size: sizeOf(size, `${at}.size`), handle: fd ?? refuse(`${at}.fd`, "a descriptor", fd) };
  }
  if ("mappableFile" in memory) {
    const { length, prot, fd, offset } = memory.mappableFile;
    return {
      name: "mmap_fd",
      size: sizeOf(length, `${at}.length`),
      handle: {
        kind: "fileDescriptor",
        fd: within(fd, 0, greatestInt32, `${at}.fd`),
        // Only PROT_READ and PROT_WRITE.
        protection: within(prot, 0, 3, `${at}.prot`),
        offset: within(offset, 0, Number.MAX_SAFE_INTEGER, `${at}.offset`),
      },
    };
  }
  const { description, handle } = memory.hardwareBuffer;
  const content = handle ?? refuse(`${at}.handle`, "a handle", handle);
  for (const field of ["width", "height", "layers", "format", "stride"] as const) {
    readIndex(description[field], `${at}.description.${field}`);
  }
  const isBlob = description.format === hardwareBufferFormats.BLOB.code;
  return {
    name: isBlob ? "hardware_buffer_blob" : "hardware_buffer",
    size: isBlob ? description.width : (hardwareBufferSize(description) ?? 0),
    handle: { kind: "hardwareBuffer", description, content },
  };
}

/** A request. */
export function readRequest({ inputs, outputs, pools }: AIDL1.Request): Request {
  return {
    inputs: listOf(inputs, "inputs", readArgument),
    outputs: listOf(outputs, "outputs", readArgument),
    pools: listOf(pools, "pools", readPool),
  };
}

function readArgument({ hasNoValue, location, dimensions }: AIDL1.RequestArgument, path: string): RequestArgument {
  return {
    hasNoValue,
    location: readLocation(location, `${path}.location`),
    dimensions: listOf(dimensions, `${path}.dimensions`, readIndex),
  };
}

function readPool(pool: AIDL1.RequestMemoryPool, path: string): RequestMemoryPool {
  tagOf(pool, ["pool", "token"], path);
  if ("pool" in pool) return { kind: "memory", memory: readMemory(pool.pool, `${path}.pool`) };
  return { kind: "token", token: readIndex(pool.token, `${path}.token`) };
}

/** A role of a buffer. */
export function readBufferRole({ modelIndex, ioIndex, probability }: AIDL1.BufferRole, path: string): BufferRole {
  return {
    modelIndex: readIndex(modelIndex, `${path}.modelIndex`),
    ioIndex: readIndex(ioIndex, `${path}.ioIndex`),
    frequency: probability,
  };
}

/** A list of indexes or extents: whole numbers within [0, 2^31). */
export function readIndexes(list: readonly number[], path: string): number[] {
  return listOf(list, path, readIndex);
}

/** The elements of a list, read one by one. `read`: gets the element, its path and its index. */
export function listOf<Element, Value>(
  list: readonly Element[],
  path: string,
  read: (element: Element, path: string, index: number) => Value,
): Value[] {
  if (!Array.isArray(list)) return refuse(path, "an array", list);
  return list.map((element: Element, index) => read(element, `${path}[${index}]`, index));
}

function readIndex(value: number, path: string): number {
  return within(value, 0, greatestInt32, path);
}

function sizeOf(value: number, path: string): number {
  return within(value, 1, Number.MAX_SAFE_INTEGER, path);
}

/** A code of a type or operation, which is none of the OEM's. */
function codeWithout(code: number, oemMin: number, oemMax: number, path: string): number {
  if (code >= oemMin && code <= oemMax) return refuse(path, "a code that AIDL has, which has none of an OEM", code);
  return readIndex(code, path);
}

/** The member that a union has. */
function tagOf<Tag extends string>(union: object, tags: readonly Tag[], path: string): Tag {
  const found = hasFields(union) ? tags.filter((tag) => union[tag] !== undefined) : [];
  const [tag] = found;
  return tag !== undefined && found.length === 1 ? tag : refuse(path, `exactly one of ${tags.join(", ")}`, union);
}

function within(value: unknown, least: number, greatest: number, path: string): number {
  const isWithin = typeof value === "number" && Number.isInteger(value) && value >= least && value <= greatest;
  return isWithin ? value : refuse(path, `an integer within [${least}, ${greatest}]`, value);
}

function refuse(path: string, expected: string, got: unknown): never {
  throw new RangeError(`${path}: expected ${expected}, got ${show(got)}`);
}
