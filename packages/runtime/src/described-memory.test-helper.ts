/**
 * Memories that descriptors describe, written and read by executions and copies, for this package's tests.
 */
import type { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";

/** A finished descriptor of an output that becomes an input. */
export function state(of: Compilation): MemoryDesc {
  const desc = new MemoryDesc();
  desc.addOutputRole(of, 0);
  desc.addInputRole(of, 0);
  desc.finish();
  return desc;
}

/** Runs ADD with a memory as its output. */
export async function addInto(memory: Memory, values: readonly [number, number], of: Compilation): Promise<void> {
  const execution = new Execution(of);
  execution.setInput(0, Float32Array.from(values));
  execution.setInput(1, Float32Array.of(0, 0));
  execution.setOutputFromMemory(0, memory);
  await execution.compute();
}

/** Runs ADD with a memory as its first input. */
export async function addFrom(memory: Memory, of: Compilation): Promise<number[]> {
  const execution = new Execution(of);
  const output = new Float32Array(2);
  execution.setInputFromMemory(0, memory);
  execution.setInput(1, Float32Array.of(0, 0));
  execution.setOutput(0, output);
  await execution.compute();
  return [...output];
}

/** The float32 values of a memory. */
export async function read(memory: Memory, count = 2): Promise<number[]> {
  const plain = Memory.allocate(4 * count);
  await Memory.copy(memory, plain);
  return [...new Float32Array(plain.map().slice().buffer)];
}

/** Plain bytes of some float32 values. */
export function plainOf(...values: number[]): Memory {
  const memory = Memory.allocate(4 * values.length);
  memory.map().set(new Uint8Array(Float32Array.from(values).buffer));
  return memory;
}
