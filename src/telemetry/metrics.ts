/** The labels of a metric, such as `{ extension_id: 'notes' }`. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Receives metrics. Only two methods, so that any metrics library can implement it. An error is logged and ignored. */
export interface MetricsSink {
  /** Adds `value` to the counter with this name and these labels. */
  counter(name: string, value: number, labels: MetricLabels): void;
  /** Records one value in the histogram with this name and these labels. */
  histogram(name: string, value: number, labels: MetricLabels): void;
}

/** Counter of registrations, with labels `action` (`register`, `unregister`) and `extension_id`. */
export const EXTENSION_REGISTRATION_TOTAL = 'extension.registration.total';
/** Histogram of callback durations in milliseconds, with labels `callback_type` and `extension_id`. */
export const EXTENSION_CALLBACK_DURATION_MS = 'extension.callback.duration_ms';
/**
 * Counter of callbacks, with labels `callback_type`, `extension_id` and `outcome` (`success`, `error`,
 * `short_circuit`).
 */
export const EXTENSION_CALLBACK_TOTAL = 'extension.callback.total';
/** Counter of state operations, with labels `operation` (`get`, `set`, `clear`) and `extension_id`. */
export const EXTENSION_STATE_OPERATIONS = 'extension.state.operations';
/** Histogram of the size of each stored value in bytes, with label `extension_id`. */
export const EXTENSION_STATE_SIZE_BYTES = 'extension.state.size_bytes';
/** Counter of values evicted to make room for others, with label `extension_id`. */
export const EXTENSION_STATE_EVICTIONS = 'extension.state.evictions';
