import { KeelsonError } from '../errors.js';

/** The program that knows about concepts is not there, or cannot be started. */
export class ConceptCommandUnavailableError extends KeelsonError {
  readonly code = 'ERR_CONCEPT_COMMAND_UNAVAILABLE';

  constructor(command: string, problem: string) {
    super(
      `The concept command "${command}" is not available: ${problem}. Install it, or give another \`buildContext\`.`,
    );
  }
}

/** The program that knows about concepts failed. */
export class ConceptCommandError extends KeelsonError {
  readonly code = 'ERR_CONCEPT_COMMAND';
  /** The end of what it wrote to its standard error. */
  readonly stderr: string;

  constructor(command: string, problem: string, stderr: string) {
    const said = stderr.trim().slice(-500);
    super(`The concept command "${command}" failed (${problem})${said === '' ? '.' : `: ${said}`}`);
    this.stderr = stderr;
  }
}
