/**
 * The suite `prepared-model`: executions that VTS's generated tests and ValidateRequest make, and how executions are
 * launched, run side by side and end.
 */
import type { SuiteCase } from "../suite-case.ts";
import { argumentCases } from "./arguments.ts";
import { clientCases } from "./clients.ts";
import { concurrencyCases } from "./concurrency.ts";
import { executeCases } from "./execute.ts";
import { hostileCases } from "./hostile.ts";
import { launchCases } from "./launch.ts";
import { leakCases } from "./leaks.ts";
import { lifeCases } from "./life.ts";
import { requestCases } from "./requests.ts";
import { reusableCases } from "./reusable.ts";
import { shapeCases } from "./shapes.ts";
import { sizeCases } from "./sizes.ts";
import { windowCases } from "./windows.ts";

export const preparedModelCases: readonly SuiteCase[] = [
  ...executeCases,
  ...shapeCases,
  ...sizeCases,
  ...windowCases,
  ...requestCases,
  ...argumentCases,
  ...hostileCases,
  ...launchCases,
  ...concurrencyCases,
  ...reusableCases,
  ...lifeCases,
  ...leakCases,
  ...clientCases,
];
