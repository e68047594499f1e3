/**
 * Conversions to HAL 1.3, the canonical shape, from any version. Nothing can be lost.
 */
import type {
  Capabilities,
  ErrorStatus,
  Model,
  Operand,
  PerformanceInfo,
  Request,
  RequestMemoryPool,
} from "@nnhal/types";
import { noPerformanceInfo } from "@nnhal/utils";
import { float32Types, quantized8Types } from "../compliance/capabilities.ts";
import type { AnyCapabilities, AnyModel, AnyOperand, AnyRequest } from "./any.ts";

/**
 * Each operand type of HAL 1.0 gets the performance that applied to it there. IF and WHILE, which an older device
 * does not do, get `noPerformanceInfo`.
 */
function capabilities(from: AnyCapabilities): Capabilities {
  if ("ifPerformance" in from) return from;
  const controlFlow = { ifPerformance: noPerformanceInfo, whilePerformance: noPerformanceInfo };
  if ("operandPerformance" in from) return { ...from, ...controlFlow };
  const { float32Performance, quantized8Performance } = from;
  const relaxed = "relaxedFloat32toFloat16Performance" in from ? from.relaxedFloat32toFloat16Performance : undefined;
  const entry = (info: PerformanceInfo) => (type: number) => ({ type, info });
  return {
    relaxedFloat32toFloat16PerformanceScalar: relaxed ?? float32Performance,
    relaxedFloat32toFloat16PerformanceTensor: relaxed ?? float32Performance,
    operandPerformance: [
      ...float32Types.map(entry(float32Performance)),
      ...quantized8Types.map(entry(quantized8Performance)),
    ].sort((a, b) => a.type - b.type),
    ...controlFlow,
  };
}

function model(from: AnyModel): Model {
  if ("main" in from) return from;
  const { operands, operations, inputIndexes, outputIndexes, operandValues, pools } = from;
  return {
    main: { operands: operands.map(operand), operations, inputIndexes, outputIndexes },
    referenced: [],
    operandValues,
    pools,
    relaxComputationFloat32toFloat16:
      "relaxComputationFloat32toFloat16" in from ? from.relaxComputationFloat32toFloat16 : false,
    extensionNameToPrefix: "extensionNameToPrefix" in from ? from.extensionNameToPrefix : [],
  };
}

function operand(from: AnyOperand): Operand {
  return "extraParams" in from ? from : { ...from, extraParams: { kind: "none" } };
}

/** The codes of all versions are the same. */
function operandLifeTime(from: number): number {
  return from;
}

/** The codes of all versions are the same. */
function operationType(from: number): number {
  return from;
}

function request({ inputs, outputs, pools }: AnyRequest): Request {
  return {
    inputs,
    outputs,
    pools: pools.map((pool): RequestMemoryPool => ("kind" in pool ? pool : { kind: "memory", memory: pool })),
  };
}

function errorStatus(from: ErrorStatus): ErrorStatus {
  return from;
}

export const convertToV1_3 = { capabilities, errorStatus, model, operand, operandLifeTime, operationType, request };
