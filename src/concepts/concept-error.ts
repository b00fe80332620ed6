import { KeelsonError } from '../errors.js';

/** The program of `commandContext` is missing or cannot be started. */
export class ConceptCommandUnavailableError extends KeelsonError {
  readonly code = 'ERR_CONCEPT_COMMAND_UNAVAILABLE';

  constructor(command: string, problem: string) {
    super(
      `The concept command "${command}" is not available: ${problem}. Install it, or pass a different \`buildContext\`.`,
    );
  }
}

/** The program of `commandContext` failed or timed out. */
export class ConceptCommandError extends KeelsonError {
  readonly code = 'ERR_CONCEPT_COMMAND';
  /** The end of the program's output to standard error. */
  readonly stderr: string;

  constructor(command: string, problem: string, stderr: string) {
    const output = stderr.trim().slice(-500);
    super(`The concept command "${command}" failed (${problem})${output === '' ? '.' : `: ${output}`}`);
    this.stderr = stderr;
  }
}
