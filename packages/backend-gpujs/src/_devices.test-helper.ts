/** Devices over the gpu.js backend, and models run on them. */
import { kernelBackend } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";
import { type Device, DeviceType, type Model as HalModel, operandTypeNames, operandTypes } from "@nnhal/types";
import { engineOn } from "./gpujs-backend.ts";
import type { Machine, ModeName } from "./machine/machine.ts";
import { openMachine } from "./machine/open.ts";

/** The device over a mode. */
export async function deviceOn(mode: ModeName): Promise<Device> {
  return (await deviceOver(mode)).device;
}

/** The device over a mode, and the machine that it computes with. */
export async function deviceOver(mode: ModeName): Promise<{ readonly device: Device; readonly machine: Machine }> {
  const opened = await openMachine(mode);
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  const { machine } = opened;
  const backend = kernelBackend({ name: "gpujs", deviceType: DeviceType.CPU, open: async () => engineOn(machine) });
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return { device, machine };
}

/** Runs a compiled model: bytes of the first inputs, others being 0, to bytes of the outputs. */
export type Runner = (inputs: readonly Uint8Array[]) => Promise<Uint8Array[]>;

/** A .tflite file on some devices. */
export function tfliteRunner(file: Uint8Array, devices: readonly Device[]): Promise<Runner> {
  return runnerOf(importTflite(file).model, devices);
}

/** A model on some devices. */
export async function runnerOf(model: HalModel, devices: readonly Device[]): Promise<Runner> {
  const compilation = new Compilation(Model.from(model), [...devices]);
  await compilation.finish();
  const { operands, inputIndexes, outputIndexes } = model.main;
  const empty = (index: number) => {
    const { type, dimensions } = operands[index];
    const { elementSize = 0 } = operandTypes[operandTypeNames.get(type) ?? "OEM"];
    return new Uint8Array(dimensions.reduce((size, extent) => size * extent, elementSize));
  };
  return async (inputs) => {
    const execution = new Execution(compilation);
    for (const [place, index] of inputIndexes.entries()) execution.setInput(place, inputs[place] ?? empty(index));
    const outputs = outputIndexes.map(empty);
    for (const [place, output] of outputs.entries()) execution.setOutput(place, output);
    await execution.compute();
    return outputs;
  };
}
