export { StateKeyError } from '../../state/state-key.js';
export { StoreBusyError, StoreCorruptError, StoreFailedError, StoreOutdatedError } from '../store-error.js';
export type { FileOptions } from './options.js';
export { FileSessionStore, type FileSessionStoreOptions } from './session/store.js';
export { FileStateStore, type FileStateStoreOptions } from './state-store.js';
