/**
 * Imported first by tests that load large packages. A test file before, in the same process, may have removed a folder with a socket in it:
 * if the last file that was looked at is a socket or a pipe, Node.js does not follow the links behind which pnpm installs packages, and loads
 * a package twice (nodejs/node, issue 51142). Looking at another file ends that.
 */
import { lstatSync } from "node:fs";

lstatSync("/");
