/** The prepared models and buffers that a client of a device has in memory domains. */
import type { PreparedModel } from "@nnhal/types";
import type { ModelRecord } from "../engine/record.ts";
import { type BufferTracker, createBufferTracker } from "../memory/tracker.ts";
import { type BufferBudget, createBudget } from "./budget.ts";
import type { DeviceBuffer } from "./device-buffer.ts";

/** The buffers and prepared models of one client of a device. */
export interface BufferDomain {
  /** The client's own prepared models. */
  readonly records: WeakMap<PreparedModel, ModelRecord>;
  readonly buffers: BufferTracker<DeviceBuffer>;
  readonly budget: BufferBudget;
}

/** An empty domain of a client. `mostBytes`: maximum total bytes of its buffers. */
export function createBufferDomain(mostBytes: number): BufferDomain {
  return { records: new WeakMap(), buffers: createBufferTracker(), budget: createBudget(mostBytes) };
}

/** Frees a buffer and its token, once executions that use it have ended. */
export function closeBuffer(buffer: DeviceBuffer, buffers: BufferDomain["buffers"]): void {
  if (buffer.isClosed) return;
  buffer.isClosed = true;
  buffers.remove(buffer);
  buffer.storage.release();
}

/** Frees all buffers of a domain. */
export function closeBuffers({ buffers }: BufferDomain): void {
  for (const buffer of buffers.listLiving()) closeBuffer(buffer, buffers);
}
