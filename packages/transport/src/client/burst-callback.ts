/** The client's side of a burst, for the server: the memories of slots, as numbers. */
import { ErrorStatus, type IBurstCallback, type Outcome } from "@nnhal/types";
import type { ClientMemories } from "../memory/client-memories.ts";
import { textOf } from "../protocol/frames.ts";

/** Answers `IBurstCallback.getMemories`. Never rejects. */
export async function getMemories(
  callback: IBurstCallback | undefined,
  slots: readonly number[],
  memories: ClientMemories,
): Promise<{ readonly outcome: Outcome; readonly memories: readonly number[] }> {
  const refuse = (message: string) => ({
    outcome: { status: ErrorStatus.INVALID_ARGUMENT, message },
    memories: [],
  });
  if (callback === undefined) return refuse("the burst is closed");
  try {
    const { status, buffers } = await callback.getMemories(slots);
    if (status !== ErrorStatus.NONE) return { outcome: { status }, memories: [] };
    if (!buffers.every((memory) => memories.isShared(memory))) return refuse("a memory cannot be shared");
    return { outcome: { status }, memories: buffers.map((memory) => memories.idOf(memory)) };
  } catch (error) {
    return refuse(textOf(error));
  }
}
