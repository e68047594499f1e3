/**
 * Copies between memories: plain bytes, buffers of devices, and one device's to another's by way of plain bytes.
 */
import { allocateBlob, type Mapping, mapPool } from "@nnhal/driver-core/memory";
import { ErrorStatus, type Memory as HalMemory, type Outcome } from "@nnhal/types";
import { allocateOrThrow } from "./checks.ts";
import type { MemoryContent, Metadata } from "./memory-content.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

const what = "Memory.copy";

/** Copies one content to another. After a failure, a described destination has no value. */
export async function copyContent(source: MemoryContent, destination: MemoryContent): Promise<void> {
  try {
    const from = source.asSource();
    if (typeof from === "string") throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: ${from}`);
    const dimensions = destination.accepts(from);
    if (typeof dimensions === "string") throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: ${dimensions}`);
    await transfer(source, destination, from);
    destination.recordWritten(dimensions);
  } catch (error) {
    destination.recordWritten(undefined);
    throw error;
  }
}

async function transfer(source: MemoryContent, destination: MemoryContent, from: Metadata): Promise<void> {
  if (source.plain !== undefined) return fill(source.plain, destination, from);
  if (destination.plain !== undefined) return expectDone(await source.buffer?.copyTo(destination.plain));
  const { logicalSize } = from;
  expect(logicalSize !== undefined, ResultCode.BAD_DATA, () => `${what}: the size of the source is not known`);
  const between = allocateOrThrow(Math.max(logicalSize, 1), what, allocateBlob);
  expectDone(await source.buffer?.copyTo(between));
  await fill(between, destination, from);
}

async function fill(plain: HalMemory, destination: MemoryContent, { dimensions }: Metadata): Promise<void> {
  if (destination.plain === undefined) return expectDone(await destination.buffer?.copyFrom(plain, dimensions));
  const from = map(plain, "source");
  const to = map(destination.plain, "destination");
  expect(to.writable, ResultCode.UNMAPPABLE, () => `${what}: the destination must not be written`);
  const { length } = from.bytes;
  expect(
    length === to.bytes.length,
    ResultCode.BAD_DATA,
    () => `${what}: the source has ${length} bytes, the destination ${to.bytes.length}`,
  );
  from.load?.(0, length);
  to.bytes.set(from.bytes);
  to.store?.(0, length);
}

function map(memory: HalMemory, side: string): Mapping {
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) {
    throw new NeuralNetworksError(ResultCode.UNMAPPABLE, `${what}: ${side}: ${mapping.unmappable}`);
  }
  const isOpaque = mapping.opaque !== undefined;
  expect(!isOpaque, ResultCode.UNMAPPABLE, () => `${what}: ${side}: the layout of the hardware buffer is private`);
  return mapping;
}

function expectDone(outcome: Outcome | undefined): void {
  const { status, message } = outcome ?? { status: ErrorStatus.GENERAL_FAILURE, message: "there is nothing to copy" };
  if (status === ErrorStatus.NONE) return;
  throw new NeuralNetworksError(convertErrorStatusToResultCode(status), `${what}: ${message ?? `status ${status}`}`);
}
