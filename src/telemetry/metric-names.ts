/** Counter, by `action` (`register`, `unregister`) and `extension_id`. */
export const EXTENSION_REGISTRATION_TOTAL = 'extension.registration.total';
/** Histogram in milliseconds, by `callback_type` and `extension_id`. */
export const EXTENSION_CALLBACK_DURATION_MS = 'extension.callback.duration_ms';
/** Counter, by `callback_type`, `extension_id` and `outcome` (`success`, `error`, `short_circuit`). */
export const EXTENSION_CALLBACK_TOTAL = 'extension.callback.total';
/** Counter, by `operation` (`get`, `set`, `clear`) and `extension_id`. */
export const EXTENSION_STATE_OPERATIONS = 'extension.state.operations';
/** Histogram of the bytes of each value stored, by `extension_id`. */
export const EXTENSION_STATE_SIZE_BYTES = 'extension.state.size_bytes';
/** Counter of values that made room for others, by `extension_id`. */
export const EXTENSION_STATE_EVICTIONS = 'extension.state.evictions';
