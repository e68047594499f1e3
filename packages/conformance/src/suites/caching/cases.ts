/**
 * The suite `caching`: VTS's CompilationCachingTests with its security cases, and how preparations from a cache are launched.
 */
import type { SuiteCase } from "../suite-case.ts";
import { argumentCases } from "./arguments.ts";
import { launchCases } from "./launch.ts";
import { retrievalCases } from "./retrieval.ts";
import { securityCases } from "./security.ts";

export const cachingCases: readonly SuiteCase[] = [
  ...retrievalCases,
  ...argumentCases,
  ...securityCases,
  ...launchCases,
];
