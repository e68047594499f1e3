import { library } from "../../tsup.base.ts";

// Declarations are made from the sources of `@nnhal/types`: in its built declarations the members of V1_0 are types only.
export default library(undefined, { dts: true });
