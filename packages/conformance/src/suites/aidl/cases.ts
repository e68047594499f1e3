/** The suite `aidl`: VTS of Android 12 to 14, on a driver of AIDL. */
import type { SuiteCase } from "../suite-case.ts";
import { executionCases } from "./executions.ts";
import { modelAndPreparationCases } from "./models.ts";
import { objectCases } from "./objects.ts";

export const aidlCases: readonly SuiteCase[] = [...objectCases, ...modelAndPreparationCases, ...executionCases];
