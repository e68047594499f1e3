/** Opens the threads that the backend is asked for. */
import type { Unavailable } from "@nnhal/backend";
import { type OpenedThreads, openThreads } from "@nnhal/backend/threads";
import { openTeam, type Team } from "./team.ts";

/** See `openThreads`. */
export const openTeams = (given: number | string): Promise<OpenedThreads<Team> | Unavailable> =>
  openThreads(given, "NNHAL_WASM_THREADS", openTeam);
