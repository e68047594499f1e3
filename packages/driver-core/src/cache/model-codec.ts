/** Encodes a model without the values of its constants, and decodes it. The locations of constants are included. */
import type { ExtensionNameAndPrefix, Model, Operand, OperandExtraParams, Operation, Subgraph } from "@nnhal/types";
import { type ByteReader, type ByteWriter, UnreadableBytes } from "./bytes.ts";

/** A model without the values of its constants. */
export type ModelStructure = Omit<Model, "operandValues" | "pools">;

export function writeModel(model: ModelStructure, to: ByteWriter): void {
  writeSubgraph(model.main, to);
  to.list(model.referenced, (subgraph) => writeSubgraph(subgraph, to));
  writeFlag(model.relaxComputationFloat32toFloat16, to);
  to.list(model.extensionNameToPrefix, ({ name, prefix }) => {
    to.text(name);
    to.uint32(prefix);
  });
}

/** Decodes the next model. It is not validated here. */
export function readModel(from: ByteReader): ModelStructure {
  return {
    main: readSubgraph(from, "main"),
    referenced: from.list(leastSubgraph, "referenced subgraphs", () => readSubgraph(from, "a referenced subgraph")),
    relaxComputationFloat32toFloat16: readFlag(from, "relaxComputationFloat32toFloat16"),
    extensionNameToPrefix: from.list(8, "extensions", (): ExtensionNameAndPrefix => {
      return { name: from.text("an extension's name"), prefix: from.uint32("an extension's prefix") };
    }),
  };
}

function writeSubgraph({ operands, operations, inputIndexes, outputIndexes }: Subgraph, to: ByteWriter): void {
  to.list(operands, (operand) => writeOperand(operand, to));
  to.list(operations, ({ type, inputs, outputs }) => {
    to.uint32(type);
    to.list(inputs, to.uint32);
    to.list(outputs, to.uint32);
  });
  to.list(inputIndexes, to.uint32);
  to.list(outputIndexes, to.uint32);
}

/** Minimum number of bytes. */
const leastSubgraph = 16;
const leastOperation = 12;
const leastOperand = 41;

function readSubgraph(from: ByteReader, name: string): Subgraph {
  const indexes = (what: string) => from.list(4, `${name}.${what}`, () => from.uint32(`an index of ${name}.${what}`));
  return {
    operands: from.list(leastOperand, `${name}.operands`, () => readOperand(from)),
    operations: from.list(leastOperation, `${name}.operations`, (): Operation => {
      const type = from.uint32("an operation's type");
      return { type, inputs: indexes("operation.inputs"), outputs: indexes("operation.outputs") };
    }),
    inputIndexes: indexes("inputIndexes"),
    outputIndexes: indexes("outputIndexes"),
  };
}

function writeOperand(operand: Operand, to: ByteWriter): void {
  const { location, extraParams } = operand;
  to.uint32(operand.type);
  to.list(operand.dimensions, to.uint32);
  to.uint32(operand.numberOfConsumers);
  to.float64(operand.scale);
  to.int32(operand.zeroPoint);
  to.uint32(operand.lifetime);
  to.uint32(location.poolIndex);
  to.uint32(location.offset);
  to.uint32(location.length);
  switch (extraParams.kind) {
    case "none":
      to.uint8(0);
      break;
    case "channelQuant":
      to.uint8(1);
      to.list(extraParams.channelQuant.scales, to.float64);
      to.uint32(extraParams.channelQuant.channelDim);
      break;
    case "extension":
      to.uint8(2);
      to.bytes(extraParams.extension);
      break;
  }
}

function readOperand(from: ByteReader): Operand {
  return {
    type: from.uint32("an operand's type"),
    dimensions: from.list(4, "dimensions", () => from.uint32("an extent")),
    numberOfConsumers: from.uint32("numberOfConsumers"),
    scale: from.float64("scale"),
    zeroPoint: from.int32("zeroPoint"),
    lifetime: from.uint32("lifetime"),
    location: {
      poolIndex: from.uint32("location.poolIndex"),
      offset: from.uint32("location.offset"),
      length: from.uint32("location.length"),
    },
    extraParams: readExtraParams(from),
  };
}

function readExtraParams(from: ByteReader): OperandExtraParams {
  const kind = from.uint8("the kind of extraParams");
  switch (kind) {
    case 0:
      return { kind: "none" };
    case 1: {
      const scales = from.list(8, "scales", () => from.float64("a scale"));
      return { kind: "channelQuant", channelQuant: { scales, channelDim: from.uint32("channelDim") } };
    }
    case 2:
      return { kind: "extension", extension: from.bytes("the extension of extraParams") };
    default:
      throw new UnreadableBytes(`extraParams are of kind ${kind}, which is not known`);
  }
}

function writeFlag(value: boolean, to: ByteWriter): void {
  to.uint8(value ? 1 : 0);
}

function readFlag(from: ByteReader, what: string): boolean {
  const value = from.uint8(what);
  if (value > 1) throw new UnreadableBytes(`${what} is ${value} where 0 or 1 is needed`);
  return value === 1;
}
