/** The labels of a metric, such as `{ extension_id: 'notes' }`. */
export type MetricLabels = Readonly<Record<string, string>>;

/**
 * Receives metrics of the library. Has only two methods, so that any metrics library can implement it. If a method
 * throws, the error is logged and ignored.
 */
export interface MetricsSink {
  /** Adds `value` to the counter with this name and these labels. */
  counter(name: string, value: number, labels: MetricLabels): void;
  /** Records one value in the histogram with this name and these labels. */
  histogram(name: string, value: number, labels: MetricLabels): void;
}

/**
 * Name of the counter of registered and removed extensions. Labels: `action` (`register`, `unregister`) and
 * `extension_id`.
 */
export const EXTENSION_REGISTRATION_TOTAL = 'extension.registration.total';
/**
 * Name of the histogram of the durations of extension callbacks, in milliseconds. Labels: `callback_type` and
 * `extension_id`.
 */
export const EXTENSION_CALLBACK_DURATION_MS = 'extension.callback.duration_ms';
/**
 * Name of the counter of calls of extension callbacks. Labels: `callback_type`, `extension_id` and `outcome`
 * (`success`, `error`, `short_circuit`).
 */
export const EXTENSION_CALLBACK_TOTAL = 'extension.callback.total';
/**
 * Name of the counter of operations on extension state. Labels: `operation` (`get`, `set`, `clear`) and `extension_id`.
 */
export const EXTENSION_STATE_OPERATIONS = 'extension.state.operations';
/** Name of the histogram of the size of each stored value of extension state, in bytes. Label: `extension_id`. */
export const EXTENSION_STATE_SIZE_BYTES = 'extension.state.size_bytes';
/**
 * Name of the counter of values that were deleted from extension state to make room for others. Label: `extension_id`.
 */
export const EXTENSION_STATE_EVICTIONS = 'extension.state.evictions';
