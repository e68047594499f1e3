/** @nnhal/service: devices of other processes, found by name in a runtime directory. */
export { type AcceptedClient, type AcceptOptions, acceptClient } from "./accept.ts";
export {
  connectService,
  connectServices,
  type MemoryWay,
  type ServiceDevice,
  type ServiceOptions,
} from "./connect.ts";
export { type FoundServices, findServices } from "./find.ts";
export {
  defaultDirectory,
  isServed,
  listSockets,
  openDirectory,
  protectSocket,
  RegistryError,
  type RuntimeEnvironment,
  removeStale,
  socketPath,
} from "./runtime-directory.ts";
