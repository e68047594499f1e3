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

/** Most kinds wait: two surfaces at a time take half as long. More of them would take each other's processor time. */
const inTwo = [Promise.resolve(), Promise.resolve()];

it.concurrent.each(surfaces.map((surface, index) => [surface.name, surface, index % 2] as const))(
  "%s: no end, no stall, and no more memory than stated",
  async (_, surface, lane) => {
    const attacking = inTwo[lane]?.then(() => attack(surface, { seconds, seed: 1 }));
    inTwo[lane] = Promise.resolve(attacking).then(
      () => undefined,
      () => undefined,
    );
    const reports = (await attacking) ?? [];
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.filter(({ rounds, problems }) => rounds === 0 || problems.length > 0)).toEqual([]);
  },
  30 * 60_000,
);

// Its surface is not in the list.
if (!hasRedis) it.skip(`worker${redisRemedy}`);
