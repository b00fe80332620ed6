import type { JsonValue } from '../internal/json.js';
import type { HookDefinition, HookOrigin } from '../shell-hooks/hook/definition.js';
import type { SettingValue, SkillParameter } from '../skills/skill.js';

/** The format of a manifest: Keelson's own, or the format of another program. */
export type ManifestFormat = 'native' | 'gemini' | 'claude';

/** A hook in a manifest. */
export interface ManifestHook extends Omit<HookDefinition, 'event'>, Pick<HookOrigin, 'dialect' | 'dialectEvent'> {
  readonly event: string;
}

/** A setting in a manifest. */
export interface SettingDefinition {
  readonly name: string;
  readonly description: string;
  /**
   * The environment variable that the value is read from. The extension's programs get the value in the same variable.
   */
  readonly envVar?: string | undefined;
  /** If true, the value is redacted in logs, errors and status. Default false. */
  readonly sensitive?: boolean | undefined;
  /** If true, the extension stays inactive without a value. Default false. */
  readonly required?: boolean | undefined;
  /** Default: the type of `default`, else the type of the first value in `enum`, else `string`. */
  readonly type?: 'string' | 'number' | 'boolean' | undefined;
  readonly default?: SettingValue | undefined;
  readonly enum?: readonly SettingValue[] | undefined;
}

/** A skill in a manifest. */
export interface ManifestSkill {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly parameters?: readonly SkillParameter[] | undefined;
}

/** The content of a manifest, independent of its format. */
export interface ManifestContent {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** MCP servers by name, as written in the file. */
  readonly mcpServers: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;
  readonly hooks: readonly ManifestHook[];
  readonly settings: readonly SettingDefinition[];
  readonly skills: readonly ManifestSkill[];
  /** Directories whose subdirectories contain a SKILL.md, relative to the extension. */
  readonly skillFolders: readonly string[];
  /**
   * Files that each contain one skill, and directories of such files, relative to the extension. These are the commands
   * of Claude Code.
   */
  readonly commandPaths: readonly string[];
  /** Files whose text is added to the system instructions, relative to the extension. */
  readonly contextFiles: readonly string[];
  /** Names of tools that are hidden from the model while the extension is active. */
  readonly excludedTools: readonly string[];
  /**
   * Names of hooks with `onFailure: 'block'` that cannot be registered. If there are such hooks, the extension stays
   * inactive.
   */
  readonly unreadGuards?: readonly string[] | undefined;
}

/**
 * The location of an extension package after links are followed: the user's directory, or the workspace. If the
 * location is uncertain, the scope is `workspace`, which needs an approval.
 */
export type ExtensionPackageScope = 'user' | 'workspace';

/** A found extension package with a valid manifest. */
export interface ExtensionPackage extends ManifestContent {
  readonly scope: ExtensionPackageScope;
  readonly format: ManifestFormat;
  /** The absolute path of the extension's directory, with links resolved. */
  readonly root: string;
  /** The absolute path of the manifest file. */
  readonly source: string;
}
