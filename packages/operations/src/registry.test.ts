import { OperationType } from "@nnhal/types";
import { expect, test } from "vitest";
import { ensureLoaded, loadOperations, operationByCode, whenLoaded } from "./registry.ts";

test("in Node.js every definition is there, and there is nothing to load", async () => {
  expect(operationByCode(OperationType.ADD)?.name).toBe("ADD");
  ensureLoaded(Object.values(OperationType));
  await loadOperations();
  expect(await whenLoaded(() => operationByCode(OperationType.OEM_OPERATION))).toBeUndefined();
});
