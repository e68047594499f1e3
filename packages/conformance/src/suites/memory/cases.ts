/**
 * The suite `memory`: VTS's MemoryDomainTests, what becomes of a buffer's value, and who may use it.
 */
import type { SuiteCase } from "../suite-case.ts";
import { allocateCases } from "./allocate.ts";
import { clientCases } from "./clients.ts";
import { conflictCases } from "./conflicts.ts";
import { copyCases } from "./copy.ts";
import { executeCases } from "./execute.ts";
import { hostileCases } from "./hostile.ts";
import { lifeCases } from "./life.ts";
import { valueCases } from "./value.ts";

export const memoryCases: readonly SuiteCase[] = [
  ...allocateCases,
  ...conflictCases,
  ...copyCases,
  ...executeCases,
  ...valueCases,
  ...lifeCases,
  ...clientCases,
  ...hostileCases,
];
