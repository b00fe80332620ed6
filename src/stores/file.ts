export { StateKeyError } from '../state/state-key.js';
export type { FileOptions } from './file-options.js';
export { FileSessionStore, type FileSessionStoreOptions } from './file-session.js';
export { FileStateStore, type FileStateStoreOptions } from './file-state.js';
export { StoreBusyError, StoreCorruptError, StoreFailedError } from './store-error.js';
