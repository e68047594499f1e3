/**
 * From an example to the model that a device prepares.
 */
import {
  type DataLocation,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  type Subgraph,
} from "@nnhal/types";
import type { ExampleOperand, ExampleSubgraph } from "./example.ts";
import { allocateShared, createLayout, type Layout } from "./layout.ts";
import type { VectorCase } from "./variant.ts";

const nowhere: DataLocation = { poolIndex: 0, offset: 0, length: 0 };

/** Builds the model of a case. Each call makes new pools. */
export function modelOf({ example, unspecifiedOutputs }: VectorCase): Model {
  const copies = createLayout();
  const references = createLayout();
  const convert = (subgraph: ExampleSubgraph) => convertSubgraph(subgraph, copies, references);
  const main = convert(example.main);
  const referenced = example.referenced.map(convert);

  const operandValues = new Uint8Array(copies.size);
  copies.copyTo(operandValues);
  const pool = references.size > 0 ? allocateShared(references.size) : undefined;
  if (pool !== undefined) references.copyTo(pool.bytes);

  return {
    main: unspecifiedOutputs ? withoutOutputExtents(main) : main,
    referenced,
    operandValues,
    pools: pool === undefined ? [] : [pool.memory],
    relaxComputationFloat32toFloat16: example.isRelaxed,
    extensionNameToPrefix: [],
  };
}

function convertSubgraph(subgraph: ExampleSubgraph, copies: Layout, references: Layout): Subgraph {
  return {
    operands: subgraph.operands.map((operand) => convertOperand(operand, placeValue(operand, copies, references))),
    operations: subgraph.operations.map(({ type, inputs, outputs }) => ({
      type: OperationType[type],
      inputs,
      outputs,
    })),
    inputIndexes: subgraph.inputIndexes,
    outputIndexes: subgraph.outputIndexes,
  };
}

function convertOperand(operand: ExampleOperand, location: DataLocation): Operand {
  const { type, dimensions, numberOfConsumers, scale, zeroPoint, lifetime, channelQuant, isUnspecified } = operand;
  return {
    type: OperandType[type],
    dimensions: isUnspecified ? dimensions.map(() => 0) : dimensions,
    numberOfConsumers,
    scale,
    zeroPoint,
    lifetime: OperandLifeTime[lifetime],
    location,
    extraParams: channelQuant === null ? { kind: "none" } : { kind: "channelQuant", channelQuant },
  };
}

function placeValue({ lifetime, data }: ExampleOperand, copies: Layout, references: Layout): DataLocation {
  if (data === null) return nowhere;
  switch (lifetime) {
    case "CONSTANT_COPY":
      return copies.add(data);
    case "CONSTANT_REFERENCE":
      return references.add(data);
    case "SUBGRAPH":
      return { ...nowhere, offset: new DataView(data.buffer, data.byteOffset).getUint32(0, true) };
    default:
      return nowhere;
  }
}

function withoutOutputExtents(main: Subgraph): Subgraph {
  const outputs = new Set(main.outputIndexes);
  return {
    ...main,
    operands: main.operands.map((operand, index) =>
      outputs.has(index) ? { ...operand, dimensions: operand.dimensions.map(() => 0) } : operand,
    ),
  };
}
