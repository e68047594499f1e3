/**
 * Opens any contestant by its name. Peers are loaded here and nowhere else.
 */
import type { Unavailable } from "@nnhal/backend";
import type { DeviceFinder } from "../devices.ts";
import type { Contestant, ContestantId, PeerName, Task } from "./contestant.ts";
import { openDeviceContestant } from "./device-contestant.ts";
import { whyNoPeer } from "./peer-packages.ts";

type OpenPeer = (task: Task) => Promise<Contestant | Unavailable>;

const peers: Readonly<Record<PeerName, OpenPeer>> = {
  onnxruntime: async (task) => (await import("./onnxruntime-peer.ts")).openOnnxruntime(task),
  litert: async (task) => (await import("./litert-peer.ts")).openLitert(task),
  tfjs: async (task) => (await import("./tfjs-peer.ts")).openTfjs(task),
};

/** Those that read the file themselves, and know its shapes only. */
const readers: ReadonlySet<PeerName> = new Set(["litert", "tfjs"]);

/** Opens a contestant for a task. Resolves to the reason if a package is missing. */
export async function openContestant(
  id: ContestantId,
  task: Task,
  finder: Pick<DeviceFinder, "select" | "definitions" | "halVersion">,
): Promise<Contestant | Unavailable> {
  if (id.kind === "device") return openDeviceContestant(id, task, finder);
  if (task.inputShapes !== undefined && readers.has(id.name))
    return { unavailable: "it runs a network in the shapes of the file, not in those of --input-shape" };
  return whyNoPeer(id.name) ?? peers[id.name](task);
}
