/**
 * Conversions to HAL 1.2 from any version. One that loses something says so, and converts all the same.
 */
import { type ErrorStatus, operandTypeNames, operandTypes, type Request, type V1_0, type V1_2 } from "@nnhal/types";
import { lifeTimeNeed, modelNeeds, operandNeeds, operationTypeNeed, requestNeeds } from "../compliance/needs.ts";
import type { AnyCapabilities, AnyModel, AnyOperand, AnyRequest } from "./any.ts";
import { type Conversion, conversion, harmlessLoss, type Loss, lossesOf, type WarningSink } from "./conversion.ts";
import { narrowStatus } from "./status.ts";
import * as toV1_3 from "./v1-3.ts";

const version = "1.2";

/** Loses what a caller of HAL 1.2 does not ask for: IF, WHILE and types of 1.3. */
export function capabilities(from: AnyCapabilities, warn?: WarningSink): Conversion<V1_2.Capabilities> {
  const { ifPerformance: _if, whilePerformance: _while, operandPerformance, ...same } = toV1_3.capabilities(from);
  const lost: Loss[] = [];
  if ("ifPerformance" in from) {
    for (const field of ["ifPerformance", "whilePerformance"]) lost.push(harmlessLoss(field, field, "1.3"));
  }
  const known = operandPerformance.filter(({ type }, index) => {
    const name = operandTypeNames.get(type);
    if (name !== undefined && operandTypes[name].since <= version) return true;
    lost.push(harmlessLoss(`operandPerformance[${index}]`, name ?? `operand type ${type}`, "1.3"));
    return false;
  });
  return conversion("capabilities", version, { ...same, operandPerformance: known }, lost, warn);
}

export function model(from: AnyModel, warn?: WarningSink): Conversion<V1_2.Model> {
  const canonical = toV1_3.model(from);
  const { main, referenced: _referenced, ...shared } = canonical;
  return conversion("a model", version, { ...main, ...shared }, lossesOf(modelNeeds(canonical), version), warn);
}

export function operand(from: AnyOperand, warn?: WarningSink): Conversion<V1_2.Operand> {
  const value = toV1_3.operand(from);
  return conversion("an operand", version, value, lossesOf(operandNeeds(value, "operand"), version), warn);
}

/** Keeps the code. */
export function operandLifeTime(from: number, warn?: WarningSink): Conversion<number> {
  const need = lifeTimeNeed(from, "lifetime");
  return conversion("a lifetime", version, from, lossesOf(need === undefined ? [] : [need], version), warn);
}

/** Keeps the code. */
export function operationType(from: number, warn?: WarningSink): Conversion<number> {
  const need = operationTypeNeed(from, "operation");
  return conversion("an operation type", version, from, lossesOf(need === undefined ? [] : [need], version), warn);
}

/** A pool given by token becomes a memory without name, size and handle. */
export function request(from: AnyRequest, warn?: WarningSink): Conversion<V1_0.Request> {
  const canonical = toV1_3.request(from);
  return conversion("a request", version, withMemories(canonical), lossesOf(requestNeeds(canonical), version), warn);
}

/** The pools of a request as HAL 1.0 – 1.2 write them. */
export function withMemories({ inputs, outputs, pools }: Request): V1_0.Request {
  return {
    inputs,
    outputs,
    pools: pools.map((pool) => (pool.kind === "memory" ? pool.memory : { name: "", size: 0, handle: null })),
  };
}

/** Missed deadlines and exhausted resources become GENERAL_FAILURE. */
export function errorStatus(from: ErrorStatus, warn?: WarningSink): Conversion<V1_0.ErrorStatus> {
  return narrowStatus(from, version, warn);
}
