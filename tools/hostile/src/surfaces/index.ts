/** All surfaces that can be attacked here. A new one is a file in this folder, and a row here. */
import type { Surface } from "../surface.ts";
import { cachesSurface } from "./caches.ts";
import { importSurface } from "./import.ts";
import { picturesSurface } from "./pictures.ts";
import { mixedSurface, serverSurface } from "./server.ts";
import { soundsSurface } from "./sounds.ts";
import { workerSurface } from "./worker.ts";

const all = [
  ...[serverSurface, mixedSurface, workerSurface],
  ...[picturesSurface, soundsSurface, importSurface, cachesSurface],
];

export const surfaces: readonly Surface[] = all.filter((surface) => surface !== undefined);
