/**
 * The parts of a plan, with the bytes that cross their borders.
 */
import type { Explanation, Profile } from "@nnhal/network";
import type { SubgraphView } from "../engine/file-view.ts";

/** Operations that one device computes together. */
export interface PlannedPart {
  readonly device: string;
  readonly operations: number;
  /** Bytes of the inputs of the network and of results of other parts that it reads; undefined if a shape is open. */
  readonly bytesIn: number | undefined;
  /** Bytes of its results that other parts read, or that are outputs of the network. */
  readonly bytesOut: number | undefined;
  /** Milliseconds that the planner expects. */
  readonly predictedTime: number;
  /** Milliseconds of its operations; undefined: they have not been measured. */
  readonly time: number | undefined;
}

/** The parts of a plan. `origins`: for each operation the place of its operator in the subgraph, -1 for one that the import added. */
export function partsOf(
  { tensors, operators, inputs, outputs }: Pick<SubgraphView, "tensors" | "operators" | "inputs" | "outputs">,
  origins: readonly number[],
  { steps }: Pick<Explanation, "steps">,
  profile: Pick<Profile, "operations"> | undefined,
): PlannedPart[] {
  const partOf = new Map<number, number>();
  for (const [part, { operations }] of steps.entries())
    for (const operation of operations) partOf.set(origins[operation] ?? -1, part);
  const writers = new Map<number, number>();
  /** By tensor: the parts that read it. */
  const readers = new Map<number, Set<number>>();
  for (const { index, inputs: read, outputs: written } of operators) {
    const part = partOf.get(index);
    if (part === undefined) continue;
    for (const tensor of written) writers.set(tensor, part);
    for (const tensor of read) readers.set(tensor, (readers.get(tensor) ?? new Set()).add(part));
  }
  const sizeOf = (crossing: readonly number[]) => {
    const sizes = crossing.map((tensor) => tensors[tensor]?.bytes);
    return sizes.reduce((sum, bytes) => (sum === undefined || bytes === undefined ? undefined : sum + bytes), 0);
  };
  return steps.map(({ device = "the runtime", operations, predictedTime }, part) => {
    const isRead = (tensor: number) => readers.get(tensor)?.has(part) === true;
    const given = [...inputs, ...writers.keys()].filter((tensor) => isRead(tensor) && writers.get(tensor) !== part);
    const left = [...writers].flatMap(([tensor, writer]) => {
      const isWanted = outputs.includes(tensor) || [...(readers.get(tensor) ?? [])].some((reader) => reader !== part);
      return writer === part && isWanted ? [tensor] : [];
    });
    const times = operations.map((operation) => profile?.operations[operation]?.time ?? 0);
    return {
      device,
      operations: operations.length,
      bytesIn: sizeOf(given),
      bytesOut: sizeOf(left),
      predictedTime,
      time: profile && times.reduce((sum, time) => sum + time, 0),
    };
  });
}
