/** Conversions to HAL 1.2 from any version. A conversion that loses something reports it and still returns a value. */
import type { V1_2 } from "@nnhal/types";
import { modelNeeds, operandNeeds } from "../compliance/needs.ts";
import type { AnyCapabilities, AnyModel, AnyOperand } from "./any.ts";
import { newerCapabilities } from "./capabilities.ts";
import { conversionsTo } from "./codes.ts";
import { type Conversion, conversion, lossesOf, type WarningSink } from "./conversion.ts";
import { convertToV1_3 } from "./v1-3.ts";

const version = "1.2";

/** Leaves out performance that HAL 1.2 does not have: that of IF, WHILE and the operand types of 1.3. */
function capabilities(from: AnyCapabilities, warn?: WarningSink): Conversion<V1_2.Capabilities> {
  const canonical = convertToV1_3.capabilities(from);
  const { ifPerformance: _if, whilePerformance: _while, operandPerformance, ...relaxed } = canonical;
  const { lost, isKnown } = newerCapabilities(canonical, version);
  const value = { ...relaxed, operandPerformance: operandPerformance.filter(isKnown) };
  return conversion("capabilities", version, value, lost, warn);
}

/** Leaves out referenced subgraphs. */
function model(from: AnyModel, warn?: WarningSink): Conversion<V1_2.Model> {
  const canonical = convertToV1_3.model(from);
  const { main, referenced: _referenced, ...shared } = canonical;
  return conversion("a model", version, { ...main, ...shared }, lossesOf(modelNeeds(canonical), version), warn);
}

function operand(from: AnyOperand, warn?: WarningSink): Conversion<V1_2.Operand> {
  const value = convertToV1_3.operand(from);
  return conversion("an operand", version, value, lossesOf(operandNeeds(value, "operand"), version), warn);
}

export const convertToV1_2 = /* @__PURE__ */ conversionsTo(version, { capabilities, model, operand });
