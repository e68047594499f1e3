/** The counterpart of `checkout.ts` in a build: there is no checkout. */
import type { Thread } from "./checkout.ts";

/** Not a checkout. */
export const checkout: Thread | undefined = undefined;
