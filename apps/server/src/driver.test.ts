/** Models that compute in a daemon, and continue after it is restarted. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endProcesses, startSource } from "@nnhal/test-kit/processes";
import { afterAll, expect, it } from "vitest";
import { openInDriver } from "./engines.ts";
import { addingModel, folderOf, removeFolders } from "./models.test-helper.ts";
import { testServer } from "./server.test-helper.ts";

afterAll(async () => {
  await endProcesses();
  removeFolders();
});

async function startDaemon(directory: string) {
  const main = fileURLToPath(new URL("../../sample-driver/src/main.ts", import.meta.url));
  const daemon = startSource(main, ["--dir", directory, "--devices", "nnapi-sample_all"]);
  await daemon.says("ready ");
  return daemon;
}

it("computes in a daemon; requests fail while it is gone, and are computed by the next one", async () => {
  const directory = join(folderOf({}), "run");
  const first = await startDaemon(directory);
  const server = await testServer(
    { "adding/1/model.tflite": addingModel() },
    { open: await openInDriver(directory, "/"), settings: { devices: "auto" } },
  );
  const input = (name: string) => ({ name, datatype: "FP32", shape: [2, 2], data: [1, 2, 3, 4] });
  const payload = JSON.stringify({ inputs: [input("left"), input("right")] });
  const infer = () => server.app.inject({ method: "POST", url: "/v2/models/adding/infer", payload });
  expect((await infer()).json()).toMatchObject({ outputs: [{ data: [2, 4, 6, 8] }] });
  expect((await server.app.inject("/v2/models/adding")).json()).toMatchObject({
    properties: { devices: "nnapi-sample_all" },
  });
  first.child.kill("SIGKILL");
  await first.ended;
  expect((await infer()).statusCode).toBe(500);
  await startDaemon(directory);
  // The instance is opened again after a moment; until then requests wait.
  expect((await infer()).json()).toMatchObject({ outputs: [{ data: [2, 4, 6, 8] }] });
  await server.models.close();
  // Starting two processes takes long if the machine is busy.
}, 120_000);
