/**
 * Buffers of the device under test.
 */

import {
  type AllocateResult,
  type BufferRole,
  type Device,
  ErrorStatus,
  type IBuffer,
  type Memory,
  type PreparedModel,
} from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectStatus, expectThat, mismatch } from "../check.ts";
import type { SmallModelFacts } from "../small-models.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

/** A role of an argument. */
export function role(ioIndex: number, modelIndex = 0, frequency = 1): BufferRole {
  return { modelIndex, ioIndex, frequency };
}

/** The wanted roles and extents of a buffer; by default, unknown extents and no roles. */
export interface Wanted {
  readonly models?: readonly (PreparedModel | null)[];
  readonly dimensions?: readonly number[];
  readonly inputs?: readonly BufferRole[];
  readonly outputs?: readonly BufferRole[];
}

/** Asks for a buffer; one that comes is closed when the case is over. */
async function askForBuffer(
  bench: Bench,
  { models = [], dimensions = [], inputs = [], outputs = [] }: Wanted,
  device: Device = bench.device,
): Promise<AllocateResult> {
  if (bench.own.device.allocate === undefined) endAsUnsupported("device memory");
  if (device.allocate === undefined) mismatch("the device has memory of its own, but not through its HAL version");
  const result = await device.allocate({ dimensions }, models, inputs, outputs);
  bench.after(() => result.buffer?.close?.());
  return result;
}

/** A buffer, and the token that names it in requests. */
export interface Buffer {
  readonly buffer: IBuffer;
  readonly token: number;
}

/** Allocates a valid buffer. It is not a mismatch if the device cannot hold one. */
export async function allocate(bench: Bench, wanted: Wanted, device?: Device): Promise<Buffer> {
  const { buffer, token, ...outcome } = await askForBuffer(bench, wanted, device);
  expectStatus("allocate", outcome, NONE, GENERAL_FAILURE);
  if (outcome.status === GENERAL_FAILURE) {
    expectNothing(buffer, token);
    endAsUnsupported("device memory", outcome.message ?? "the device gives no reason");
  }
  expectThat(Number.isInteger(token) && token > 0, () => `allocate: NONE with token ${token}`);
  return { buffer: buffer ?? mismatch("allocate: NONE without a buffer"), token };
}

/** Ends the case if a buffer is not refused. */
export async function expectRefusedBuffer(bench: Bench, what: string, wanted: Wanted): Promise<void> {
  const { buffer, token, ...outcome } = await askForBuffer(bench, wanted);
  expectStatus(`allocate ${what}`, outcome, INVALID_ARGUMENT, GENERAL_FAILURE);
  expectNothing(buffer, token);
}

function expectNothing(buffer: IBuffer | null, token: number): void {
  expectThat(buffer === null, () => "allocate: a buffer beside the error");
  expectThat(token === 0, () => `allocate, with the error: expected token 0, got ${token}`);
}

/** A small model, prepared. */
export async function preparedSmall(bench: Bench, facts: Partial<SmallModelFacts> = {}, device?: Device) {
  const small = await smallModel(bench, facts);
  return { small, preparedModel: await prepare(bench, small.model, {}, device) };
}

/** copyFrom that has to succeed. */
export async function fill(buffer: IBuffer, memory: Memory, dimensions: readonly number[] = []): Promise<void> {
  expectStatus("copyFrom", await buffer.copyFrom(memory, dimensions), NONE);
}

/** Ends the case if a copy has another status. */
export async function expectCopy(
  what: string,
  copy: ReturnType<IBuffer["copyTo"]>,
  status: ErrorStatus,
): Promise<void> {
  expectStatus(what, await copy, status);
}
