/** The facts of a driver or device: queries never throw, and their answers keep the rules of the HAL. */
import {
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type Outcome,
  type SupportedOperations,
} from "@nnhal/types";
import { show } from "@nnhal/validation";
import { atOnce, failure, refusalOf } from "./callback.ts";
import { noCapabilities } from "./old-driver.ts";
import { answerOf, cacheFileCount, capabilitiesOf, extensionsOf, supportedOf } from "./sound-answers.ts";

/** The queries of a device. */
export type Facts = Pick<
  Device,
  | "getCapabilities"
  | "getType"
  | "getVersionString"
  | "getSupportedExtensions"
  | "getNumberOfCacheFilesNeeded"
  | "getStatus"
  | "getSupportedOperations"
>;

/** See the file's head. `name`: names the device in messages. */
export function soundFacts(own: Facts, name: string): Facts {
  const query = <Value extends object>(
    method: string,
    call: () => unknown,
    read: (answer: ReturnType<typeof answerOf>) => Value,
    nothing: Value,
  ): Outcome & Value => {
    try {
      const answer = answerOf(atOnce(call()));
      const { status, message } = answer;
      const value = status === ErrorStatus.NONE ? read(answer) : nothing;
      return { status, ...(message !== undefined && { message }), ...value };
    } catch (error) {
      return { ...failure(`${name}: ${method}`, error), ...nothing };
    }
  };
  return {
    getCapabilities: () =>
      query(
        "getCapabilities",
        () => own.getCapabilities(),
        ({ capabilities }) => ({ capabilities: capabilitiesOf(capabilities) }),
        { capabilities: noCapabilities },
      ),
    getType: () =>
      query(
        "getType",
        () => own.getType(),
        ({ type }) => {
          const known = type === 0 ? type : Object.values(DeviceType).find((code) => code === type);
          if (known === undefined) throw new Error(`it answered type ${show(type)}, which is not a DeviceType`);
          return { type: known };
        },
        { type: 0 },
      ),
    getVersionString: () =>
      query(
        "getVersionString",
        () => own.getVersionString(),
        ({ version }) => {
          if (typeof version !== "string")
            throw new Error(`it answered version ${show(version)} where a text is needed`);
          return { version };
        },
        { version: "" },
      ),
    getSupportedExtensions: () =>
      query(
        "getSupportedExtensions",
        () => own.getSupportedExtensions(),
        ({ extensions }) => ({ extensions: extensionsOf(extensions) }),
        { extensions: [] },
      ),
    getNumberOfCacheFilesNeeded: () =>
      query(
        "getNumberOfCacheFilesNeeded",
        () => own.getNumberOfCacheFilesNeeded(),
        ({ numModelCache, numDataCache }) => ({
          numModelCache: cacheFileCount(numModelCache, "numModelCache"),
          numDataCache: cacheFileCount(numDataCache, "numDataCache"),
        }),
        { numModelCache: 0, numDataCache: 0 },
      ),
    getStatus() {
      try {
        const status = atOnce(own.getStatus());
        return Object.values(DeviceStatus).find((code) => code === status) ?? DeviceStatus.UNKNOWN;
      } catch {
        return DeviceStatus.UNKNOWN;
      }
    },
    getSupportedOperations(model) {
      let operations = 0;
      const nothing = { supported: [], reasons: [] };
      const refusal = refusalOf(() => {
        operations = model.main.operations.length;
        return undefined;
      });
      if (refusal !== undefined) return { ...refusal, ...nothing };
      return query<Omit<SupportedOperations, keyof Outcome>>(
        "getSupportedOperations",
        () => own.getSupportedOperations(model),
        ({ supported, reasons, dispatches }) => {
          const sound = supportedOf(supported, operations);
          const given: readonly unknown[] = Array.isArray(reasons) ? reasons : [];
          const texts = sound.map((_, index) => {
            const reason = given[index];
            return typeof reason === "string" ? reason : undefined;
          });
          const areCounts =
            Array.isArray(dispatches) && dispatches.length === operations && dispatches.every((count) => count >= 0);
          return { supported: sound, reasons: texts, ...(areCounts && { dispatches }) };
        },
        nothing,
      );
    },
  };
}
