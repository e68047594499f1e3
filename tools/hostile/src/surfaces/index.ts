/** All surfaces. A new one is a file beside this one, and a row here. */
import type { Surface } from "../surface.ts";
import { mixedSurface, serverSurface } from "./server.ts";

export const surfaces: readonly Surface[] = [serverSurface, mixedSurface];
