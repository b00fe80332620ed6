/** A command of the `keelson` program. */
export interface Command {
  /** The name and the arguments of the command, for the usage text. */
  readonly usage: string;
  /** One or two sentences about the command, for the usage text. */
  readonly summary: string;
  /** Runs the command with the arguments after its name. Returns the exit code, or `'usage'` for unknown arguments. */
  run(args: readonly string[]): Promise<number | 'usage'>;
}
