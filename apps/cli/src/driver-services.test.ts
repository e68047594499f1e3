import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "@nnhal/network";
import { connectService } from "@nnhal/service";
import { endProcesses, startSource } from "@nnhal/test-kit/processes";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servicesAt } from "./driver-services.ts";
import { knownEngines } from "./engines.ts";
import { partlyExtendedModel, useFolder } from "./program.test-helper.ts";

let folder: string;
const servers: Server[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-driver-"));
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  mkdirSync(join(folder, "empty"), { mode: 0o700 });
  writeFileSync(join(folder, "file"), "");
  for (const name of ["a", "b"]) {
    // A client that connects is sent away at once.
    const server = createServer((socket) => socket.destroy());
    servers.push(server);
    server.listen(join(folder, "run", name));
    await once(server, "listening");
  }
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(process.platform === "win32")("--driver", () => {
  it.each([
    ["run", ["a", "b"]],
    ["./run", ["a", "b"]],
    ["run/b", ["b"]],
  ])("%s names services", async (driver, names) => {
    const services = await servicesAt(driver, folder);
    expect(services.map(({ device, module }) => [device, module])).toEqual(
      names.map((name) => [name, join(folder, "run")]),
    );
  });

  it.each([
    ["./none", "no daemon has its sockets in FOLDER/none: nnhal-sample-driver --dir FOLDER/none starts one"],
    ["empty", "no daemon has its sockets in FOLDER/empty: nnhal-sample-driver --dir FOLDER/empty starts one"],
    ["./file", "FOLDER/file is neither a runtime directory of a daemon nor a socket in one"],
    ["run/c", "no daemon has its sockets in FOLDER/run/c"],
  ])("%s names none", async (driver, message) => {
    const text = `--driver ${driver}: ${message.replaceAll("FOLDER", folder)}`;
    await expect(servicesAt(driver, folder)).rejects.toThrow(text);
  });

  it("names a service in the default directory, and says which ones there are", async () => {
    const before = process.env.XDG_RUNTIME_DIR;
    try {
      process.env.XDG_RUNTIME_DIR = join(folder, "empty");
      const place = join(folder, "empty", "nnhal");
      await expect(servicesAt("a", folder)).rejects.toThrow(
        `no daemon has its sockets in ${place}: nnhal-sample-driver`,
      );
      mkdirSync(place, { mode: 0o700 });
      const server = createServer();
      servers.push(server);
      server.listen(join(place, "c"));
      await once(server, "listening");
      await expect(servicesAt("a", folder)).rejects.toThrow(`there is no such service in ${place}: it has c`);
      expect(await servicesAt("c", folder)).toHaveLength(1);
    } finally {
      if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
      else process.env.XDG_RUNTIME_DIR = before;
    }
  });

  it("says why a service cannot be used", async () => {
    const [service] = await servicesAt("run/a", folder);
    const unavailable = expect.stringContaining(`connecting to a in ${join(folder, "run")}: `);
    expect(await service?.connect()).toEqual({ unavailable });
  });
});

describe.skipIf(process.platform === "win32")("the devices of a daemon with those of this process", () => {
  const { run, put, get } = useFolder();
  const fast = "nnapi-sample_float_fast";
  let directory: string;
  beforeAll(async () => {
    directory = join(mkdtempSync(join(folder, "daemon-")), "run");
    const main = fileURLToPath(new URL("../../sample-driver/src/main.ts", import.meta.url));
    await startSource(main, ["--dir", directory, "--devices", fast]).says("ready ");
  }, 60_000);
  afterAll(endProcesses);

  it.each(["auto,reference", `${fast},own:reference`])("divide a model on the command line: %s", async (devices) => {
    await put("model.tflite", partlyExtendedModel(24, 16));
    const args = ["model.tflite", "--driver", directory, "--device", devices];
    const { stdout, stderr } = await run(["explain", ...args, "--json"], { engines: knownEngines });
    expect(stderr).toBe("");
    const steps: readonly { readonly device: string }[] = JSON.parse(stdout).steps;
    expect(steps.map(({ device }) => device)).toEqual([fast, "nnhal-reference", fast]);
    const outputOf = async (...given: readonly string[]) => {
      const ran = await run(["run", ...given, "--random", "1", "--output-dir", "out"], { engines: knownEngines });
      expect(ran).toMatchObject({ exitCode: 0, stderr: "" });
      return get("out/output0.bin");
    };
    expect(await outputOf(...args)).toEqual(await outputOf("model.tflite", "--device", "reference"));
  });

  it("divide a model in the library, by `devices` of load", async () => {
    const bytes = partlyExtendedModel(24, 16);
    const device = await connectService(fast, { directory });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const [divided, local] = [
      await load(bytes, { devices: [device, "reference"] }),
      await load(bytes, { devices: "reference" }),
    ];
    const { operations } = await divided.explain();
    expect(operations.map((operation) => operation.device)).toEqual([fast, "nnhal-reference", fast]);
    const image = Float32Array.from({ length: 24 * 24 * 16 }, (_, place) => Math.sin(place));
    const [given, expected] = [await divided.run({ image }), await local.run({ image })];
    expect(given).toEqual(expected);
    await Promise.all([divided.close(), local.close()]);
    device.close();
  });
});
