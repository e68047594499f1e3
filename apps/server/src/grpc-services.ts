/** What clients and orchestrators expect of every gRPC server: health (grpc.health.v1), and the definitions of its services (reflection). */
import { type handleServerStreamingCall, type handleUnaryCall, type Server, status } from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { protoPath as healthFile, service as healthService } from "grpc-health-check";
import { systemClock } from "./clock.ts";
import { RequestError } from "./errors.ts";
import type { Service } from "./service.ts";

type ServingStatus = "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";

interface HealthRequest {
  readonly service: string;
}

interface HealthResponse {
  readonly status: ServingStatus;
}

/** The definition of the health service. */
export { healthFile };

/** Milliseconds between two looks at what is watched. */
const watchInterval = 500;

/** Adds the health service. Its services are "" and `served`, which are the server, and the names of models. It needs no token. */
export function addHealth(server: Server, service: Service, served: string, clock = systemClock): void {
  const statusOf = (name: string): ServingStatus => {
    try {
      const isReady = name === "" || name === served ? service.isReady : service.isModelReady(name, undefined);
      return isReady && !service.isDraining ? "SERVING" : "NOT_SERVING";
    } catch (error) {
      if (error instanceof RequestError) return "SERVICE_UNKNOWN";
      throw error;
    }
  };
  const check: handleUnaryCall<HealthRequest, HealthResponse> = ({ request }, answer) => {
    const found = statusOf(request.service);
    if (found !== "SERVICE_UNKNOWN") return answer(null, { status: found });
    answer({ code: status.NOT_FOUND, details: `there is no model "${request.service}", or it is not loaded` });
  };
  const watch: handleServerStreamingCall<HealthRequest, HealthResponse> = (call) => {
    let told: ServingStatus | undefined;
    let stop = () => {};
    const look = () => {
      const found = statusOf(call.request.service);
      if (found !== told) call.write({ status: found });
      told = found;
      // The server ends when its calls have ended.
      if (service.isDraining) return call.end();
      stop = clock.after(watchInterval, look);
    };
    call.on("cancelled", () => stop());
    call.on("close", () => stop());
    look();
  };
  server.addService(healthService, { check, watch });
}

/** Adds the services by which clients such as grpcurl ask for definitions, without a token: what they tell is published. */
export function addReflection(server: Server, definitions: PackageDefinition): void {
  new ReflectionService(definitions).addToServer(server);
}
