/**
 * Memory of the values of a run, by how long each is needed.
 */
import type { SubgraphView } from "../engine/file-view.ts";

/** For each operator the bytes of the values that exist while it computes: from their writer to their last reader. */
export function liveBytes({ tensors, operators, inputs, outputs }: SubgraphView): number[] {
  const first = new Map<number, number>(inputs.map((tensor) => [tensor, 0]));
  const last = new Map<number, number>();
  for (const { index, inputs: read, outputs: written } of operators) {
    for (const tensor of read) if (first.has(tensor)) last.set(tensor, index);
    for (const tensor of written) {
      if (!first.has(tensor)) first.set(tensor, index);
      last.set(tensor, index);
    }
  }
  for (const tensor of outputs) if (first.has(tensor)) last.set(tensor, operators.length - 1);
  const changes = new Array<number>(operators.length + 1).fill(0);
  for (const [tensor, from] of first) {
    const bytes = tensors[tensor]?.bytes ?? 0;
    const to = (last.get(tensor) ?? from) + 1;
    changes[from] = (changes[from] ?? 0) + bytes;
    changes[to] = (changes[to] ?? 0) - bytes;
  }
  let now = 0;
  return operators.map((_, index) => {
    now += changes[index] ?? 0;
    return now;
  });
}
