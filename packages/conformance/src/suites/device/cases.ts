/**
 * The suite `device`: what VTS calls BasicTests and ValidateModel, and the launches of preparations.
 */
import type { SuiteCase } from "../suite-case.ts";
import { clientCases } from "./clients.ts";
import { extensionCases } from "./extensions.ts";
import { factCases } from "./facts.ts";
import { hostileCases } from "./hostile.ts";
import { launchCases } from "./launch.ts";
import { prepareCases } from "./prepare.ts";
import { supportCases } from "./support.ts";
import { validationCases } from "./validation.ts";

export const deviceCases: readonly SuiteCase[] = [
  ...factCases,
  ...supportCases,
  ...prepareCases,
  ...launchCases,
  ...validationCases,
  ...extensionCases,
  ...hostileCases,
  ...clientCases,
];
