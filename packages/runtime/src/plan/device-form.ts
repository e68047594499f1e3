/**
 * The form of a model that devices get, made once for each model: large constants lie in shared pools, and trailing inputs with
 * default values are left out.
 */
import { withoutTrailingDefaults } from "@nnhal/driver-core/partition";
import type { Model } from "@nnhal/types";
import { sealModel } from "@nnhal/validation";
import { withSharedConstants } from "./shared-constants.ts";

/** By model; models are immutable. */
const forms = new WeakMap<Model, Model>();

/** See the file's head. Operations keep their indexes. The form is sealed, so that devices in this process do not validate it again. */
export function deviceForm(model: Model): Model {
  let form = forms.get(model);
  if (form === undefined) {
    const plain = withoutTrailingDefaults(withSharedConstants(model));
    const sealed = sealModel(plain);
    form = "model" in sealed ? sealed.model : plain;
    forms.set(model, form);
    forms.set(form, form);
  }
  return form;
}
