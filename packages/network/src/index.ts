/**
 * @nnhal/network: networks for applications.
 */
export type { Picture } from "./picture/picture.ts";
export { parseLabels, type ScoredClass } from "./scores.ts";
