/**
 * Results as packets of FmqResultDatum, and back.
 */
import type { ErrorStatus, FmqResultDatum, OutputShape, Timing } from "@nnhal/types";
import { decoded, type Malformed, packetCursor, repeat } from "./malformed.ts";

/** The content of a result packet. */
export interface BurstResultPacket {
  readonly status: ErrorStatus;
  readonly outputShapes: readonly OutputShape[];
  readonly timing: Timing;
}

/** A result as a packet. `status`: one that HAL 1.2 knows. */
export function serializeResult({ status, outputShapes, timing }: BurstResultPacket): FmqResultDatum[] {
  const packetInformation = {
    packetSize: outputShapes.reduce((size, { dimensions }) => size + 1 + dimensions.length, 2),
    errorStatus: status,
    numberOfOperands: outputShapes.length,
  };
  const data: FmqResultDatum[] = [{ kind: "packetInformation", packetInformation }];
  for (const { isSufficient, dimensions } of outputShapes) {
    data.push({
      kind: "operandInformation",
      operandInformation: { isSufficient, numberOfDimensions: dimensions.length },
    });
    for (const operandDimensionValue of dimensions) data.push({ kind: "operandDimensionValue", operandDimensionValue });
  }
  data.push({ kind: "executionTiming", executionTiming: timing });
  return data;
}

/** Decodes a result packet, or reports its first fault. */
export function deserializeResult(data: readonly FmqResultDatum[]): BurstResultPacket | Malformed {
  return decoded(readResult, data);
}

function readResult(data: readonly FmqResultDatum[]): BurstResultPacket {
  const cursor = packetCursor(data);
  const { packetSize, errorStatus, numberOfOperands } = cursor.take("packetInformation").packetInformation;
  cursor.expectSize(packetSize);
  cursor.need(numberOfOperands + 1, "operands and executionTiming");
  const outputShapes = repeat(numberOfOperands, () => {
    const { isSufficient, numberOfDimensions } = cursor.take("operandInformation").operandInformation;
    cursor.need(numberOfDimensions, "dimensions");
    const dimensions = repeat(numberOfDimensions, () => cursor.take("operandDimensionValue").operandDimensionValue);
    return { dimensions, isSufficient };
  });
  const timing = cursor.take("executionTiming").executionTiming;
  cursor.end();
  return { status: errorStatus, outputShapes, timing };
}
