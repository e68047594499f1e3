/**
 * The suite `fenced`: executions that wait for fences and are waited for.
 */
import type { SuiteCase } from "../suite-case.ts";
import { chainCases } from "./chains.ts";
import { launchCases } from "./launch.ts";

export const fencedCases: readonly SuiteCase[] = [...launchCases, ...chainCases];
