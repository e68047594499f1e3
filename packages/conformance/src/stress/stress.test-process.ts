/** A process under stress whose device misbehaves as its second argument says. */
import { openMisbehaving } from "../module/misbehaving.test-module.ts";
import type { StressJob } from "./job.ts";
import { serveStressJob } from "./serve.ts";

// The test has written them.
const [, , job = "", fault = ""] = process.argv;
await serveStressJob(() => openMisbehaving(fault), JSON.parse(job) as StressJob);
