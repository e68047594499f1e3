/**
 * The suite `burst`: VTS's ValidateBurst, and what more the HAL says of bursts.
 */
import type { SuiteCase } from "../suite-case.ts";
import { endCases } from "./ends.ts";
import { packetCases } from "./packets.ts";
import { serviceCases } from "./service.ts";
import { slotCases } from "./slots.ts";

export const burstCases: readonly SuiteCase[] = [...serviceCases, ...packetCases, ...slotCases, ...endCases];
