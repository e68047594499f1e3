/**
 * Interpreted control flow on memory in files, on a machine where no native library maps them: what the runtime itself
 * reads is read from the file when it is needed, and what it writes gets there.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mmapFdMemory, Protection } from "@nnhal/driver-core/memory";
import { type Device, ErrorStatus, type Memory, type PreparedModel, type Request } from "@nnhal/types";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

const { READ, WRITE } = Protection;
const { platform } = process;
let folder = "";
let prepared: PreparedModel;
let mapPool: (memory: Memory) => object;
const open: number[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-plan-"));
  // On Windows there is no mmap. How files are mapped is decided once, which other test files may have done: the modules are loaded anew.
  vi.resetModules();
  ({ mapPool } = await import("@nnhal/driver-core/memory"));
  Object.defineProperty(process, "platform", { value: "win32" });
  mapPool(file("probe", 0).memory);
  Object.defineProperty(process, "platform", { value: platform });
  const { openReference } = await import("../models.test-helper.ts");
  const { divideGuarded, makeDoublingLoop: doubling } = await import("./divided.test-helper.ts");
  const { makeTaking: taking } = await import("./memory-backend.test-helper.ts");
  const reference = await openReference();
  const loop: Device = { ...taking(reference, ["LESS", "ADD"]), name: "loop" };
  const divided = await divideGuarded(doubling(100).hal, [loop, reference], { cpu: reference });
  if (!("plan" in divided)) throw new Error(divided.message);
  expect(divided.plan.steps).toMatchObject([{ kind: "while" }]);
  prepared = divided.preparedModel;
});

afterAll(() => {
  for (const fd of open) closeSync(fd);
  rmSync(folder, { recursive: true });
  // The next test file in this process must not find the modules that have no mmap.
  vi.resetModules();
});

/** A file of one number. */
function file(name: string, value: number, protection: number = READ | WRITE) {
  const path = join(folder, name);
  const write = (number: number) => writeFileSync(path, new Uint8Array(Float32Array.of(number).buffer));
  write(value);
  const fd = openSync(path, "r+");
  open.push(fd);
  const memory = mmapFdMemory(4, fd, [protection, 0, 0]);
  return { memory, write, read: () => readFileSync(path).readFloatLE() };
}

function requestOn(input: Memory, output: Memory): Request {
  const argument = (poolIndex: number) => ({
    hasNoValue: false,
    location: { poolIndex, offset: 0, length: 4 },
    dimensions: [],
  });
  const pools = [input, output].map((memory) => ({ kind: "memory", memory }) as const);
  return { inputs: [argument(0)], outputs: [argument(1)], pools };
}

it("writes a loop's results to the file, and reads its initial values there", async () => {
  const input = file("input", 1);
  const output = file("output", 0);
  const request = requestOn(input.memory, output.memory);
  expect(mapPool(output.memory)).toHaveProperty("load");
  expect((await prepared.execute(request)).status).toBe(ErrorStatus.NONE);
  expect(output.read()).toBe(128);
  // Another program writes another value meanwhile; with this one there is no turn.
  input.write(300);
  expect((await prepared.execute(request)).status).toBe(ErrorStatus.NONE);
  expect(output.read()).toBe(300);
});

it("refuses to write where that is not allowed", async () => {
  const output = file("read-only", 7, READ);
  const { status, message } = await prepared.execute(requestOn(file("start", 1).memory, output.memory));
  expect(status).toBe(ErrorStatus.INVALID_ARGUMENT);
  expect(message).toContain("not writable");
  expect(output.read()).toBe(7);
});
