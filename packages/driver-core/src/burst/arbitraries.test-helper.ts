/**
 * Random requests and results, valid or not: everything that a packet can carry.
 */
import { ErrorStatus, MeasureTiming, type RequestArgument, TIMING_NOT_MEASURED } from "@nnhal/types";
import fc from "fast-check";
import type { BurstRequest } from "./request-codec.ts";
import type { BurstResultPacket } from "./result-codec.ts";

const uint32 = fc.oneof(fc.nat({ max: 0xffff_ffff }), fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff));
const int32 = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 0x7fff_ffff, -0x8000_0000));
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: TIMING_NOT_MEASURED }), fc.constantFrom(0n, 1n << 32n, 0xffff_ffffn));
const dimensions = fc.array(uint32, { maxLength: 5 });

const argument: fc.Arbitrary<RequestArgument> = fc.record({
  hasNoValue: fc.boolean(),
  location: fc.record({ poolIndex: uint32, offset: uint32, length: uint32 }),
  dimensions,
});

export const burstRequest: fc.Arbitrary<BurstRequest> = fc.record({
  inputs: fc.array(argument, { maxLength: 4 }),
  outputs: fc.array(argument, { maxLength: 4 }),
  slots: fc.array(int32, { maxLength: 4 }),
  measure: fc.constantFrom(MeasureTiming.NO, MeasureTiming.YES),
});

export const burstResult: fc.Arbitrary<BurstResultPacket> = fc.record({
  status: fc.constantFrom(
    ErrorStatus.NONE,
    ErrorStatus.DEVICE_UNAVAILABLE,
    ErrorStatus.GENERAL_FAILURE,
    ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
    ErrorStatus.INVALID_ARGUMENT,
  ),
  outputShapes: fc.array(fc.record({ dimensions, isSufficient: fc.boolean() }), { maxLength: 5 }),
  timing: fc.record({
    timeOnDevice: fc.oneof(uint64, fc.constant(TIMING_NOT_MEASURED)),
    timeInDriver: uint64,
  }),
});
