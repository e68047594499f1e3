/**
 * Constants of the HAL.
 */

/** Length in bytes of a cache token (HAL 1.2 Constant). */
export const BYTE_SIZE_OF_CACHE_TOKEN = 32;

/** Most model cache files, and most data cache files, that a driver may ask for (HAL 1.2 Constant). */
export const MAX_NUMBER_OF_CACHE_FILES = 32;

/** Default and maximum duration of one WHILE loop, in nanoseconds (HAL 1.3 LoopTimeoutDurationNs). */
export const LoopTimeoutDurationNs = { DEFAULT: 2_000_000_000n, MAXIMUM: 15_000_000_000n } as const;

/**
 * Bits of an extension's code: the upper ones name the extension, the lower ones its type (HAL 1.2
 * ExtensionTypeEncoding).
 */
export const ExtensionTypeEncoding = { HIGH_BITS_PREFIX: 16, LOW_BITS_TYPE: 16 } as const;

/** A duration that was not measured, in microseconds (HAL 1.2 Timing: UINT64_MAX). */
export const TIMING_NOT_MEASURED = 0xffff_ffff_ffff_ffffn;

/** The type of a device older than HAL 1.2, which cannot report it. Not a member of DeviceType (NNAPI DEVICE_UNKNOWN). */
export const DEVICE_TYPE_UNKNOWN = 0;
