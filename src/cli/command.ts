/** A command of the `keelson` program. */
export interface Command {
  /** Its name and arguments, as the usage text shows them. */
  readonly usage: string;
  /** Says in a sentence or two what the command does. */
  readonly summary: string;
  /** Runs it with the arguments after its name. Returns the exit code, or `'usage'` for arguments it does not know. */
  run(args: readonly string[]): Promise<number | 'usage'>;
}
