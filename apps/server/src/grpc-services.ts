/**
 * The services that clients and orchestrators expect of every gRPC server: health (grpc.health.v1), and the definitions of its
 * services (reflection).
 */
import type { PackageDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { protoPath as healthFile, service as healthService } from "grpc-health-check";
import { type Clock, systemClock } from "./clock.ts";
import { RequestError } from "./errors.ts";
import { type DefinedMethod, decode, methodIn } from "./grpc-definition.ts";
import type { Method, StreamCall } from "./grpc-method.ts";
import type { Service } from "./service.ts";

type ServingStatus = "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";

interface HealthRequest {
  readonly service: string;
}

/** The definition of the health service. */
export { healthFile };

/** Milliseconds between two checks of watched names. */
const watchInterval = 500;

/** Maximum messages of a call of reflection. */
const reflectionMessages = 1000;

/** The health service. Its services are "" and `served`, which are the server, and the names of models. It needs no token. */
export function healthMethods(
  service: Service,
  served: string,
  messageLimit: number,
  clock: Clock = systemClock,
): readonly Method[] {
  const statusOf = (name: string): ServingStatus => {
    const isKnown = name === "" || name === served;
    const isReady = isKnown ? service.isReady : service.hasReadyModel(name);
    if (isReady === undefined) return "SERVICE_UNKNOWN";
    return isReady && !service.isDraining ? "SERVING" : "NOT_SERVING";
  };
  const watches = createWatches(statusOf, () => service.isDraining, clock);
  const check = methodIn(healthService, "check");
  const watch = methodIn(healthService, "watch");
  const nameOf = (bytes: Uint8Array) => decode<HealthRequest>(check.requestDeserialize, bytes).service;
  const answerOf = (status: ServingStatus) => check.responseSerialize({ status });
  return [
    {
      ...{ path: check.path, isOpen: true, messageLimit },
      async answer(bytes) {
        const name = nameOf(bytes);
        const found = statusOf(name);
        if (found !== "SERVICE_UNKNOWN") return answerOf(found);
        throw new RequestError("unknown", `there is no model "${name}", or it is not loaded`);
      },
    },
    {
      ...{ path: watch.path, isOpen: true, messageLimit, messages: 1 },
      open: (call) => ({
        message: (bytes) => watches.add(nameOf(bytes), call, (status) => call.send(answerOf(status))),
        half() {},
      }),
    },
  ];
}

interface Watch {
  readonly call: StreamCall;
  tell(status: ServingStatus): void;
}

/** Creates the watches of health. All watches of one name share one check, and names without watches have none. */
function createWatches(statusOf: (name: string) => ServingStatus, isEnding: () => boolean, clock: Clock) {
  const names = new Map<string, { status: ServingStatus; readonly watches: Set<Watch> }>();
  let isLooking = false;
  const look = () => {
    isLooking = false;
    for (const [name, watched] of names) {
      const found = statusOf(name);
      if (found !== watched.status) for (const { tell } of watched.watches) tell(found);
      watched.status = found;
      // The server ends when its calls have ended.
      if (isEnding()) for (const { call } of watched.watches) call.end();
    }
    lookLater();
  };
  const lookLater = () => {
    if (isLooking || names.size === 0) return;
    isLooking = true;
    clock.after(watchInterval, look);
  };
  return {
    add(name: string, call: StreamCall, tell: Watch["tell"]) {
      const watched = names.get(name) ?? { status: statusOf(name), watches: new Set<Watch>() };
      names.set(name, watched);
      const watch: Watch = { call, tell };
      watched.watches.add(watch);
      call.signal.addEventListener("abort", () => {
        watched.watches.delete(watch);
        if (watched.watches.size === 0) names.delete(name);
      });
      tell(watched.status);
      lookLater();
    },
  };
}

/** A method of reflection as its package implements it: on a stream of grpc-js. */
type Implementation = (stream: {
  on(event: "data" | "end", call: (message: object) => void): void;
  write(message: object): void;
  end(): void;
}) => void;

/** Returns the services by which clients such as grpcurl ask for definitions, without a token: the definitions are public. */
export function reflectionMethods(definitions: PackageDefinition, messageLimit: number): readonly Method[] {
  const methods: Method[] = [];
  const add = (service: Readonly<Record<string, DefinedMethod>>, implementations: object) => {
    const implemented = new Map<string, Implementation>(Object.entries(implementations));
    for (const name of Object.keys(service)) {
      const { path, requestDeserialize, responseSerialize } = methodIn(service, name);
      const implementation = implemented.get(name);
      if (implementation === undefined) continue;
      methods.push({
        ...{ path, isOpen: true, messageLimit, messages: reflectionMessages },
        open(call) {
          const calls = { data: (_: object) => {}, end: (_: object) => {} };
          implementation({
            on: (event, own) => {
              calls[event] = own;
            },
            write: (message) => call.send(responseSerialize(message)),
            end: () => call.end(),
          });
          return {
            message: (bytes) => calls.data(decode(requestDeserialize, bytes)),
            half: () => calls.end({}),
          };
        },
      });
    }
  };
  // The package uses only `addService` of a server.
  new ReflectionService(definitions).addToServer({ addService: add } as never);
  return methods;
}
