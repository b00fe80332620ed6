import { KeelsonError } from '../errors.js';

/** The runtime is closed, or was closed meanwhile. */
export class RuntimeClosedError extends KeelsonError {
  readonly code = 'ERR_RUNTIME_CLOSED';

  constructor() {
    super('The runtime is closed; call `loadRuntime` again for another one.');
  }
}
