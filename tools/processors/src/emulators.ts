/** Looks for what emulates processors on this machine. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Emulators } from "./processors.ts";

/** Debian's cross libraries lie here. */
export const armLibraries = "/usr/aarch64-linux-gnu";

/** Looks. Nothing is installed. */
export function findEmulators(environment: NodeJS.ProcessEnv = process.env): Emulators {
  const find = (name: string) =>
    (environment.PATH ?? "")
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find((path) => existsSync(path));
  return {
    platform: process.platform,
    arch: process.arch,
    qemu: { x64: find("qemu-x86_64"), arm64: find("qemu-aarch64") },
    hasArmLibraries: ["libc.so.6", "libstdc++.so.6"].every((name) => existsSync(join(armLibraries, "lib", name))),
    namespace: process.platform === "linux" ? (namespaces.find(isPermitted) ?? []) : [],
  };
}

/** As root there needs to be no namespace of users, which some containers forbid. */
const namespaces = [
  ["unshare", "--mount"],
  ["unshare", "--user", "--map-root-user", "--mount"],
];

function isPermitted([program = "", ...args]: readonly string[]): boolean {
  const mount = ["sh", "-c", "mount --bind /proc/version /proc/cpuinfo"];
  return spawnSync(program, [...args, ...mount], { stdio: "ignore", timeout: 10_000 }).status === 0;
}
