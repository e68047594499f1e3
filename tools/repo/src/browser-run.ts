/**
 * The entry that the browser test bundles and runs without anything of Node.js: a .tflite file on a device, and features that
 * need Node.js.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { whenLoaded } from "@nnhal/operations";
import { Compilation, Execution, Memory, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";

/** Runs a network with one input and one output of 8 bits each. Returns the output. */
export async function run(file: Uint8Array, input: Uint8Array, outputLength: number): Promise<Uint8Array> {
  const compilation = await compile(file);
  await compilation.finish();
  const output = new Uint8Array(outputLength);
  const execution = new Execution(compilation);
  execution.setInput(0, input);
  execution.setOutput(0, output);
  await execution.startCompute().wait();
  return output;
}

/** Compiles a network with a directory for prepared models. */
export async function compileCached(file: Uint8Array): Promise<string> {
  const compilation = await compile(file);
  compilation.setCaching("cache", new Uint8Array(32));
  await compilation.finish();
  return "compiled";
}

/** Returns the message of the error of an import that is not permitted to load its parts. */
export function importAtOnce(file: Uint8Array): string {
  try {
    importTflite(file);
    return "imported";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The message of the error of a memory in a file. */
export function memoryInFile(): string {
  try {
    Memory.createFromFd(4, 1, 0);
    return "no error";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function compile(file: Uint8Array): Promise<Compilation> {
  const { model } = await whenLoaded(() => importTflite(file));
  return new Compilation(Model.from(model), [await openTested()]);
}

async function openTested(): Promise<OpenedDevice> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
