import type { HookDialect } from '../hook/event.js';

/** Required arguments of the tools that each program documents, by tool name, as of November 2026. */
export const TOOL_FIELDS: Readonly<Partial<Record<HookDialect, Readonly<Record<string, readonly string[]>>>>> = {
  claude: {
    Bash: ['command'],
    Read: ['file_path'],
    Write: ['file_path', 'content'],
    Edit: ['file_path', 'old_string', 'new_string'],
    NotebookEdit: ['notebook_path', 'new_source'],
    Glob: ['pattern'],
    Grep: ['pattern'],
    WebFetch: ['url', 'prompt'],
    WebSearch: ['query'],
    Agent: ['prompt', 'description'],
  },
  codex: { Bash: ['command'], apply_patch: ['command'] },
  gemini: {
    run_shell_command: ['command'],
    read_file: ['file_path'],
    write_file: ['file_path', 'content'],
    replace: ['file_path', 'old_string', 'new_string'],
    list_directory: ['dir_path'],
    glob: ['pattern'],
    grep_search: ['pattern'],
    web_fetch: ['prompt'],
    google_web_search: ['query'],
  },
  cursor: { Shell: ['command'] },
  copilot: {
    bash: ['command'],
    view: ['path'],
    create: ['path', 'file_text'],
    edit: ['path', 'old_str', 'new_str'],
  },
};
