/** What `checkout.ts` is to a build: there is no checkout. */
import type { Checkout } from "./checkout.ts";

/** Not a checkout. */
export const checkout: Checkout | undefined = undefined;
