import type { WorkerOptions } from "node:worker_threads";
import { expect, it, vi } from "vitest";
import { startWorker } from "./platform-node.ts";

const started = vi.hoisted(() => [] as (WorkerOptions | undefined)[]);
vi.mock("node:worker_threads", () => ({
  Worker: class {
    constructor(_: unknown, options?: WorkerOptions) {
      started.push(options);
    }
  },
}));

it("a worker has the environment of the process, with the threads that its engines may have", () => {
  process.env.NNHAL_ORT_THREADS = "7";
  startWorker();
  startWorker(3);
  delete process.env.NNHAL_ORT_THREADS;
  expect(started.map((options) => options?.env)).toEqual([
    expect.objectContaining({ PATH: process.env.PATH, NNHAL_ORT_THREADS: "7" }),
    expect.objectContaining({ PATH: process.env.PATH, NNHAL_ORT_THREADS: "3" }),
  ]);
});
