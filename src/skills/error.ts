import { KeelsonError } from '../errors.js';

/** Thrown if no skill has the name, or if several do. `candidates` lists the ids of possible skills. */
export class SkillUnknownError extends KeelsonError {
  readonly code = 'ERR_SKILL_UNKNOWN';
  readonly skill: string;
  readonly candidates: readonly string[];

  constructor(skill: string, candidates: readonly string[], isAmbiguous: boolean) {
    const names = candidates.join(', ');
    super(
      isAmbiguous
        ? `Several skills are named "${skill}": use one of the ids ${names}.`
        : `Unknown skill "${skill}". ${candidates.length === 0 ? 'No skills are loaded.' : `Known skills: ${names}.`}`,
    );
    this.skill = skill;
    this.candidates = candidates;
  }
}

/** Thrown if a skill is invoked with invalid parameters. `problems` lists every invalid parameter. */
export class SkillParametersError extends KeelsonError {
  readonly code = 'ERR_SKILL_PARAMETERS';
  readonly skill: string;
  readonly problems: readonly string[];

  constructor(skill: string, problems: readonly string[]) {
    super(`Invalid parameters for skill "${skill}": ${problems.join('; ')}.`);
    this.skill = skill;
    this.problems = problems;
  }
}

/** Thrown if a skill or one of its files is not approved or cannot be read. */
export class SkillUnavailableError extends KeelsonError {
  readonly code = 'ERR_SKILL_UNAVAILABLE';
  readonly skill: string;

  constructor(skill: string, problem: string, cause?: unknown) {
    super(`Skill "${skill}" is not available: ${problem}`, cause === undefined ? undefined : { cause });
    this.skill = skill;
  }
}
