import { expect, test } from "vitest";
import { withNamespaceConstants } from "./namespace-declarations.ts";

test("a namespace exports constants that are types too as both; types stay types", () => {
  const joined = (status: string) => `declare const Status: { readonly NONE: 0 };
type Status = (typeof Status)[keyof typeof Status];
interface Model {}
type v10_d_Status = Status;
type v10_d_Model = Model;
declare const v10_d_Range: typeof Range;
declare namespace v10_d {
  export { ${status}, type v10_d_Model as Model, v10_d_Range as Range, type Outcome$1 as Outcome };
}
`;
  expect(withNamespaceConstants(joined("type v10_d_Status as Status"))).toBe(joined("Status"));
});
