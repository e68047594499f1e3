/** Conversions that are the same for every older HAL version: codes, statuses and requests. */
import {
  type ErrorStatus,
  errorStatuses,
  errorStatusNames,
  type HalVersion,
  type RequestMemoryPool,
  V1_0,
} from "@nnhal/types";
import { lifeTimeNeed, type Need, operationTypeNeed, requestNeeds } from "../compliance/needs.ts";
import type { AnyRequest } from "./any.ts";
import { type Conversion, conversion, lossesOf, type WarningSink } from "./conversion.ts";
import { convertToV1_3 } from "./v1-3.ts";

/** The conversions to an older HAL version that are the same for all of them. */
export interface CodeConversions {
  /** Keeps the code. */
  operandLifeTime(from: number, warn?: WarningSink): Conversion<number>;
  /** Keeps the code. */
  operationType(from: number, warn?: WarningSink): Conversion<number>;
  /** Missed deadlines, exhausted resources, and unknown numbers become GENERAL_FAILURE. */
  errorStatus(from: ErrorStatus, warn?: WarningSink): Conversion<V1_0.ErrorStatus>;
  /** A pool given by token becomes a memory without name, size and handle. */
  request(from: AnyRequest, warn?: WarningSink): Conversion<V1_0.Request>;
}

/** All conversions to an older HAL version: those of `structs`, which are its own, and of codes. */
export function conversionsTo<Structs extends object>(
  version: HalVersion,
  structs: Structs,
): Structs & CodeConversions {
  const lossOf = (need: Need | undefined) => lossesOf(need === undefined ? [] : [need], version);
  const codes: CodeConversions = {
    operandLifeTime: (from, warn) =>
      conversion("a lifetime", version, from, lossOf(lifeTimeNeed(from, "lifetime")), warn),
    operationType: (from, warn) =>
      conversion("an operation type", version, from, lossOf(operationTypeNeed(from, "operation")), warn),
    errorStatus(from, warn) {
      const lost = lossOf(errorStatusNeed(from));
      const value = isOldStatus(from) ? from : V1_0.ErrorStatus.GENERAL_FAILURE;
      return conversion("a status", version, value, lost, warn);
    },
    request(from, warn) {
      const canonical = convertToV1_3.request(from);
      const { inputs, outputs, pools } = canonical;
      const value = { inputs, outputs, pools: pools.map(memoryOfPool) };
      return conversion("a request", version, value, lossesOf(requestNeeds(canonical), version), warn);
    },
  };
  return { ...structs, ...codes };
}

/** A status that HAL 1.0 does not have. */
export function errorStatusNeed(status: ErrorStatus): Need | undefined {
  if (isOldStatus(status)) return undefined;
  const name = errorStatusNames.get(status);
  const version = name === undefined ? undefined : errorStatuses[name].since;
  return { path: "status", what: name ?? `status ${status}`, version };
}

function isOldStatus(status: ErrorStatus): status is V1_0.ErrorStatus {
  return Object.values<number>(V1_0.ErrorStatus).includes(status);
}

function memoryOfPool(pool: RequestMemoryPool): V1_0.Request["pools"][number] {
  return pool.kind === "memory" ? pool.memory : { name: "", size: 0, handle: null };
}
