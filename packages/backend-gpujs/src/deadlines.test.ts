/** Kernels of several steps end at a deadline, whichever step it falls on, and leave no value behind. */
import { type BackendSession, kernelBackend, viewModel } from "@nnhal/backend";
import { Model, type OperandDescription } from "@nnhal/runtime";
import { DeviceType, ErrorStatus, ExecutionPreference, type OperationTypeName, Priority } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { engineOn } from "./gpujs-backend.ts";
import type { Machine } from "./machine/machine.ts";
import { openMachine } from "./machine/open.ts";

const float = (...dimensions: number[]): OperandDescription => ({ type: "TENSOR_FLOAT32", dimensions });

/** A model of one operation on a tensor and a scalar. */
function modelOf(
  type: OperationTypeName,
  input: OperandDescription,
  scalar: OperandDescription,
  value: number,
  ...results: OperandDescription[]
) {
  const model = new Model();
  const inputs = [input, scalar].map((each) => model.addOperand(each));
  model.setOperandValue(inputs[1], value);
  const outputs = results.map((each) => model.addOperand(each));
  model.addOperation(type, inputs, outputs);
  model.identifyInputsAndOutputs([inputs[0]], outputs);
  model.finish();
  return model.hal;
}

const most = modelOf("TOPK_V2", float(20_000), { type: "INT32" }, 20_000, float(20_000), {
  type: "TENSOR_INT32",
  dimensions: [20_000],
});
const softmax = modelOf("SOFTMAX", float(8, 16), { type: "FLOAT32" }, 1, float(8, 16));

async function open(): Promise<{ readonly session: BackendSession; readonly machine: Machine }> {
  const opened = await openMachine("cpu");
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  const { machine } = opened;
  const backend = kernelBackend({ name: "gpujs", deviceType: DeviceType.CPU, open: async () => engineOn(machine) });
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return { session, machine };
}

describe.each([
  ["TOPK_V2, which the host computes", most, [20_000], 8],
  ["SOFTMAX, which takes several programs", softmax, [8, 16], 4],
] as const)("%s", { timeout: 60_000 }, (_, model, dimensions, checks) => {
  it("ends at the first pause after the deadline", async () => {
    const { session, machine } = await open();
    const graph = viewModel({ model, pools: [] });
    const executable = await session.compile(graph, {
      preference: ExecutionPreference.FAST_SINGLE_ANSWER,
      priority: Priority.MEDIUM,
    });
    const bytes = new Uint8Array(4 * dimensions.reduce((count, extent) => count * extent, 1));
    const outputs = graph.outputs.map(() => ({ bytes: bytes.slice(), dimensions }));
    /** The status with a deadline after so many looks at the clock, and how many there were. */
    const run = async (deadline: number) => {
      let looks = 0;
      const { status } = await executable.run([{ bytes, dimensions }], outputs, {
        now: () => BigInt(++looks),
        deadline: BigInt(deadline),
        loopTimeoutDuration: 1n,
        measure: false,
        random: Math.random,
      });
      return { status, looks };
    };
    const held = machine.statistics.values;
    const whole = await run(1_000_000);
    expect(whole.status).toBe(ErrorStatus.NONE);
    expect(whole.looks).toBeGreaterThanOrEqual(checks);
    expect(machine.statistics.values).toBe(held);
    for (let deadline = 1; deadline <= checks; deadline++) {
      expect(await run(deadline)).toEqual({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, looks: deadline });
      expect(machine.statistics.values).toBe(held);
    }
    executable.close();
    await session.close();
  });
});
