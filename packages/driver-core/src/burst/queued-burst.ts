/**
 * A burst through queues: writes request packets to one queue and reads result packets from the other, one request at a
 * time.
 */

import { ErrorStatus, type IBurstContext, MeasureTiming, type Request } from "@nnhal/types";
import { createMutex } from "@nnhal/utils/time";
import {
  checkResult,
  closeContext,
  closedEnd,
  type End,
  failWith,
  forget,
  misfitOf,
  notSent,
  serviceEnd,
  unavailable,
} from "./answer.ts";
import type { BurstController, BurstExecuteOptions, BurstExecutionResult, BurstOptions } from "./burst.ts";
import { type Limits, milliseconds } from "./limits.ts";
import type { MemorySlots } from "./memory-slots.ts";
import { mostWords, resultDecoder } from "./repeated-packets.ts";
import { writeRequest } from "./request-codec.ts";
import type { RingReader, RingWriter } from "./ring.ts";
import { isTeardownPacket, sayGoodbye, withoutTeardown } from "./teardown.ts";
import { createPoller, createTurns, sleepUntil } from "./waiting.ts";

/** The parts of a burst through queues. */
export interface QueuedParts {
  readonly context: IBurstContext;
  readonly memories: MemorySlots;
  readonly writer: RingWriter;
  readonly reader: RingReader;
  readonly requestCapacity: number;
  readonly limits: Limits;
}

/** See the file's head. */
export function queuedBurst(
  { context, memories, writer, reader, requestCapacity, limits }: QueuedParts,
  { pollingWindow = 50, refuseMemory = () => undefined }: Pick<BurstOptions, "pollingWindow" | "refuseMemory">,
): BurstController {
  const exclusive = createMutex();
  const poller = createPoller(pollingWindow, reader);
  const turns = createTurns(10);
  const scratch = new Int32Array(mostWords);
  const decode = resultDecoder();
  let over: End | undefined;
  let closed: Promise<void> | undefined;

  const end = (why: End): End => {
    if (over === undefined) {
      over = why;
      sayGoodbye(reader, writer);
    }
    return over;
  };
  const checkOver = (): End | undefined =>
    over ?? (reader.isPeerClosed() || writer.isPeerClosed() ? end(serviceEnd) : undefined);

  const nextPacket = (): Int32Array | End | undefined => {
    if (over !== undefined) return over;
    // Once the service is known to be gone, all that it has sent is in the queue.
    const isGone = reader.isPeerClosed();
    const packet = reader.read();
    if (packet === undefined) return isGone ? end(serviceEnd) : undefined;
    if (packet.length === 0) {
      return end({ status: ErrorStatus.GENERAL_FAILURE, message: "the result queue's counters are not valid" });
    }
    if (!reader.isPeerClosed()) return packet;
    return isTeardownPacket(packet) ? end(serviceEnd) : withoutTeardown(packet);
  };

  /** Sleeps until the result arrives or a limit has passed. */
  const sleep = async (): Promise<Int32Array | End> => {
    const { watchdog, silence, request } = limits;
    let expired: End | undefined;
    let pulse = reader.pulse();
    let heard = 0n;
    const done = watchdog.watch((elapsed) => {
      const now = reader.pulse();
      if (now !== pulse) heard = elapsed;
      pulse = now;
      if (elapsed >= request) {
        const message = `no result came within ${milliseconds(request)}`;
        expired = { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message };
      } else if (elapsed - heard >= silence) {
        expired = unavailable(`the service has shown no sign of life for ${milliseconds(silence)}`);
      }
      if (expired !== undefined) reader.wake();
    });
    try {
      const look = () => nextPacket() ?? (expired === undefined ? undefined : end(expired));
      return await sleepUntil(reader, look, turns);
    } finally {
      done();
    }
  };

  const compute = async (request: Request, options: BurstExecuteOptions): Promise<BurstExecutionResult> => {
    const { measure = MeasureTiming.NO, keys } = options;
    if (turns.areDue()) await turns.give();
    const misfit = checkOver()?.message ?? misfitOf(request, options, requestCapacity, refuseMemory);
    if (misfit !== undefined) return notSent(misfit);
    const slots = request.pools.map((pool, index) =>
      pool.kind === "memory" ? memories.slotOf(pool.memory, keys === undefined ? pool.memory : keys[index]) : 0,
    );
    const packet = writeRequest(request, measure, slots, scratch);
    // A packet that is already in the queue comes from a faulty service and does not answer this request.
    reader.read();
    if (!writer.write(packet)) return notSent("its queue has no room");
    const answer = poller.poll(nextPacket) ?? (await sleep());
    if (!(answer instanceof Int32Array)) return failWith(answer.status, `no result came: ${answer.message}`, false);
    const result = decode(answer);
    if (!("malformed" in result)) return checkResult(result, request);
    return failWith(ErrorStatus.GENERAL_FAILURE, `no result came: ${result.malformed}`, false);
  };

  return {
    async compute(request, options = {}) {
      try {
        // A request that is not sent does not wait for its turn.
        if (options.deadline !== undefined) return notSent(misfitOf(request, options, 0, refuseMemory) ?? "");
        return await exclusive(() => compute(request, options));
      } catch (error) {
        return failWith(ErrorStatus.INVALID_ARGUMENT, `the request cannot be written as a packet: ${error}`, false);
      }
    },
    freeMemory: (key) =>
      exclusive(async () => {
        const slot = memories.free(key);
        if (slot === undefined || checkOver() !== undefined) return;
        const why = await forget(context, slot, limits, limits.silence);
        if (why !== undefined) end(why);
      }),
    close() {
      closed ??= exclusive(async () => {
        end(closedEnd);
        await closeContext(context, limits, limits.silence);
      });
      return closed;
    },
    abandon(reason) {
      end(unavailable(reason));
      reader.wake();
    },
  };
}
