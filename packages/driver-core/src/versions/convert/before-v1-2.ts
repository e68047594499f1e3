/** The common part of HAL 1.0 and 1.1: two performances for all operand types, and operands without extraParams. */
import { type Capabilities, type HalVersion, type Model, type Operand, OperandType, type V1_0 } from "@nnhal/types";
import { lookup } from "@nnhal/utils";
import { capabilitiesNeeds } from "../compliance/capabilities.ts";
import { modelNeeds } from "../compliance/needs.ts";
import { newerCapabilities } from "./capabilities.ts";
import { harmlessLoss, type Loss, lossesOf } from "./conversion.ts";

/** The performance of TENSOR_FLOAT32 for float32, that of TENSOR_QUANT8_ASYMM for all else. */
export function oldCapabilities({ operandPerformance }: Capabilities): V1_0.Capabilities {
  return {
    float32Performance: lookup(operandPerformance, OperandType.TENSOR_FLOAT32),
    quantized8Performance: lookup(operandPerformance, OperandType.TENSOR_QUANT8_ASYMM),
  };
}

/** The losses of capabilities in HAL 1.0 or 1.1. */
export function capabilitiesLost(from: Capabilities, version: HalVersion): Loss[] {
  return [...lossesOf(capabilitiesNeeds(from), version), ...newerCapabilities(from, version).lost];
}

/** A model's main subgraph, values and pools. */
export function oldModel({ main, operandValues, pools }: Model): V1_0.Model {
  return { ...main, operands: main.operands.map(oldOperand), operandValues, pools };
}

/** The losses of a model in HAL 1.0 and 1.1. */
export function modelLost(from: Model, version: HalVersion): Loss[] {
  const lost = lossesOf(modelNeeds(from), version);
  for (const [index, { name }] of from.extensionNameToPrefix.entries()) {
    lost.push(harmlessLoss(`extensionNameToPrefix[${index}]`, `a prefix of extension ${name}`, "1.2"));
  }
  return lost;
}

/** An operand without extraParams. */
export function oldOperand({ extraParams: _extraParams, ...same }: Operand): V1_0.Operand {
  return same;
}
