/** Whose rules a hook follows: those of this library, or those of the program that its file was written for. */
export type HookDialect = 'native' | 'claude' | 'codex' | 'gemini';
