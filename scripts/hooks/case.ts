/** The directories and the session of one case. */
export interface Place {
  readonly workspace: string;
  /** The home directory that all cases share. */
  readonly home: string;
  readonly session: string;
}

/** A call of a tool by the scripted model. `Write` writes the file. Other tools do nothing. */
export interface ToolUse {
  readonly name: 'Bash' | 'Read' | 'Write' | 'Edit' | 'WebFetch' | 'Agent';
  readonly args: Readonly<Record<string, unknown>>;
}

/** The outcome that the documentation of Claude Code and the plugin promise. Absent members are not checked. */
export interface Expected {
  /** The fate of the first tool call. */
  readonly call?: 'runs' | 'denied' | 'asked';
  /** A string that the model reads, as the hook wrote it. */
  readonly seen?: string;
  readonly unseen?: string;
  /** A string of a message to the user. */
  readonly notice?: string;
  readonly modelCalls?: number;
  /** A path in the workspace that does not exist afterwards. */
  readonly gone?: string;
  /** Returns true if the hook had its effect on files. Called after the agent has closed. */
  readonly effect?: (place: Place) => boolean;
}

/** One run of an agent with the hooks of a published plugin. */
export interface HookCase {
  /** The answers of the scripted model. A string is a text. */
  readonly answers: readonly (string | ToolUse)[];
  readonly prompt?: string;
  readonly expected: Expected;
  /** Writes files before the agent starts. */
  readonly prepare?: (place: Place) => void;
  /** Variables of the hooks' environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Cases by the plugin's directory below the corpus. */
export type CasesByPlugin = Readonly<Record<string, readonly HookCase[]>>;

type Rest = Omit<HookCase, 'answers' | 'expected'>;

export const runs = (expected: Omit<Expected, 'call'> = {}): Expected => ({ call: 'runs', ...expected });
export const denied = (seen?: string): Expected => ({ call: 'denied', ...(seen === undefined ? {} : { seen }) });
export const asked: Expected = { call: 'asked' };

/** A case in which the model calls one tool and then answers. */
export function calling(use: ToolUse, expected: Expected, rest: Rest = {}): HookCase {
  return { answers: [use, 'done'], expected, ...rest };
}

/** A case in which the model only answers. A hook of `Stop` may ask for further answers. */
export function answering(answers: readonly (string | ToolUse)[], expected: Expected, rest: Rest = {}): HookCase {
  return { answers, expected, ...rest };
}

export const bash = (command: string): ToolUse => ({ name: 'Bash', args: { command } });
export const read = (file_path: string): ToolUse => ({ name: 'Read', args: { file_path } });
export const write = (file_path: string, content = 'x'): ToolUse => ({ name: 'Write', args: { file_path, content } });
export const fetchUrl = (url: string): ToolUse => ({ name: 'WebFetch', args: { url, prompt: 'x' } });
