/** Who brings a skill along: the user, or the workspace, by where its folder lies with links followed. */
export type SkillScope = 'user' | 'workspace';

/** A value of a setting. */
export type SettingValue = string | number | boolean;

/** A parameter of a skill, `{{name}}` in its prompt. */
export interface SkillParameter {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly default?: SettingValue | undefined;
}

/** What a skill may be named: nothing that could pass for another line or another name in a list. */
export const SKILL_NAME = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}:]+$/u;

/** A skill as it is listed: what is known of it before it is used. */
export interface Skill {
  /** What it goes by without doubt: `extension:name`, or the bare name of a skill that belongs to no extension. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The text of a skill from a manifest. That of a SKILL.md is read when the skill is used. */
  readonly prompt?: string | undefined;
  readonly parameters: readonly SkillParameter[];
  /** The extension that brings it along. */
  readonly extension?: string | undefined;
  readonly scope: SkillScope;
  /** The file that it stands in. */
  readonly source: string;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** What it asks for. Nothing is granted by it. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Whether it is for the user alone (`disable-model-invocation`): the model is not offered it. */
  readonly userOnly?: boolean | undefined;
}

/** The text of a skill, and the folder that its files lie in. */
export interface SkillBody {
  readonly prompt: string;
  readonly folder?: string | undefined;
}

/** A skill, and how to get at it. */
export interface SkillEntry {
  readonly skill: Skill;
  /** Reads the text anew, if it may be used. Rejects with a SkillUnavailableError where it may not. */
  open(): Promise<SkillBody>;
}
