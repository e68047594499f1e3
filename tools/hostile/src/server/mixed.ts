/**
 * Honest clients among hostile ones: all of their answers must be right. The increase of their times is reported, not judged:
 * it depends on the machine.
 */
import { startSource } from "@nnhal/test-kit/processes";
import { sourceOf } from "../programs.ts";
import type { Kind } from "../surface.ts";
import { type ThreadTime, threadTimesOf } from "../watch.ts";
import type { Order } from "./assailants.ts";
import { askHonestly, quantileOf, type Seen } from "./honest.ts";
import type { ServerAddress } from "./peers.ts";

/** Honest clients, each with a connection. The hostile ones have from 100 to 400. */
const clients = 100;
/** Seconds without hostile clients, and the least with them. */
const [quietTime, leastTime] = [1, 2];

/** `pid`: the process of the server. */
export function makeMixed(address: ServerAddress, pid: number | undefined): Kind {
  return {
    name: "mixed",
    async send(random, signal, note) {
      // A server that has just begun still compiles its code.
      await askFor(address, random, AbortSignal.timeout(quietTime * 500));
      const quiet = await askFor(address, random, AbortSignal.timeout(quietTime * 1000));
      const order: Order = { address, seconds: 3600, seed: Math.floor(random() * 2 ** 31) };
      const assailants = startSource(sourceOf("server/assailants.ts"), [JSON.stringify(order)]);
      try {
        await assailants.says("ready");
        const least = AbortSignal.timeout(leastTime * 1000);
        const before = threadTimesOf(pid);
        const attacked = await askFor(address, random, allOf([signal, least]));
        note(textOf(quiet, attacked));
        note(threadsText(pid, before));
        const wrong = [...quiet.wrong, ...attacked.wrong];
        if (wrong.length > 0)
          throw new Error(`${wrong.length} faults, the first of which: ${wrong.slice(0, 5).join("; ")}`);
        if (attacked.times.length === 0) throw new Error("no honest request was computed");
      } finally {
        assailants.child.kill("SIGKILL");
        await assailants.ended;
      }
    },
  };
}

function askFor(address: ServerAddress, random: () => number, signal: AbortSignal): Promise<Seen> {
  return askHonestly(address, clients, random, signal);
}

/** Aborts when all have. */
function allOf(signals: readonly AbortSignal[]): AbortSignal {
  const all = new AbortController();
  const look = () => {
    if (signals.every(({ aborted }) => aborted)) all.abort();
  };
  for (const signal of signals) signal.addEventListener("abort", look, { once: true });
  look();
  return all.signal;
}

/**
 * Describes the work of the server's busiest threads since `before`: if they waited for a processor, the machine was too slow.
 */
function threadsText(pid: number | undefined, before: ReadonlyMap<string, ThreadTime>): string {
  const none = { computed: 0, waited: 0 };
  const spent = [...threadTimesOf(pid)].map(([id, { computed, waited }]) => {
    const earlier = before.get(id) ?? none;
    const name = id === String(pid) ? "main" : id;
    return { name, computed: computed - earlier.computed, waited: waited - earlier.waited };
  });
  const busiest = spent.sort((left, right) => right.computed - left.computed).slice(0, 4);
  const texts = busiest.map(
    ({ name, computed, waited }) => `${name} computed ${Math.round(computed)} ms and waited ${Math.round(waited)} ms`,
  );
  return `threads of the server: ${texts.join(", ")}`;
}

function textOf(quiet: Seen, attacked: Seen): string {
  const times = ({ times, busy }: Seen) => {
    const [median, late, most] = [0.5, 0.99, 1].map((share) => Math.round(quantileOf(times, share) * 10) / 10);
    return `${times.length} requests, median ${median} ms, p99 ${late} ms, at most ${most} ms, ${busy} refused as busy`;
  };
  const ratio = quantileOf(attacked.times, 0.99) / quantileOf(quiet.times, 0.99);
  return `quiet: ${times(quiet)}\n  attacked: ${times(attacked)}; p99 is ${ratio.toFixed(1)} times the quiet one`;
}
