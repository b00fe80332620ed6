import type { JsonValue } from '../internal/json.js';
import type { HookDefinition, HookOrigin } from '../shell-hooks/hook/definition.js';
import type { SettingValue, SkillParameter } from '../skills/skill.js';

/** Whose manifest it is: our own, or one of another program that is read as it is. */
export type ManifestFormat = 'native' | 'gemini' | 'claude';

/** A hook as a manifest has it. */
export interface ManifestHook extends Omit<HookDefinition, 'event'>, Pick<HookOrigin, 'dialect' | 'dialectEvent'> {
  readonly event: string;
}

/** A setting as a manifest has it. */
export interface SettingDefinition {
  readonly name: string;
  readonly description: string;
  /** The environment variable that its value comes from, and that programs of the extension find it in. */
  readonly envVar?: string | undefined;
  /** Whether the value is withheld from whatever is logged. */
  readonly sensitive?: boolean | undefined;
  /** Whether the extension does nothing without a value. */
  readonly required?: boolean | undefined;
  /** Default: that of `default`, or else of the values in `enum`, or else `string`. */
  readonly type?: 'string' | 'number' | 'boolean' | undefined;
  readonly default?: SettingValue | undefined;
  readonly enum?: readonly SettingValue[] | undefined;
}

/** A skill as a manifest has it. */
export interface ManifestSkill {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly parameters?: readonly SkillParameter[] | undefined;
}

/** What a manifest says, whatever its format. */
export interface ManifestContent {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** By name, as they stand in the file. */
  readonly mcpServers: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;
  readonly hooks: readonly ManifestHook[];
  readonly settings: readonly SettingDefinition[];
  readonly skills: readonly ManifestSkill[];
  /** Folders that hold folders with a SKILL.md, relative to the extension. */
  readonly skillFolders: readonly string[];
  /** Files that are a skill each, and folders of such, relative to the extension: the commands of Claude Code. */
  readonly commandPaths: readonly string[];
  /** Files whose text joins the instructions, relative to the extension. */
  readonly contextFiles: readonly string[];
  /** Tools that are not offered while the extension is active. */
  readonly excludedTools: readonly string[];
}

/** In which of the two folders an extension package lies, with links followed; in doubt, in the workspace. */
export type ExtensionPackageScope = 'user' | 'workspace';

/** An extension package that was found, and whose manifest is valid. */
export interface ExtensionPackage extends ManifestContent {
  readonly scope: ExtensionPackageScope;
  readonly format: ManifestFormat;
  /** Its folder, absolute, without links. */
  readonly root: string;
  /** The file of its manifest. */
  readonly source: string;
}
