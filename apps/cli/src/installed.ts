/** Counterpart of `checkout.ts` in a build: there is no checkout. */
import type { Checkout } from "./checkout.ts";

/** Not a checkout. */
export const checkout: Checkout | undefined = undefined;
