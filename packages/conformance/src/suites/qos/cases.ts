/**
 * The suite `qos`: VTS's QualityOfServiceTests, and loops that take too long.
 */
import type { SuiteCase } from "../suite-case.ts";
import { deadlineCases } from "./deadlines.ts";
import { latenessCases } from "./lateness.ts";
import { loopCases } from "./loops.ts";
import { priorityCases } from "./priorities.ts";
import { starvationCases } from "./starvation.ts";

export const qosCases: readonly SuiteCase[] = [
  ...priorityCases,
  ...deadlineCases,
  ...loopCases,
  ...latenessCases,
  ...starvationCases,
];
