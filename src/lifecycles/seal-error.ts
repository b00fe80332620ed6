import { KeelsonError, type KeelsonErrorOptions } from '../errors.js';

/**
 * The reason why a sealed run was refused. `malformed`: the string is not a sealed run. `version`: it has another
 * version of the format. `forged`: it was signed with another key, or was changed. `expired`: its time has passed.
 * `agent`: it belongs to another agent. `used`: `useOnce` refused its id.
 */
export type SealProblem = 'malformed' | 'version' | 'forged' | 'expired' | 'agent' | 'used';

/** Thrown by `openRun` if a sealed run must not be resumed. The message contains nothing from the sealed run. */
export class SealInvalidError extends KeelsonError {
  readonly code = 'ERR_SEAL_INVALID';
  readonly problem: SealProblem;

  constructor(problem: SealProblem, message: string, options?: KeelsonErrorOptions) {
    super(`The sealed run was refused: ${message}`, options);
    this.problem = problem;
  }
}
