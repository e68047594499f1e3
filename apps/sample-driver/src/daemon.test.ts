/** A daemon as a process: its services, its start and its end. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectService, type ServiceDevice } from "@nnhal/service";
import { createSharedMemory } from "@nnhal/service/shared-memory";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import { DeviceStatus, DeviceType, ErrorStatus } from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { added, addModel, addOnce, prepare } from "./models.test-helper.ts";
import { cleanUp, nnhal, type StartedDaemon, startDaemonProcess } from "./process.test-helper.ts";
import { runDaemon } from "./program.ts";

let daemon: StartedDaemon;
beforeAll(async () => {
  daemon = await startDaemonProcess(["--metrics", "0", "--models", "2", "--clients", "3", "--log-format", "json"]);
});
afterAll(cleanUp);

async function connect(options: Parameters<typeof connectService>[1] = {}): Promise<ServiceDevice> {
  const device = await connectService("nnapi-sample_all", { directory: daemon.directory, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

describe("a daemon", () => {
  it("has sockets in a directory for its user alone", () => {
    expect(statSync(daemon.directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(daemon.directory, "nnapi-sample_all")).mode & 0o777).toBe(0o600);
    expect(daemon.output.stdout).toBe(`ready ${daemon.directory} nnapi-sample_all\n`);
  });

  it("serves a device that is as in the process, with memory shared or copied", async () => {
    const device = await connect();
    expect(device.getVersionString().version).toBe("JUST_AN_EXAMPLE");
    expect(device.getType().type).toBe(DeviceType.CPU);
    expect(device.getStatus()).toBe(DeviceStatus.AVAILABLE);
    expect(device.getCapabilities().capabilities.ifPerformance.execTime).toBeCloseTo(1.1);
    const model = await prepare(device);
    expect(await addOnce(model)).toEqual(added);
    if (device.memoryWay.kind === "shared") {
      const memory = createSharedMemory(24);
      if ("refused" in memory) throw new Error(memory.refused);
      expect(await addOnce(model, memory)).toEqual(added);
    }
    const copying = await connect({ sharing: false });
    expect(copying.memoryWay).toEqual({ kind: "copied", reason: "sharing is off" });
    expect(await addOnce(await prepare(copying))).toEqual(added);
    device.close();
    copying.close();
  });

  it("keeps to the limits of a client, which another does not use up", async () => {
    const [device, other] = [await connect(), await connect()];
    await prepare(device);
    await prepare(device);
    expect(await device.prepareModel(addModel)).toMatchObject({
      status: ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT,
      message: expect.stringContaining("this client has 2 models, which is the limit"),
    });
    expect(await addOnce(await prepare(other))).toEqual(added);
    device.close();
    other.close();
  });

  it("refuses clients above its limit, and takes others when they are gone", async () => {
    const devices = [await connect(), await connect(), await connect()];
    const fourth = await connectService("nnapi-sample_all", { directory: daemon.directory });
    expect(fourth).toMatchObject({
      unavailable: expect.stringContaining("nnapi-sample_all has 3 clients, which is the limit"),
    });
    for (const device of devices) device.close();
    await expect.poll(async () => (await clientCount()) === 0, { timeout: 10_000 }).toBe(true);
    (await connect()).close();
  });

  it("serves metrics", async () => {
    const device = await connect();
    const model = await prepare(device);
    await addOnce(model);
    const text = await metrics();
    expect(text).toContain('nnhal_clients{device="nnapi-sample_all"} 1');
    expect(text).toContain('nnhal_prepared_models{device="nnapi-sample_all"} 1');
    expect(text).toMatch(/nnhal_executions_total\{device="nnapi-sample_all"\} [1-9]/);
    device.close();
  });

  it("says what is wrong with a name", async () => {
    const { directory } = daemon;
    expect(await connectService("none", { directory })).toEqual({
      unavailable: `connecting to none in ${directory}: there is no such service`,
    });
    expect(await connectService("../x", { directory })).toMatchObject({
      unavailable: expect.stringContaining('"../x" is not a valid name of a service'),
    });
  });

  it("is used by the command line", async () => {
    const model = fileURLToPath(new URL("../../cli/demo/digits-uint8.tflite", import.meta.url));
    const { code, stdout, stderr } = await nnhal("run", model, "--random", "1", "--driver", daemon.directory, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("nnapi-sample_all");
  });

  it("is used by the example of docs/daemon.md", { timeout: 60_000 }, async () => {
    const [example = ""] = examplesOf("docs/daemon.md");
    const place = `"nnapi-sample_all", { directory: ${JSON.stringify(daemon.directory)} }`;
    const { stdout, stderr } = await runExample(example.replace('"nnapi-sample_all"', place));
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^JUST_AN_EXAMPLE \w+\n$/), stderr: "" });
  });

  it("leaves the sockets of a daemon that lives", async () => {
    let stderr = "";
    const second = await runDaemon({
      args: ["--dir", daemon.directory, "--devices", "nnapi-sample_all"],
      ...{ env: {}, cwd: ".", version: "1" },
      stdout() {},
      stderr(text) {
        stderr += text;
      },
      onSignal() {},
      exit() {},
    });
    expect(second).toBe(1);
    expect(stderr).toContain("nnapi-sample_all is served by another process");
    (await connect()).close();
  });

  it("lets executions end at SIGTERM, removes its sockets, and exits with 0", async () => {
    const device = await connect();
    daemon.child.kill("SIGTERM");
    expect(await daemon.ended).toBe(0);
    expect(await device.prepareModel(addModel)).toMatchObject({ status: ErrorStatus.DEVICE_UNAVAILABLE });
    expect(readdirSync(daemon.directory)).toEqual([]);
    expect(
      daemon.output.stderr
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).level),
    ).not.toContain("error");
  });
});

async function metrics(): Promise<string> {
  const url = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(daemon.output.stderr)?.[0];
  return (await fetch(String(url))).text();
}

async function clientCount(): Promise<number> {
  return Number(/nnhal_clients\{.*\} (\d+)/.exec(await metrics())?.[1]);
}
