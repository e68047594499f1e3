/**
 * From devices to steps: operations that are ready are collected for each device, and a step takes all of one device's
 * before another device's turn comes (Android's order). Linear in operations and wires.
 */
import type { Wiring } from "./graph.ts";

/** Operations that run together; `device` is undefined for an interpreted operation, which stands alone. */
export interface Group {
  readonly device: number | undefined;
  readonly operations: readonly number[];
}

/** Groups operations into steps. `deviceCount`: how many devices there are. */
export function groupOperations(
  devices: readonly (number | undefined)[],
  wiring: Wiring,
  deviceCount: number,
): Group[] {
  const waitingFor = wiring.producers.map((producers) => producers.length);
  // One queue for each device and, last, one for interpreted operations.
  const queues: number[][] = Array.from({ length: deviceCount + 1 }, () => []);
  const heads = new Array<number>(deviceCount + 1).fill(0);
  const enqueue = (operation: number) => queues[devices[operation] ?? deviceCount].push(operation);
  waitingFor.forEach((count, operation) => {
    if (count === 0) enqueue(operation);
  });
  const groups: Group[] = [];
  for (;;) {
    let queue = deviceCount;
    while (queue >= 0 && heads[queue] === queues[queue].length) queue--;
    if (queue < 0) return groups;
    const operations: number[] = [];
    do {
      const operation = queues[queue][heads[queue]++];
      operations.push(operation);
      for (const consumer of wiring.consumers[operation]) {
        waitingFor[consumer]--;
        if (waitingFor[consumer] === 0) enqueue(consumer);
      }
      // Interpreted operations are steps of their own.
    } while (queue < deviceCount && heads[queue] < queues[queue].length);
    groups.push({ device: queue === deviceCount ? undefined : queue, operations });
  }
}
