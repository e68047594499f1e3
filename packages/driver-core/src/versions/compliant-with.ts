/** Checks that a HAL version can express everything that matters of a value. */
import { type ErrorStatus, type HalVersion, isAidl } from "@nnhal/types";
import { modelLosses, requestLosses } from "./aidl/write.ts";
import { capabilitiesNeeds } from "./compliance/capabilities.ts";
import {
  isMetBy,
  lifeTimeNeed,
  modelNeeds,
  type Need,
  operandNeeds,
  operationTypeNeed,
  requestNeeds,
} from "./compliance/needs.ts";
import type { AnyCapabilities, AnyModel, AnyOperand, AnyRequest } from "./convert/any.ts";
import { errorStatusNeed } from "./convert/codes.ts";
import type { Loss } from "./convert/conversion.ts";
import { convertToV1_3 } from "./convert/v1-3.ts";

/** The checks for one HAL version. */
export interface Compliance {
  /** Returns whether performances that the version does not distinguish are equal. */
  capabilities(of: AnyCapabilities): boolean;
  /**
   * Returns whether the version has all operations, operands, pools and subgraphs. The permission to compute float32 as
   * float16 does not matter, though some versions lack it.
   */
  model(of: AnyModel): boolean;
  operand(of: AnyOperand): boolean;
  operandLifeTime(of: number): boolean;
  operationType(of: number): boolean;
  request(of: AnyRequest): boolean;
  errorStatus(of: ErrorStatus): boolean;
}

export function complianceWith(version: HalVersion): Compliance {
  const all = (needs: readonly Need[]) => needs.every((need) => isMetBy(need, version));
  const one = (need: Need | undefined) => need === undefined || isMetBy(need, version);
  const aidl = isAidl(version) ? version : undefined;
  const isKept = ({ harmless }: Loss) => harmless;
  return {
    capabilities: (of) => all(capabilitiesNeeds(convertToV1_3.capabilities(of))),
    model(of) {
      const model = convertToV1_3.model(of);
      return aidl === undefined ? all(modelNeeds(model)) : modelLosses(model, aidl).every(isKept);
    },
    operand: (of) => all(operandNeeds(convertToV1_3.operand(of), "operand")),
    operandLifeTime: (of) => one(lifeTimeNeed(of, "lifetime")),
    operationType: (of) => one(operationTypeNeed(of, "operation")),
    request(of) {
      const request = convertToV1_3.request(of);
      return aidl === undefined ? all(requestNeeds(request)) : requestLosses(request, aidl).every(isKept);
    },
    errorStatus: (of) => one(errorStatusNeed(of)),
  };
}

export const compliantWithV1_0: Compliance = /* @__PURE__ */ complianceWith("1.0");
export const compliantWithV1_1: Compliance = /* @__PURE__ */ complianceWith("1.1");
export const compliantWithV1_2: Compliance = /* @__PURE__ */ complianceWith("1.2");
/** Parts that HAL 1.3 cannot express fit no version: unknown codes, undocumented operations. */
export const compliantWithV1_3: Compliance = /* @__PURE__ */ complianceWith("1.3");
export const compliantWithAidl1: Compliance = /* @__PURE__ */ complianceWith("aidl1");
export const compliantWithAidl2: Compliance = /* @__PURE__ */ complianceWith("aidl2");
export const compliantWithAidl3: Compliance = /* @__PURE__ */ complianceWith("aidl3");
export const compliantWithAidl4: Compliance = /* @__PURE__ */ complianceWith("aidl4");
