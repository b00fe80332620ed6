export { StoreBusyError, StoreCorruptError, StoreFailedError, StoreOutdatedError } from '../store-error.js';
export { FileSessionStore, type FileSessionStoreOptions } from './session/store.js';
export { FileStateStore, type FileStateStoreOptions } from './state-store.js';
