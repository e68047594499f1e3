/**
 * A sample of each kind of hostile input against each surface: a round of it. With NNHAL_FAULTS=all, each kind for a minute.
 */
import { endProcesses } from "@nnhal/test-kit/processes";
import { hasRedis, redisRemedy } from "@nnhal/test-kit/redis";
import { afterAll, expect, it } from "vitest";
import { attack } from "./attack.ts";
import { surfaces } from "./surfaces/index.ts";

const seconds = process.env.NNHAL_FAULTS === "all" ? 60 : 0.1;

afterAll(endProcesses);

it.each(surfaces.map((surface) => [surface.name, surface] as const))(
  "%s: no end, no stall, and no more memory than stated",
  async (_, surface) => {
    const reports = await attack(surface, { seconds, seed: 1 });
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.filter(({ rounds, problems }) => rounds === 0 || problems.length > 0)).toEqual([]);
  },
  30 * 60_000,
);

// Its surface is not in the list.
if (!hasRedis) it.skip(`worker${redisRemedy}`);
