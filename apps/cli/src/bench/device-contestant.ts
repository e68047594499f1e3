/**
 * A device of ours as a contestant: the whole way of an application, through importer, runtime, driver and backend.
 */
import { modelToken } from "@nnhal/network/session";
import { byteSize } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import { Burst, Execution } from "@nnhal/runtime";
import type { Device } from "@nnhal/types";
import type { DeviceFinder } from "../devices.ts";
import { CommandError } from "../failure.ts";
import { type PreparedRun, prepareRun, runOnce, valuesOf } from "../model/execute.ts";
import { modelOfBytes } from "../model/load.ts";
import { CannotRun, type Contestant, type ContestantId, type Ready, type Task } from "./contestant.ts";

/** Environment variables that tell devices how many threads to use; engines read them when they are opened. */
const threadVariables: Readonly<Record<string, string>> = {
  "nnhal-ort": "NNHAL_ORT_THREADS",
  "nnhal-reference": "NNHAL_REFERENCE_THREADS",
  "nnhal-wasm": "NNHAL_WASM_THREADS",
};

/** Opens the devices that a contestant names, `auto` for all. Rejects with a CommandError if there are none. */
export async function openDeviceContestant(
  { name, path }: Extract<ContestantId, { kind: "device" }>,
  { bytes, inputs, threads, hybrid, inputShapes, cache, path: file }: Task,
  finder: Pick<DeviceFinder, "select" | "definitions" | "halVersion">,
): Promise<Contestant> {
  const variable = threadVariables[name];
  if (variable !== undefined) process.env[variable] = String(threads);
  const selection = await finder.select(name);
  const customOperators = await finder.definitions();
  const halVersion = await finder.halVersion(name);
  const importing = { hybrid, customOperators, halVersion, ...(inputShapes && { inputShapes }) };
  const way = path === "burst" ? "Execution.burstCompute on one Burst" : "Execution.compute";
  const { isRemote = false } = selection;
  return {
    version: selection.devices.map((device) => device.getVersionString().version).join(", "),
    settings: isRemote ? [way, "in a daemon, with the threads and memory of that"] : [way],
    threads: variable === undefined || isRemote ? null : threads,
    isElsewhere: isRemote,
    async prepare() {
      try {
        const model = modelOfBytes(file, bytes, importing);
        const prepared = await prepareRun(
          model,
          selection,
          cache === undefined ? {} : { cache: { folder: cache, token: await modelToken(bytes, importing) } },
        );
        const burst = path === "burst" ? await Burst.create(prepared.session.compilation) : undefined;
        return ready(prepared, inputs, burst, cache !== undefined && selection.devices.every(keepsModels));
      } catch (error) {
        throw error instanceof CommandError ? new CannotRun(error.message, { cause: error }) : error;
      }
    },
  };
}

/** True if a device keeps prepared models in files. */
function keepsModels(device: Device): boolean {
  const { numModelCache, numDataCache } = device.getNumberOfCacheFilesNeeded();
  return numModelCache + numDataCache > 0;
}

function ready(prepared: PreparedRun, given: readonly Uint8Array[], burst: Burst | undefined, keeps: boolean): Ready {
  const { model, session } = prepared;
  const { compilation } = session;
  const inputs = session.inputsOf(valuesOf(model, given));
  const isOpen = model.outputs.some(({ shape }) => shape.includes(0));
  let buffers: readonly Uint8Array[] | undefined = isOpen
    ? undefined
    : model.outputs.map((info) => new Uint8Array(byteSize(info)));
  return {
    keeps,
    async run() {
      if (buffers === undefined) {
        // The first run finds out how much room outputs of open shape need.
        const first = await runOnce(prepared, given);
        const wanted = new Map(first.map(({ bytes }, place) => [elementAt(model.wantedOutputs, place), bytes]));
        buffers = model.outputs.map((info, index) => wanted.get(index) ?? new Uint8Array(byteSize(info)));
        return;
      }
      const execution = new Execution(compilation);
      for (let index = 0; index < inputs.length; index++) {
        const { bytes, shape } = elementAt(inputs, index);
        execution.setInput(index, bytes, shape);
      }
      for (let index = 0; index < buffers.length; index++) execution.setOutput(index, elementAt(buffers, index));
      await (burst === undefined ? execution.compute() : execution.burstCompute(burst));
    },
    outputs: () => model.wantedOutputs.map((index) => elementAt(buffers ?? [], index)),
    async close() {
      burst?.close();
      await session.close();
    },
  };
}
