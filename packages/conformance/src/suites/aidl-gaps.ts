/** The cases about what AIDL does not have: a device that is driven through it says nothing about them. */

import { noConsumers } from "../versions.ts";

const exactLengths = "AIDL has arguments of exactly the bytes of their values";

/** Names of cases, and why AIDL cannot express them. */
export const aidlGaps: readonly { readonly name: RegExp; readonly reason: string }[] = [
  { name: /^device\/validation: operandNumberOfConsumers$/, reason: noConsumers },
  { name: /: an output with more room than it needs leaves the rest as it is$/, reason: exactLengths },
  { name: /: an output of known shape that does not fit is reported, with the others$/, reason: exactLengths },
  { name: /: more bytes than a tensor takes \(/, reason: exactLengths },
  { name: / launches if an output does not fit, and its callback is told$/, reason: exactLengths },
  { name: /^burst\/service: an output that does not fit is reported$/, reason: exactLengths },
];
