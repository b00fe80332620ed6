import { KeelsonError } from '../errors.js';

/** Thrown if the runtime is closed, or is closed during the call. */
export class RuntimeClosedError extends KeelsonError {
  readonly code = 'ERR_RUNTIME_CLOSED';

  constructor() {
    super('The runtime is closed. Call `loadRuntime` to create another one.');
  }
}
