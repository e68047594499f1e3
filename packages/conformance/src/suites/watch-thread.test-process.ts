/** A test run whose driver blocks its thread. */
import { openMisbehaving } from "../module/misbehaving.test-module.ts";
import { defineConformanceTests } from "../tests.ts";

const tests: (() => Promise<void>)[] = [];
defineConformanceTests(
  (_name, run) => tests.push(run),
  () => openMisbehaving("blocks"),
  {
    suites: ["prepared-model"],
    versions: [],
    mostBlocked: 1000,
  },
);
for (const run of tests) await run();
