/**
 * From devices to steps: ready operations are queued for each device, and a step contains all ready operations of one
 * device before the next device has its turn (Android's order). Linear in operations and wires.
 */
import { elementAt } from "@nnhal/operations";
import type { Wiring } from "./graph.ts";

/** Operations that run together; `device` is undefined for an interpreted operation, which stands alone. */
export interface Group {
  readonly device: number | undefined;
  readonly operations: readonly number[];
}

/** Operations that are ready for a device; those before the head are in a step already. */
interface Queue {
  readonly device: number;
  readonly operations: number[];
  head: number;
}

/** Groups operations into steps. `deviceCount`: how many devices there are. */
export function groupOperations(
  devices: readonly (number | undefined)[],
  wiring: Wiring,
  deviceCount: number,
): Group[] {
  const waitingFor = wiring.producers.map((producers) => producers.length);
  // One queue for each device and, last, one for interpreted operations.
  const queues = Array.from({ length: deviceCount + 1 }, (_, device): Queue => ({ device, operations: [], head: 0 }));
  const interpreted = elementAt(queues, deviceCount);
  const enqueue = (operation: number) => {
    const device = devices[operation];
    (device === undefined ? interpreted : elementAt(queues, device)).operations.push(operation);
  };
  waitingFor.forEach((count, operation) => {
    if (count === 0) enqueue(operation);
  });
  const groups: Group[] = [];
  for (;;) {
    const queue = queues.findLast(({ operations, head }) => head < operations.length);
    if (queue === undefined) return groups;
    const operations: number[] = [];
    do {
      const operation = elementAt(queue.operations, queue.head++);
      operations.push(operation);
      for (const consumer of elementAt(wiring.consumers, operation)) {
        const left = elementAt(waitingFor, consumer) - 1;
        waitingFor[consumer] = left;
        if (left === 0) enqueue(consumer);
      }
      // Interpreted operations are steps of their own.
    } while (queue !== interpreted && queue.head < queue.operations.length);
    groups.push({ device: queue === interpreted ? undefined : queue.device, operations });
  }
}
