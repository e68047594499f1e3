/** The bursts of a guarded prepared model. Few applications use bursts: a bundle for a browser loads this when one does. */
import { type CreateBurstResult, createBurst, readBurstResult } from "@nnhal/driver-core/burst";
import {
  type AnswerReader,
  failedBurst,
  failedExecution,
  failureOf,
  type Guard,
  type Refusal,
} from "@nnhal/driver-core/guard";
import { mapMemory } from "@nnhal/driver-core/memory";
import { ErrorStatus, type Memory, type PreparedModel } from "@nnhal/types";
import { hasFields, show } from "@nnhal/validation";

/** The answer to `openBurst`. */
export interface OpenedBurst extends CreateBurstResult {
  /** Makes memory that the service sees, or throws. Absent: it sees all memory of this process. */
  readonly allocateShared?: (size: number) => Memory;
}

/**
 * Returns a checked function that makes memory which the device shares with this process; undefined if the device sees
 * all memory.
 */
function sharedMemoryOf(own: PreparedModel): OpenedBurst["allocateShared"] {
  if (!hasFields(own.sharedMemory)) return undefined;
  return (size) => {
    const memory = own.sharedMemory?.allocate(size);
    const bytes = memory === undefined ? undefined : mapMemory(memory);
    if (memory !== undefined && bytes instanceof Uint8Array && bytes.length >= size) return memory;
    throw new Error(`sharedMemory.allocate(${size}): expected a memory of that size, got ${show(memory)}`);
  };
}

/** A burst can leave out known shapes (HAL 1.2 notify_1_2). */
const omittingShapes = { mayOmitShapes: true };

/** `configureExecutionBurst` of a prepared model, guarded. `onFault`: the service has failed to forget a memory, and the burst is closed. */
export function configureBurst(
  own: PreparedModel,
  guard: Guard,
  onFault: (refusal: Refusal) => void,
): NonNullable<PreparedModel["configureExecutionBurst"]> {
  return (...channels) =>
    guard.call(
      "configureExecutionBurst",
      async () => readBurstResult(await own.configureExecutionBurst?.(...channels), guard, onFault),
      failedBurst,
    );
}

/** Starts a burst whose answers are checked as those of `execute` are. `name`: of the device. */
export async function openBurst(
  own: PreparedModel,
  guard: Guard,
  reader: AnswerReader,
  name: string,
): Promise<OpenedBurst> {
  const allocateShared = sharedMemoryOf(own);
  let created: CreateBurstResult | undefined;
  const abandon = ({ message }: Refusal) => created?.burst?.abandon(message);
  created = await createBurst(configureBurst(own, guard, abandon), { allocate: allocateShared });
  const { burst } = created;
  if (burst === null) return created;
  return {
    ...created,
    ...(allocateShared && { allocateShared }),
    burst: {
      ...burst,
      async compute(request, options) {
        const { fallback, ...answer } = await burst.compute(request, options);
        // A call on the prepared model finds the service again.
        const isLost = answer.status === ErrorStatus.DEVICE_UNAVAILABLE && own.isLost === true;
        if (fallback || isLost) return { ...answer, fallback: true };
        try {
          return { ...reader.read(answer, reader.expect(request), omittingShapes), fallback };
        } catch (error) {
          return { ...failedExecution(failureOf(`${name}: burst`, error)), fallback };
        }
      },
    },
  };
}
