/**
 * `@nnhal/utils/node`: what Node.js has and browsers have not, looked up when it is needed. Its declarations name types of Node.js, which an
 * application for browsers need not have.
 */
export { descriptorStats } from "./descriptor-stats.ts";
export { nodeModule, optionalNodeModule } from "./node-module.ts";
export { readRegularFile } from "./read-regular-file.ts";
