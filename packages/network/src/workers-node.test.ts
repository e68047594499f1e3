import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { portOfWorker, workerEnvironment } from "./workers-node.ts";

it("a worker has the environment of the process, with the threads that its engines may have", () => {
  const env = { PATH: "/bin", NNHAL_ORT_THREADS: "7" };
  expect(workerEnvironment(env, 3)).toEqual({ PATH: "/bin", NNHAL_ORT_THREADS: "3", NNHAL_WASM_THREADS: "3" });
});

it("a worker has its threads where the environment must not be read", () => {
  const refused = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      ownKeys() {
        throw new Error("Requires env access, run again with the --allow-env flag");
      },
    },
  );
  expect(workerEnvironment(refused, 2)).toEqual({ NNHAL_ORT_THREADS: "2", NNHAL_WASM_THREADS: "2" });
});

it("a worker whose file is not there says what a bundle needs", async () => {
  const port = portOfWorker(new Worker(join(import.meta.dirname, "no-such-file.mjs")));
  const { message } = await new Promise<Error>((resolve) => port.listen(() => {}, resolve));
  expect(message).toMatch(/^Cannot find module .*no-such-file\.mjs.*; in a bundle, make nnhal\/worker an entry/s);
});
