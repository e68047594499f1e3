/**
 * Runs before each test file. The file before it, in the same process, may have removed a folder with a socket in it: if the last file that
 * was looked at is a socket or a pipe, Node.js does not follow the links behind which pnpm installs packages (nodejs/node, issue 51142).
 */
import { lstatSync } from "node:fs";

lstatSync("/");
