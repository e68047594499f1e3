/**
 * AIDL 2: AIDL 1 with BATCH_MATMUL and PACK, and RESHAPE of TENSOR_INT32. The interfaces are the same.
 */
import { operationTypes } from "./operation-type.ts";
import { codesOf, tableAt } from "./table.ts";

export * from "./aidl-1.ts";

const { OEM_OPERATION: _oemOperation, ...operationCodes } = codesOf(tableAt(operationTypes, "aidl2"));

/** The operations of AIDL 2. */
export const OperationType = operationCodes;
