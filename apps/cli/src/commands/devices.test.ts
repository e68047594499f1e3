import { checkForms, chooseForm } from "@nnhal/backend/proof";
import { createReferenceBackend, referenceBackend } from "@nnhal/backend-reference";
import type { ExtensionDefinition } from "@nnhal/operations";
import { allowEveryApplication, parseAllowList } from "@nnhal/runtime";
import { sharedMemoryForm } from "@nnhal/service/shared-memory";
import { fakeDevice } from "@nnhal/test-kit/fake-device";
import type { HalVersion } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { Engine, RemoteEngine } from "../backend-module.ts";
import { createDeviceFinder, type DeviceSelection, judgeDevice } from "../devices.ts";
import { passingModel, useFolder } from "../program.test-helper.ts";

const { run, put, path } = useFolder();

const engine = (name: string, load: Engine["load"]): Engine => ({
  device: `nnhal-${name}`,
  module: `@x/${name}`,
  load,
});

const missing = Object.assign(new Error("Cannot find package '@x/far' imported from\nsomewhere"), {
  code: "ERR_MODULE_NOT_FOUND",
});
const engines: readonly Engine[] = [
  engine("far", () => Promise.reject(missing)),
  engine("broken", () => Promise.reject(new Error("libgpu.so:\n cannot open shared object file"))),
  engine("no-gpu", async () => ({
    name: "no-gpu",
    deviceType: 3,
    open: async () => ({ unavailable: "there is no GPU", remedy: "plug one in" }),
  })),
  engine("throws", async () => ({ name: "throws", deviceType: 4, open: () => Promise.reject(new Error("no!")) })),
  engine("near", async () => ({ ...referenceBackend, name: "near" })),
  engine("slow", async () => ({ ...referenceBackend, name: "slow", open: openSlow })),
];

/** Works, but not as well as it could. */
async function openSlow() {
  const session = await referenceBackend.open();
  const missing = [
    { unavailable: "there is no @x/fast", remedy: "npm install @x/fast" },
    { unavailable: "it is Monday" },
  ];
  const choices = [
    { subject: "8-bit sums", chosen: "s8" },
    { subject: "8-bit products", chosen: "u8", reason: "on the processor X, s8 is wrong: expected 250, got 126" },
    { subject: "roots", chosen: undefined, reason: "on the processor X, f32 is wrong: expected 2, got 3" },
  ];
  return "unavailable" in session ? session : { ...session, missing, choices, powerBasis: "derived" as const };
}

/** The form of this machine is tested by @nnhal/service/shared-memory. */
const { why, remedy } = sharedMemoryForm();
const sharedMemoryLines = [`shared memory: ${why}`, ...(remedy === undefined ? [] : [`  to add it: ${remedy}`])];

describe("nnhal devices", () => {
  it("are left out by auto with a note, once, if they are installed and cannot be used", async () => {
    await put("pass.tflite", passingModel({ shape: [1, 3] }));
    const { stderr, exitCode } = await run(["run", "pass.tflite", "--random", "1"], { engines });
    expect(exitCode).toBe(0);
    expect(stderr.trim().split("\n")).toEqual([
      "nnhal: note: @x/broken is installed, but cannot be used: loading @x/broken failed: libgpu.so: cannot open shared object file",
      "nnhal: note: @x/no-gpu is installed, but cannot be used: there is no GPU; plug one in",
      "nnhal: note: @x/throws is installed, but cannot be used: opening the backend: it threw: no!",
    ]);
    expect((await run(["run", "pass.tflite", "--random", "1", "--device", "near"], { engines })).stderr).toBe("");
  });

  it("names what installs a package in a checkout", async () => {
    const far = engine("far", () => Promise.reject(missing));
    const { stdout } = await run(["devices"], { engines: [far], installs: () => "npm run setup" });
    expect(stdout).toContain("\n  to add it: npm run setup\n");
  });

  it("refuses a daemon that is not there", async () => {
    expect(await run(["devices", "--driver", "/nowhere"])).toEqual({
      stdout: "",
      stderr:
        "nnhal devices: --driver /nowhere: no daemon has its sockets in /nowhere: nnhal-sample-driver --dir /nowhere starts one\n",
      exitCode: 2,
    });
  });

  it("lists what works, and what others lack, for people", async () => {
    expect(await run(["devices"], { engines })).toEqual({
      stdout: [
        "name          type         HAL    version            status       power",
        "nnhal-far     -            -      -                  UNAVAILABLE  -",
        "  @x/far is not installed",
        "  to add it: npm install @x/far",
        "nnhal-broken  -            -      -                  UNAVAILABLE  -",
        "  loading @x/broken failed: libgpu.so: cannot open shared object file",
        "nnhal-no-gpu  GPU          -      -                  UNAVAILABLE  -",
        "  there is no GPU",
        "  to add it: plug one in",
        "nnhal-throws  ACCELERATOR  -      -                  UNAVAILABLE  -",
        "  opening the backend: it threw: no!",
        "nnhal-near    CPU          aidl4  nnhal-reference-1  AVAILABLE    reference",
        "nnhal-slow    CPU          aidl4  nnhal-reference-1  AVAILABLE    derived",
        "  8-bit sums: in the form s8",
        "  8-bit products: in the form u8; on the processor X, s8 is wrong: expected 250, got 126",
        "  roots: refused; on the processor X, f32 is wrong: expected 2, got 3",
        "  there is no @x/fast",
        "  to add it: npm install @x/fast",
        "  it is Monday",
        ...sharedMemoryLines,
        "",
      ].join("\n"),
      stderr: "",
      exitCode: 0,
    });
  });

  it("lists them as JSON", async () => {
    const { devices, sharedMemory } = JSON.parse((await run(["devices", "--json"], { engines })).stdout);
    expect(sharedMemory).toEqual(sharedMemoryForm());
    expect(devices).toHaveLength(6);
    expect(devices[0]).toEqual({
      name: "nnhal-far",
      type: null,
      halVersion: null,
      featureLevel: null,
      version: null,
      status: "UNAVAILABLE",
      power: null,
      reason: "@x/far is not installed",
      remedy: "npm install @x/far",
    });
    expect(devices[4]).toEqual({
      ...{ name: "nnhal-near", type: "CPU", version: "nnhal-reference-1", status: "AVAILABLE" },
      ...{ halVersion: "aidl4", featureLevel: 1_000_008, power: "reference" },
    });
    expect(devices[5].choices).toEqual([
      { subject: "8-bit sums", chosen: "s8" },
      { subject: "8-bit products", chosen: "u8", reason: "on the processor X, s8 is wrong: expected 250, got 126" },
      { subject: "roots", chosen: null, reason: "on the processor X, f32 is wrong: expected 2, got 3" },
    ]);
    expect(devices[5].missing).toEqual([
      { reason: "there is no @x/fast", remedy: "npm install @x/fast" },
      { reason: "it is Monday" },
    ]);
  });

  it("uses the kept self-check of an engine, and runs a new one with --recheck", async () => {
    let probed = 0;
    const probing = engine("probing", async () => ({
      ...referenceBackend,
      async open(options) {
        const probe = () => {
          probed++;
          return { s8: "expected 250, got 126" };
        };
        const processor = { name: "P", identity: "P avx2" };
        const probes = [{ forms: ["s8"], run: probe }];
        const check = await checkForms({ engine: "probing 1", processor, probes, outcomes: options?.outcomes });
        const session = await referenceBackend.open();
        const choices = [chooseForm("8-bit products", ["s8", "u8"], check)];
        return "unavailable" in session ? session : { ...session, choices };
      },
    }));
    const check = async (args: readonly string[], state?: string) => {
      const { stdout } = await run(["devices", ...args], {
        engines: [probing],
        stateDirectory: async () => state,
      });
      expect(stdout).toContain(
        "8-bit products: in the form u8; on the processor P, s8 is wrong: expected 250, got 126",
      );
      return [probed, /self-check: (.*)/.exec(stdout)?.[1]];
    };
    const state = path("state");
    expect(await check([])).toEqual([1, undefined]);
    expect(await check([], state)).toEqual([2, "made now"]);
    expect(await check([], state)).toEqual([2, "of an earlier start; --recheck makes a new one"]);
    expect(await check(["--recheck"], state)).toEqual([3, "made now"]);
    const { stdout } = await run(["devices", "--json"], {
      engines: [probing],
      stateDirectory: async () => state,
    });
    expect(JSON.parse(stdout).devices[0].selfCheck).toBe("kept");
    expect(probed).toBe(3);
  });

  it("opens each device once, and none for a command that needs none", async () => {
    let opened = 0;
    const counted = engine("counted", async () => ({
      ...referenceBackend,
      open() {
        opened++;
        return referenceBackend.open();
      },
    }));
    await put("model.tflite", passingModel({ shape: [1, 2] }));
    await run(["run", "--help"], { engines: [counted] });
    await run(["run", "gone.tflite", "--random", "1"], { engines: [counted] });
    expect(opened).toBe(0);
    await run(["run", "model.tflite", "--random", "1"], { engines: [counted] });
    expect(opened).toBe(1);
  });
});

const vendorModule = `
const name = "com.example.vendor";
const type = (typeName, code, kind) => ({ extension: name, name: typeName, code, kind, elementSize: 8, array: BigInt64Array });
export const vendor = { name, operandTypes: [type("LONG", 0, "scalar"), type("TENSOR_LONG", 7, "tensor")], operations: [] };
export const other = { name: "com.example.other", operandTypes: [], operations: [] };
export const noise = 5;
`;

describe("--extension", () => {
  it("lets the reference device have the extensions of a module, which are listed with the allow-list's verdict", async () => {
    await put("vendor.mjs", vendorModule);
    const extensionsAllowed = parseAllowList("", { source: "/etc/list" });
    const args = ["devices", "--extension", "./vendor.mjs"];
    const { stdout, stderr } = await run(args, { extensionsAllowed });
    expect(stderr).toBe("");
    expect(stdout.split("\n").slice(1)).toEqual([
      "nnhal-reference  CPU   aidl4  nnhal-reference-1+com.example.vendor+com.example.other  AVAILABLE  reference",
      "  extension com.example.vendor",
      "    scalars, bytes: LONG 8",
      "    tensors, bytes an element: TENSOR_LONG 8",
      "  extension com.example.other",
      ...sharedMemoryLines,
      expect.stringMatching(/^allow-list( \/etc\/list)?: .+/),
      "",
    ]);
    const json = JSON.parse((await run([...args, "--json"], { extensionsAllowed: allowEveryApplication })).stdout);
    expect(json.devices[0].extensions[0]).toEqual({
      name: "com.example.vendor",
      operandTypes: [
        { type: 0, name: "LONG", isTensor: false, byteSize: 8 },
        { type: 7, name: "TENSOR_LONG", isTensor: true, byteSize: 8 },
      ],
    });
    expect(json.allowList).toEqual({ source: "every application", refused: null });
  });

  it("leaves devices without extensions as they were", async () => {
    const json = JSON.parse((await run(["devices", "--json"])).stdout);
    expect(json).not.toHaveProperty("allowList");
    expect(json.devices[0]).not.toHaveProperty("extensions");
  });

  it("needs a module that exports a definition", async () => {
    await put("nothing.mjs", "export const extension = { name: 'nodot', operandTypes: [], operations: [] };");
    expect(await run(["devices", "--extension", "./nothing.mjs"])).toMatchObject({
      exitCode: 2,
      stderr: "nnhal devices: the module ./nothing.mjs exports no definition of an extension\n",
    });
    const { exitCode, stderr } = await run(["devices", "--extension", "./gone.mjs"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("extension ./gone.mjs")]);
  });
});

describe("definitions of extensions", () => {
  const extension = (name: string): ExtensionDefinition => ({ name, operandTypes: [], operations: [] });
  const engineWith = (name: string, ...extensions: ExtensionDefinition[]) =>
    engine(name, async () => ({ ...createReferenceBackend({ extensions }), name }));

  it("are those of the user's modules and backends, of devices that are open, and of .tflite models", async () => {
    const [a, b, c] = [extension("x.a"), extension("x.b"), extension("x.c")];
    const finder = createDeviceFinder([engineWith("own", a), engineWith("known", b)], { extensions: [c], own: 1 });
    expect((await finder.definitions()).map(({ name }) => name)).toEqual(["x.c", "x.a", "nnhal.tflite"]);
    await finder.open("known");
    expect((await finder.definitions()).map(({ name }) => name)).toEqual(["x.c", "x.a", "x.b", "nnhal.tflite"]);
  });
});

describe("the reference that judges other devices", () => {
  const reference = () => engine("reference", async () => ({ ...createReferenceBackend(), name: "reference" }));

  it("is the device of its name, or another one of this program", async () => {
    const [near, far] = [createDeviceFinder([reference()]), createDeviceFinder([], { local: [reference()] })];
    expect(await near.open(judgeDevice)).toBe(await near.open("nnhal-reference"));
    expect((await far.open(judgeDevice)).name).toBe("nnhal-reference");
    expect(await far.open("nnhal-reference")).toBe(await far.open(judgeDevice));
    expect(await far.list()).toEqual([]);
  });
});

describe("devices of a daemon with those of this process", () => {
  const service = (device: string, isThere = true): RemoteEngine => ({
    device,
    module: "/run/nnhal",
    connect: async () =>
      isThere ? { device: { ...fakeDevice(), name: device }, memory: "shared" } : { unavailable: "it is gone" },
  });
  const local = ["reference", "near"].map((name) => engine(name, async () => ({ ...referenceBackend, name })));
  const finderOf = (...services: readonly RemoteEngine[]) => createDeviceFinder(services, { local });
  const namesOf = ({ devices }: DeviceSelection) => devices.map(({ name }) => name);

  it("are in one list, services first where a name is both", async () => {
    const finder = finderOf(service("far"), service("nnhal-near"));
    expect((await finder.list()).map(({ name }) => name)).toEqual(["far", "nnhal-near"]);
    const listed = await finder.select("far,near,own:near,reference");
    expect(namesOf(listed)).toEqual(["far", "nnhal-near", "own:nnhal-near", "nnhal-reference"]);
    expect(listed).toMatchObject({ isRemote: true });
    expect(listed.cpu).toBeUndefined();
    expect(namesOf(await finder.select("own:nnhal-reference"))).toEqual(["nnhal-reference"]);
    for (const name of ["own:far", "none"]) {
      await expect(finder.open(name)).rejects.toThrow(
        `there is no device "${name}"; there are: far, nnhal-near, nnhal-reference, own:nnhal-near`,
      );
    }
  });

  it("are with auto those of the daemon, and what else is in the list, the reference as the CPU", async () => {
    const alone = await finderOf(service("far")).select("auto");
    expect([namesOf(alone), alone.cpu]).toEqual([["far"], undefined]);
    const both = await finderOf(service("far")).select("auto,reference");
    expect(namesOf(both)).toEqual(["far", "nnhal-reference"]);
    expect(both.cpu).toBe(both.devices[1]);
    const served = await finderOf(service("far"), service("nnhal-reference")).select("auto,own:reference");
    expect(namesOf(served)).toEqual(["far", "nnhal-reference", "own:nnhal-reference"]);
    expect(served.cpu).toBe(served.devices[2]);
    const other = await finderOf(service("far")).select("auto,near");
    expect([namesOf(other), other.cpu]).toEqual([["far", "nnhal-near"], undefined]);
    await expect(finderOf(service("far")).select("auto,far")).rejects.toThrow("the device far is listed twice");
    await expect(finderOf(service("far", false)).select("auto,reference")).rejects.toThrow(
      "no device works here. far: it is gone",
    );
  });
});

describe("the HAL version of devices", () => {
  const service = (device: string, halVersion: HalVersion | undefined): RemoteEngine => ({
    device,
    module: "/run/nnhal",
    connect: async () =>
      halVersion === undefined
        ? { unavailable: "it is gone" }
        : { device: { ...fakeDevice(), name: device, halVersion }, memory: "shared" },
  });
  const unopened = engine("near", () => Promise.reject(new Error("it was opened")));
  const finder = createDeviceFinder(
    [service("old", "1.2"), service("nnhal-new", "aidl3"), service("gone", undefined)],
    { local: [unopened] },
  );

  it.each([
    ["near", "aidl4"],
    ["new", "aidl3"],
    ["nnhal-new,near", "aidl3"],
    ["gone", "aidl4"],
    ["new, old", "1.2"],
    ["auto", "1.2"],
  ])("%s is %s", async (names, expected) => {
    expect(await finder.halVersion(names)).toBe(expected);
  });
});

describe("the device to check", () => {
  const engines = ["a", "b", "c"].map((name) => engine(name, async () => ({ ...createReferenceBackend(), name })));

  it.each([
    ["the one that is given", "c", { own: 1 }, "c"],
    ["else the only one of the user's modules", undefined, { own: 1 }, "nnhal-a"],
    ["else the only service of a daemon", undefined, { named: 1 }, "nnhal-a"],
  ])("is %s", async (_, given, options, device) => {
    expect(await createDeviceFinder(engines, options).toCheck(given)).toBe(device);
  });

  it.each([{}, { own: 2 }, { own: 1, named: 3 }])(
    "must be given if %j of the first are the user's",
    async (options) => {
      await expect(createDeviceFinder(engines, options).toCheck(undefined)).rejects.toThrow(
        "--device says what to check, and it is not given; there are: nnhal-a, nnhal-b, nnhal-c",
      );
    },
  );
});

describe("--device", () => {
  it("takes a name with or without its prefix", async () => {
    await put("model.tflite", passingModel({ shape: [1, 2] }));
    for (const name of ["near", "nnhal-near"]) {
      const { stdout } = await run(["run", "model.tflite", "--random", "1", "--json", "--device", name], { engines });
      expect(JSON.parse(stdout).device).toBe("nnhal-near");
    }
  });

  it("tells an unknown device from one that does not work here", async () => {
    await put("model.tflite", passingModel({ shape: [1, 2] }));
    const args = (name: string) => ["run", "model.tflite", "--random", "1", "--device", name];
    expect(await run(args("toaster"), { engines })).toEqual({
      stdout: "",
      stderr:
        'nnhal run: there is no device "toaster"; there are: nnhal-broken, nnhal-no-gpu, nnhal-throws, nnhal-near, nnhal-slow\n',
      exitCode: 2,
    });
    expect(await run(args("no-gpu"), { engines })).toEqual({
      stdout: "",
      stderr: "nnhal run: device nnhal-no-gpu cannot work here: there is no GPU; plug one in\n",
      exitCode: 1,
    });
  });

  it("says why nothing works if nothing does", async () => {
    await put("model.tflite", passingModel({ shape: [1, 2] }));
    const { stderr, exitCode } = await run(["run", "model.tflite", "--random", "1"], { engines: engines.slice(0, 1) });
    expect(stderr).toBe("nnhal run: no device works here. nnhal-far: @x/far is not installed; npm install @x/far\n");
    expect(exitCode).toBe(1);
  });
});
