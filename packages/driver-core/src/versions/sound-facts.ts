/** The facts of a driver or device: queries never throw, and their answers keep the rules of the HAL. */
import { type Device, DeviceStatus, ErrorStatus, type Outcome, type SupportedOperations } from "@nnhal/types";
import {
  hasFields,
  readCacheFileCounts,
  readCapabilities,
  readDeviceStatus,
  readDeviceType,
  readExtensions,
  readOutcome,
  readSupport,
  readVersionString,
  type UncheckedFields,
} from "@nnhal/validation";
import { atOnce, failure, refusalOf } from "./callback.ts";
import { type AnswerLimits, inTime } from "./in-time.ts";
import { noCapabilities } from "./old-driver.ts";

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

/** See the file's head. `name`: names the device in messages. `limits`: of waits for what can come later. */
export function soundFacts(own: Facts, name: string, limits: AnswerLimits): Facts {
  const query = <Value extends object>(
    method: string,
    call: () => unknown,
    read: (answer: UncheckedFields) => Value,
    nothing: Value,
  ): Outcome & Value => {
    try {
      const answer: unknown = atOnce(call());
      const { status, message } = readOutcome(answer);
      const value = status === ErrorStatus.NONE && hasFields(answer) ? read(answer) : nothing;
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
        ({ capabilities }) => ({ capabilities: readCapabilities(capabilities) }),
        { capabilities: noCapabilities },
      ),
    getType: () =>
      query(
        "getType",
        () => own.getType(),
        // An older driver has none.
        ({ type }) => ({ type: readDeviceType(type, true) }),
        { type: 0 },
      ),
    getVersionString: () =>
      query(
        "getVersionString",
        () => own.getVersionString(),
        ({ version }) => ({ version: readVersionString(version) }),
        { version: "" },
      ),
    getSupportedExtensions: () =>
      query(
        "getSupportedExtensions",
        () => own.getSupportedExtensions(),
        ({ extensions }) => ({ extensions: readExtensions(extensions) }),
        { extensions: [] },
      ),
    getNumberOfCacheFilesNeeded: () =>
      query("getNumberOfCacheFilesNeeded", () => own.getNumberOfCacheFilesNeeded(), readCacheFileCounts, {
        numModelCache: 0,
        numDataCache: 0,
      }),
    getStatus() {
      try {
        return readDeviceStatus(atOnce(own.getStatus()));
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
      const what = "getSupportedOperations";
      const read = (answer: unknown): SupportedOperations =>
        query<Omit<SupportedOperations, keyof Outcome>>(
          what,
          () => answer,
          (fields) => readSupport(fields, operations),
          nothing,
        );
      let answer: unknown;
      try {
        answer = own.getSupportedOperations(model);
      } catch (error) {
        return { ...failure(`${name}: ${what}`, error), ...nothing };
      }
      if (!(answer instanceof Promise)) return read(answer);
      const failed = (outcome: Outcome): SupportedOperations => ({ ...outcome, ...nothing });
      return inTime({ what: `${name}: ${what}`, answer: answer.then(read), failed }, limits);
    },
  };
}
