/** A process under stress whose device misbehaves as NNHAL_TEST_FAULT says: ../module/misbehaving.test-module.ts. */
import { openDevice } from "../module/misbehaving.test-module.ts";
import type { StressJob } from "./job.ts";
import { serveStressJob } from "./serve.ts";

// The test has written it.
await serveStressJob(openDevice, JSON.parse(process.argv[2] ?? "") as StressJob);
