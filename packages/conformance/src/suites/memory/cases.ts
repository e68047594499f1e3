/**
 * The suite `memory`: VTS's MemoryDomainTests, and what becomes of a buffer's value.
 */
import type { SuiteCase } from "../suite-case.ts";
import { allocateCases } from "./allocate.ts";
import { conflictCases } from "./conflicts.ts";
import { copyCases } from "./copy.ts";
import { executeCases } from "./execute.ts";
import { valueCases } from "./value.ts";

export const memoryCases: readonly SuiteCase[] = [
  ...allocateCases,
  ...conflictCases,
  ...copyCases,
  ...executeCases,
  ...valueCases,
];
