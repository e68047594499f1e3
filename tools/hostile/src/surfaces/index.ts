/** All surfaces that can be attacked here. A new one is a file beside this one, and a row here. */
import type { Surface } from "../surface.ts";
import { mixedSurface, serverSurface } from "./server.ts";
import { workerSurface } from "./worker.ts";

const all = [serverSurface, mixedSurface, workerSurface];

export const surfaces: readonly Surface[] = all.filter((surface) => surface !== undefined);
