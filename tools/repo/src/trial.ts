/** Parts that the trials of deployments share: container-trial-main.ts and systemd-trial-main.ts. */
import { readFileSync } from "node:fs";

/** Says whether something is so. Throws if it is not. */
export function expectThat(isSo: boolean, what: string): void {
  console.log(`${isSo ? "ok   " : "FAILED"} ${what}`);
  if (!isSo) throw new Error(what);
}

/** A field of what Linux says about a process, such as `Uid`; undefined if there is no such field. */
export function statusOf(pid: string, field: string): string | undefined {
  return new RegExp(`^${field}:\\s+(\\S+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
}
