/**
 * Requests as packets of FmqRequestDatum, and back.
 */
import type {
  FmqRequestDatum,
  FmqRequestOperandInformation,
  MeasureTiming,
  Request,
  RequestArgument,
} from "@nnhal/types";
import { decoded, type Malformed, type PacketCursor, packetCursor, repeat } from "./malformed.ts";

/** The content of a request packet: a request whose pools are slots. */
export interface BurstRequest {
  readonly inputs: readonly RequestArgument[];
  readonly outputs: readonly RequestArgument[];
  /** The slot of each pool. */
  readonly slots: readonly number[];
  readonly measure: MeasureTiming;
}

/** The number of data in a request's packet. */
export function requestPacketSize({ inputs, outputs, pools }: Request): number {
  let size = 2 + inputs.length + outputs.length + pools.length;
  for (const { dimensions } of inputs) size += dimensions.length;
  for (const { dimensions } of outputs) size += dimensions.length;
  return size;
}

/** A request as a packet. `slots`: one for each pool. */
export function serializeRequest(
  request: Request,
  measure: MeasureTiming,
  slots: readonly number[],
): FmqRequestDatum[] {
  const { inputs, outputs } = request;
  const packetInformation = {
    packetSize: requestPacketSize(request) - request.pools.length + slots.length,
    numberOfInputOperands: inputs.length,
    numberOfOutputOperands: outputs.length,
    numberOfPools: slots.length,
  };
  const data: FmqRequestDatum[] = [{ kind: "packetInformation", packetInformation }];
  for (const argument of inputs) {
    data.push({ kind: "inputOperandInformation", inputOperandInformation: informationOf(argument) });
    for (const inputOperandDimensionValue of argument.dimensions) {
      data.push({ kind: "inputOperandDimensionValue", inputOperandDimensionValue });
    }
  }
  for (const argument of outputs) {
    data.push({ kind: "outputOperandInformation", outputOperandInformation: informationOf(argument) });
    for (const outputOperandDimensionValue of argument.dimensions) {
      data.push({ kind: "outputOperandDimensionValue", outputOperandDimensionValue });
    }
  }
  for (const poolIdentifier of slots) data.push({ kind: "poolIdentifier", poolIdentifier });
  data.push({ kind: "measureTiming", measureTiming: measure });
  return data;
}

function informationOf({ hasNoValue, location, dimensions }: RequestArgument): FmqRequestOperandInformation {
  return { hasNoValue, location, numberOfDimensions: dimensions.length };
}

/** Decodes a request packet, or reports its first fault. The request is not validated here. */
export function deserializeRequest(data: readonly FmqRequestDatum[]): BurstRequest | Malformed {
  return decoded(readRequest, data);
}

function readRequest(data: readonly FmqRequestDatum[]): BurstRequest {
  const cursor = packetCursor(data);
  const { packetInformation } = cursor.take("packetInformation");
  const { packetSize, numberOfInputOperands, numberOfOutputOperands, numberOfPools } = packetInformation;
  cursor.expectSize(packetSize);
  // Counts come from the other end: check that so many data are there before a count is used.
  cursor.need(numberOfInputOperands + numberOfOutputOperands + numberOfPools + 1, "operands, pools and measureTiming");
  const inputs = repeat(numberOfInputOperands, () =>
    takeArgument(
      cursor,
      () => cursor.take("inputOperandInformation").inputOperandInformation,
      () => cursor.take("inputOperandDimensionValue").inputOperandDimensionValue,
    ),
  );
  const outputs = repeat(numberOfOutputOperands, () =>
    takeArgument(
      cursor,
      () => cursor.take("outputOperandInformation").outputOperandInformation,
      () => cursor.take("outputOperandDimensionValue").outputOperandDimensionValue,
    ),
  );
  const slots = repeat(numberOfPools, () => cursor.take("poolIdentifier").poolIdentifier);
  const { measureTiming } = cursor.take("measureTiming");
  cursor.end();
  return { inputs, outputs, slots, measure: measureTiming };
}

function takeArgument(
  cursor: PacketCursor<FmqRequestDatum>,
  takeInformation: () => FmqRequestOperandInformation,
  takeDimension: () => number,
): RequestArgument {
  const { hasNoValue, location, numberOfDimensions } = takeInformation();
  cursor.need(numberOfDimensions, "dimensions");
  return { hasNoValue, location, dimensions: repeat(numberOfDimensions, takeDimension) };
}
