/**
 * Conversions to HAL 1.1 from any version. A conversion that loses something reports it and still returns a value. The
 * others are those of HAL 1.0.
 */
import type { V1_1 } from "@nnhal/types";
import type { AnyCapabilities, AnyModel } from "./any.ts";
import { capabilitiesLost, modelLost, oldCapabilities, oldModel } from "./before-v1-2.ts";
import { conversionsTo } from "./codes.ts";
import { type Conversion, conversion, type WarningSink } from "./conversion.ts";
import { operand } from "./v1-0.ts";
import { convertToV1_3 } from "./v1-3.ts";

const version = "1.1";

/** As for HAL 1.0; takes the relaxed performance of tensors. */
function capabilities(from: AnyCapabilities, warn?: WarningSink): Conversion<V1_1.Capabilities> {
  const canonical = convertToV1_3.capabilities(from);
  const relaxedFloat32toFloat16Performance = canonical.relaxedFloat32toFloat16PerformanceTensor;
  const value = { ...oldCapabilities(canonical), relaxedFloat32toFloat16Performance };
  return conversion("capabilities", version, value, capabilitiesLost(canonical, version), warn);
}

/** Leaves out referenced subgraphs and extraParams. */
function model(from: AnyModel, warn?: WarningSink): Conversion<V1_1.Model> {
  const canonical = convertToV1_3.model(from);
  const { relaxComputationFloat32toFloat16 } = canonical;
  const value = { ...oldModel(canonical), relaxComputationFloat32toFloat16 };
  return conversion("a model", version, value, modelLost(canonical, version), warn);
}

export const convertToV1_1 = /* @__PURE__ */ conversionsTo(version, { capabilities, model, operand });
