/** Conversions to HAL 1.0 from any version. A conversion that loses something reports it and still returns a value. */
import type { V1_0 } from "@nnhal/types";
import { operandNeeds } from "../compliance/needs.ts";
import type { AnyCapabilities, AnyModel, AnyOperand } from "./any.ts";
import { capabilitiesLost, modelLost, oldCapabilities, oldModel, oldOperand } from "./before-v1-2.ts";
import { conversionsTo } from "./codes.ts";
import { type Conversion, conversion, harmlessLoss, lossesOf, type WarningSink } from "./conversion.ts";
import { convertToV1_3 } from "./v1-3.ts";

const version = "1.0";

/** Takes the performance of TENSOR_FLOAT32 for float32, that of TENSOR_QUANT8_ASYMM for all else. */
function capabilities(from: AnyCapabilities, warn?: WarningSink): Conversion<V1_0.Capabilities> {
  const canonical = convertToV1_3.capabilities(from);
  return conversion("capabilities", version, oldCapabilities(canonical), capabilitiesLost(canonical, version), warn);
}

/** Leaves out referenced subgraphs, extraParams, and the permission to compute float32 as float16. */
function model(from: AnyModel, warn?: WarningSink): Conversion<V1_0.Model> {
  const canonical = convertToV1_3.model(from);
  const lost = modelLost(canonical, version);
  if (canonical.relaxComputationFloat32toFloat16) {
    const path = "relaxComputationFloat32toFloat16";
    lost.push(harmlessLoss(path, "permission to compute float32 as float16", "1.1"));
  }
  return conversion("a model", version, oldModel(canonical), lost, warn);
}

/** Leaves out extraParams. */
export function operand(from: AnyOperand, warn?: WarningSink): Conversion<V1_0.Operand> {
  const canonical = convertToV1_3.operand(from);
  const lost = lossesOf(operandNeeds(canonical, "operand"), version);
  return conversion("an operand", version, oldOperand(canonical), lost, warn);
}

export const convertToV1_0 = /* @__PURE__ */ conversionsTo(version, { capabilities, model, operand });
