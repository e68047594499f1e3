/** A model as bytes, without the values of its constants. Their locations are included. */
import type { DataLocation, Model, Operand, OperandExtraParams, Subgraph } from "@nnhal/types";
import { bytes, type Codec, empty, flag, float64, int32, list, struct, text, uint32, union } from "./codec.ts";

/** A model without the values of its constants. */
export type ModelStructure = Omit<Model, "operandValues" | "pools">;

export const dataLocation: Codec<DataLocation> = struct({ poolIndex: uint32, offset: uint32, length: uint32 });

const extraParams: Codec<OperandExtraParams> = union<OperandExtraParams>({
  none: empty,
  channelQuant: struct({ channelQuant: struct({ scales: list(float64), channelDim: uint32 }) }),
  extension: struct({ extension: bytes }),
});

const operand: Codec<Operand> = struct({
  type: uint32,
  dimensions: list(uint32),
  numberOfConsumers: uint32,
  scale: float64,
  zeroPoint: int32,
  lifetime: uint32,
  location: dataLocation,
  extraParams,
});

const subgraph: Codec<Subgraph> = struct({
  operands: list(operand),
  operations: list(struct({ type: uint32, inputs: list(uint32), outputs: list(uint32) })),
  inputIndexes: list(uint32),
  outputIndexes: list(uint32),
});

/** The model is not validated when it is read. */
export const modelStructure: Codec<ModelStructure> = struct({
  main: subgraph,
  referenced: list(subgraph),
  relaxComputationFloat32toFloat16: flag,
  extensionNameToPrefix: list(struct({ name: text, prefix: uint32 })),
});
