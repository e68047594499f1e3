import { expect, it } from "vitest";
import { workerEnvironment } from "./platform-node.ts";

it("a worker has the environment of the process, with the threads that its engines may have", () => {
  const env = { PATH: "/bin", NNHAL_ORT_THREADS: "7" };
  expect(workerEnvironment(env, undefined)).toEqual(env);
  expect(workerEnvironment(env, 3)).toEqual({ PATH: "/bin", NNHAL_ORT_THREADS: "3" });
});
