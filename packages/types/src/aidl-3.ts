/**
 * AIDL 3: AIDL 2 with MIRROR_PAD and REVERSE, and RSQRT of both quantised 8-bit types. The interfaces are the same.
 */
import { operationTypes } from "./operation-type.ts";
import { codesOf, tableAt } from "./table.ts";

export * from "./aidl-2.ts";

const { OEM_OPERATION: _oemOperation, ...operationCodes } = codesOf(tableAt(operationTypes, "aidl3"));

/** The operations of AIDL 3. */
export const OperationType = operationCodes;
